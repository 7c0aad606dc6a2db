//! Bundles the page: `npm ci` with the lock file of `page/`, then esbuild, all of it in the build's own directory. Where there is
//! no npm, or it cannot fetch, the crate is built without a page and says so when it is asked for one.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the page is made of, beside `src/`.
const FILES: [&str; 5] = [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "index.html",
    "studio.css",
];

/// What is embedded.
const PARTS: [&str; 3] = ["index.html", "studio.css", "studio.js"];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let source = root.join("page");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo:rerun-if-changed=build.rs");
    for file in FILES.iter().chain(&["src"]) {
        println!("cargo:rerun-if-changed={}", source.join(file).display());
    }
    let why_not = match bundled(&source, &out.join("page")) {
        Ok(()) => String::new(),
        Err(why) => {
            println!("cargo:warning=the page of `conveil studio` is not built: {why}");
            for part in PARTS {
                let file = out.join("page").join(part);
                fs::create_dir_all(out.join("page"))?;
                fs::write(file, "")?;
            }
            // Tried again with the next build.
            println!("cargo:rerun-if-changed={}", out.join("never").display());
            why.to_string()
        }
    };
    fs::write(out.join("why_not.txt"), why_not)?;
    Ok(())
}

fn bundled(source: &Path, page: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(page)?;
    for file in FILES {
        let from = source.join(file);
        fs::copy(&from, page.join(file)).map_err(|why| format!("{file}: {why}"))?;
    }
    let target = page.join("src");
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    fs::create_dir_all(&target)?;
    for entry in fs::read_dir(source.join("src"))? {
        let entry = entry?;
        fs::copy(entry.path(), target.join(entry.file_name()))?;
    }
    npm(page, &["ci", "--no-audit", "--no-fund"])?;
    npm(page, &["run", "build", "--", "--outdir=."])?;
    match page.join("studio.js").exists() {
        true => Ok(()),
        false => Err("esbuild wrote no studio.js".into()),
    }
}

fn npm(folder: &Path, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let done = Command::new("npm")
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|why| format!("npm: {why}; install node and npm, and build again"))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let last = said.lines().next_back().unwrap_or_default().to_string();
    Err(format!("npm {} failed: {last}", arguments.join(" ")).into())
}
