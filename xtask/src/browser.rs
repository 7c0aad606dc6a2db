//! Reports, cards and the page of the studio in a real browser: Chromium, driven by node, with everything below target/.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::python::run;

/// The tests, and what they need from npm.
const TESTS: &str = "studio/tests";

/// The page, whose types are checked here; the build only strips them.
const PAGE: &str = "crates/conveil-studio/page";

/// npm's Chromium, with its own list: it is fetched where no other browser is found.
const CHROMIUM_OF_NPM: &str = "studio/tests/chromium";

/// The environment variable that names the browser.
const VARIABLE: &str = "CONVEIL_CHROMIUM";

/// What Chromium is called on various systems.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Runs the tests.
pub fn test(root: &Path) -> Result<(), String> {
    let stand = Stand::prepared(root)?;
    let page = copied(root, PAGE, &stand.folder.join("page"))?;
    installed(&page)?;
    run(npm(&page)?.args(["run", "--silent", "check"]))?;
    let tests = names_in(&stand.tests)?;
    let tests = tests.iter().filter(|name| name.ends_with(".test.mjs"));
    run(stand.node()?.arg("--test").args(tests))
}

/// Measures slider moves.
pub fn measure(root: &Path) -> Result<(), String> {
    let stand = Stand::prepared(root)?;
    let example = [
        "build",
        "--package",
        "conveil-studio",
        "--example",
        "bare_solve",
    ];
    run(cargo().args(example).current_dir(root))?;
    let program = format!("bare_solve{}", env::consts::EXE_SUFFIX);
    let bare = target(root).join("debug").join("examples").join(program);
    run(stand
        .node()?
        .env("CONVEIL_BARE_SOLVE", bare)
        .arg("measure.mjs"))
}

/// What the tests stand on.
struct Stand {
    root: PathBuf,
    /// Where everything is put.
    folder: PathBuf,
    tests: PathBuf,
    binary: PathBuf,
    chromium: PathBuf,
}

impl Stand {
    fn prepared(root: &Path) -> Result<Self, String> {
        let target = target(root);
        let folder = target.join("browser");
        let build = ["build", "--package", "conveil-cli", "--bin", "conveil"];
        run(cargo().args(build).current_dir(root))?;
        let tests = copied(root, TESTS, &folder.join("tests"))?;
        installed(&tests)?;
        let program = format!("conveil{}", env::consts::EXE_SUFFIX);
        Ok(Stand {
            root: root.into(),
            chromium: chromium(root, &folder)?,
            binary: target.join("debug").join(program),
            tests,
            folder,
        })
    }

    /// node, with what the tests ask of the environment.
    fn node(&self) -> Result<Command, String> {
        let mut command = Command::new(found("node")?);
        command
            .current_dir(&self.tests)
            .env("CONVEIL_BINARY", &self.binary)
            .env("CONVEIL_WORKSPACE", &self.root)
            .env("CONVEIL_SCREENSHOTS", self.folder.join("screenshots"))
            .env(VARIABLE, &self.chromium);
        Ok(command)
    }
}

/// The cargo that runs this program, when there is one.
fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Where cargo builds.
fn target(root: &Path) -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root.join(folder),
        None => root.join("target"),
    }
}

/// Copies a folder, but no package of npm, which finds packages beside the files that ask for them: none is put into the sources.
fn copied(root: &Path, from: &str, to: &Path) -> Result<PathBuf, String> {
    let why = |error: std::io::Error| format!("{from}: {error}");
    fs::create_dir_all(to).map_err(why)?;
    // What was removed from the sources is not run any more.
    for name in names_in(to)? {
        let old = to.join(&name);
        match name.as_str() {
            "node_modules" | INSTALLED => {}
            _ if old.is_dir() => fs::remove_dir_all(old).map_err(why)?,
            _ => fs::remove_file(old).map_err(why)?,
        }
    }
    copy_into(&root.join(from), to).map_err(why)?;
    Ok(to.into())
}

fn copy_into(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, to) = (entry.as_ref().map(fs::DirEntry::path), &to);
        let from = entry.map_err(|why| std::io::Error::new(why.kind(), why.to_string()))?;
        match from.file_name() {
            Some(name) if name == "node_modules" => {}
            Some(name) if from.is_dir() => copy_into(&from, &to.join(name))?,
            Some(name) => drop(fs::copy(&from, to.join(name))?),
            None => {}
        }
    }
    Ok(())
}

fn names_in(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    Ok(names)
}

/// Holds the list that the packages were installed for.
const INSTALLED: &str = "installed.txt";

/// `npm ci`, once for each state of the list.
fn installed(folder: &Path) -> Result<(), String> {
    let list = folder.join("package-lock.json");
    let wanted = fs::read_to_string(&list).map_err(|why| format!("{}: {why}", list.display()))?;
    let done = folder.join(INSTALLED);
    if fs::read_to_string(&done).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    run(npm(folder)?.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    fs::write(done, wanted).map_err(|why| why.to_string())
}

fn npm(folder: &Path) -> Result<Command, String> {
    let name = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut command = Command::new(found(name)?);
    command.current_dir(folder);
    Ok(command)
}

/// A program of node.
fn found(name: &str) -> Result<PathBuf, String> {
    let paths = env::var_os("PATH").unwrap_or_default();
    on_path(name, &paths).ok_or_else(|| {
        format!("there is no {name}\n  help: install node 20 or later with npm: on Debian, nodejs and npm")
    })
}

fn on_path(name: &str, paths: &OsStr) -> Option<PathBuf> {
    env::split_paths(paths)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}

/// The browser: as the environment says, or the system's, or Debian's, or npm's.
fn chromium(root: &Path, folder: &Path) -> Result<PathBuf, String> {
    let paths = env::var_os("PATH").unwrap_or_default();
    if let Some(stated) = env::var_os(VARIABLE).map(PathBuf::from) {
        return match answers(&stated) {
            true => Ok(stated),
            false => Err(format!(
                "{VARIABLE} names {}, which is no browser that starts",
                stated.display()
            )),
        };
    }
    if let Some(found) = on_system(&paths) {
        return Ok(found);
    }
    let of_debian = from_debian(&paths).and_then(|()| {
        on_system(&paths).ok_or_else(|| "apt-get has installed no browser that starts".into())
    });
    let debian = match of_debian {
        Ok(found) => return Ok(found),
        Err(why) => why,
    };
    from_npm(root, folder).map_err(|npm| {
        format!(
            "there is no browser\n  Debian: {debian}\n  npm: {npm}\n  \
             help: install chromium or google-chrome, or name one in {VARIABLE}"
        )
    })
}

fn on_system(paths: &OsStr) -> Option<PathBuf> {
    let mut found = NAMES.iter().filter_map(|name| on_path(name, paths));
    found.find(|program| answers(program))
}

/// Whether the browser starts: some systems have a name that only says what to install.
fn answers(program: &Path) -> bool {
    let said = Command::new(program).arg("--version").output();
    said.is_ok_and(|said: Output| said.status.success())
}

fn from_debian(paths: &OsStr) -> Result<(), String> {
    let apt = on_path("apt-get", paths).ok_or("there is no apt-get")?;
    let id = Command::new("id").arg("-u").output();
    if !id.is_ok_and(|said| said.stdout.trim_ascii() == b"0") {
        return Err("apt-get may be run by root only".into());
    }
    println!("xtask: installing Debian's chromium");
    let apt = |words: &[&str]| {
        let mut command = Command::new(&apt);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        run(command
            .args(["-qq", "-o", "DPkg::Lock::Timeout=300"])
            .args(words))
    };
    apt(&["update"])?;
    apt(&["install", "-y", "--no-install-recommends", "chromium"])
}

/// Unpacks npm's Chromium and asks where it is.
fn from_npm(root: &Path, folder: &Path) -> Result<PathBuf, String> {
    println!("xtask: installing npm's chromium");
    let place = copied(root, CHROMIUM_OF_NPM, &folder.join("chromium"))?;
    installed(&place)?;
    let ask = "import('@sparticuz/chromium').then((c) => c.default.executablePath()).then((p) => process.stdout.write(p))";
    let said = Command::new(found("node")?)
        .args(["-e", ask])
        .env("TMPDIR", &place)
        .current_dir(&place)
        .output()
        .map_err(|why| why.to_string())?;
    let program = PathBuf::from(String::from_utf8_lossy(&said.stdout).as_ref());
    match answers(&program) {
        true => Ok(program),
        false => Err("it does not start here: libraries of the system are missing".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty folder below the one for tests.
    fn empty(name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("conveil-xtask-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn what_the_stage_copies_is_there() {
        let root = crate::workspace_root();
        for list in [TESTS, PAGE, CHROMIUM_OF_NPM] {
            let list = root.join(list).join("package-lock.json");
            assert!(list.is_file(), "{}", list.display());
        }
        let tests = names_in(&root.join(TESTS)).unwrap();
        assert!(tests.iter().filter(|n| n.ends_with(".test.mjs")).count() >= 3);
        assert!(tests.iter().any(|name| name == "measure.mjs"));
    }

    #[test]
    fn a_copy_leaves_packages_out_and_forgets_what_was_removed() {
        let folder = empty("copy");
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::create_dir_all(from.join("node_modules")).unwrap();
        fs::create_dir_all(to.join("node_modules")).unwrap();
        fs::write(from.join("node_modules/of-the-sources"), "").unwrap();
        fs::write(to.join("node_modules/installed"), "").unwrap();
        fs::write(to.join("removed.test.mjs"), "").unwrap();
        fs::write(from.join("kept.test.mjs"), "").unwrap();
        copied(&folder, "from", &to).unwrap();
        assert_eq!(names_in(&to).unwrap(), ["kept.test.mjs", "node_modules"]);
        assert_eq!(names_in(&to.join("node_modules")).unwrap(), ["installed"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_browser_that_does_not_start_is_none() {
        let folder = empty("path");
        fs::write(folder.join("chromium"), "no program").unwrap();
        assert!(on_path("chromium", folder.as_os_str()).is_some());
        assert_eq!(on_system(folder.as_os_str()), None);
        assert_eq!(on_path("google-chrome", folder.as_os_str()), None);
        fs::remove_dir_all(folder).unwrap();
    }
}
