//! A crate outside the workspace that depends on Conveil: `examples/outside` builds as it stands, and no BLAS symbol leaves
//! it.
//!
//! By default its source is linked as a C library against what the workspace has built. CONVEIL_FULL=1 builds the crate
//! from its own manifest, which compiles every dependency once more.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// What `examples/outside` exports.
const EXPORTED: &str = "outside_largest_eigenvalue";

/// Another BLAS, whose routines end the process.
const FOREIGN_BLAS: &str = r#"
#include <stdlib.h>
void dgemm_(void) { abort(); }
void dgemv_(void) { abort(); }
void dgesdd_(void) { abort(); }
void dpotrf_(void) { abort(); }
void dpotrs_(void) { abort(); }
void dsyevr_(void) { abort(); }
void dsymv_(void) { abort(); }
void dsyr2k_(void) { abort(); }
void dsyrk_(void) { abort(); }
"#;

/// A C program that says whether another BLAS is there, and asks for the largest eigenvalue of (2 1; 1 2), which is 3.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
double outside_largest_eigenvalue(double a, double b, double c);
int main(void) {
    const char *other = dlsym(RTLD_DEFAULT, "dsyevr_") ? "foreign" : "none";
    printf("%s %.6f\n", other, outside_largest_eigenvalue(2.0, 1.0, 2.0));
    return 0;
}
"#;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A new empty directory.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    path
}

/// Its standard output; it must succeed.
fn output(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?}: {status}\n{stderr}");
    String::from_utf8(stdout).unwrap()
}

fn cargo(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(words).arg("--offline").current_dir(folder);
    command
}

/// `examples/outside` in a directory of its own, with the versions that the workspace has locked: they are on this machine.
fn copied(name: &str) -> PathBuf {
    let (from, to) = (workspace().join("examples/outside"), directory(name));
    let crates = fs::canonicalize(workspace().join("crates")).unwrap();
    let manifest = fs::read_to_string(from.join("Cargo.toml")).unwrap();
    let manifest = manifest.replace("../../crates", &crates.display().to_string());
    fs::write(to.join("Cargo.toml"), manifest).unwrap();
    fs::copy(workspace().join("Cargo.lock"), to.join("Cargo.lock")).unwrap();
    fs::create_dir(to.join("src")).unwrap();
    fs::copy(from.join("src/lib.rs"), to.join("src/lib.rs")).unwrap();
    to
}

/// The shared library among what cargo says it built.
fn built_library(build: &mut Command) -> PathBuf {
    let messages = output(build.arg("--message-format=json"));
    let library = messages
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|message| {
            message["target"]["name"]
                .as_str()
                .is_some_and(|name| name.starts_with("outside"))
        })
        .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default())
        .find_map(|file| {
            file.as_str()
                .filter(|file| file.ends_with(".so"))
                .map(PathBuf::from)
        });
    library.expect("cargo names a shared library")
}

/// No routine is in the dynamic symbol table, and a BLAS that was loaded before serves no call of ours.
fn keeps_its_blas_inside(library: &Path, scratch: &Path) {
    let symbols = output(
        Command::new("nm")
            .arg("-D")
            .arg("--defined-only")
            .arg(library),
    );
    let names: Vec<&str> = symbols
        .lines()
        .filter_map(|line| line.split(' ').next_back())
        .collect();
    assert_eq!(names, [EXPORTED]);

    let [program, blas] = ["program", "libforeign.so"].map(|name| scratch.join(name));
    fs::write(scratch.join("program.c"), PROGRAM).unwrap();
    fs::write(scratch.join("foreign.c"), FOREIGN_BLAS).unwrap();
    let compile = |target: &Path, source: &str| {
        let mut command = Command::new("cc");
        command.arg(scratch.join(source)).arg("-o").arg(target);
        command
    };
    output(compile(&blas, "foreign.c").args(["-shared", "-fPIC"]));
    output(compile(&program, "program.c").arg(library).arg("-ldl"));

    let run = || Command::new(&program);
    assert_eq!(output(&mut run()), "none 3.000000\n");
    assert_eq!(output(run().env("LD_PRELOAD", &blas)), "foreign 3.000000\n");
}

#[test]
fn a_foreign_crate_depends_on_the_empty_sources_of_the_registry() {
    let folder = copied("outside-resolved");
    // A line for each package: name, version, its folder unless it is from the registry, and its features.
    let words = ["tree", "--prefix=none", "--format={p} [{f}]"];
    let tree = output(&mut cargo(&folder, &words));
    for package in ["blas-src v0.11.1 []", "lapack-src v0.11.0 []"] {
        assert!(tree.lines().any(|line| line == package), "{tree}");
    }
}

#[test]
fn a_c_library_keeps_its_blas_inside() {
    // As the tests were built, so that nothing builds twice.
    let words = ["build", "--workspace", "--example", "outside_library"];
    let library = built_library(&mut cargo(&workspace(), &words));
    keeps_its_blas_inside(&library, &directory("outside-library"));
}

#[test]
fn a_foreign_crate_builds_and_solves_a_semidefinite_program() {
    if std::env::var_os("CONVEIL_FULL").is_none() {
        return;
    }
    let folder = copied("outside-built");
    let library = built_library(&mut cargo(&folder, &["build"]));
    keeps_its_blas_inside(&library, &folder);
}
