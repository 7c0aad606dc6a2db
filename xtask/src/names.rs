//! The `names` check: a tracked file says nothing about the machine it was written on.

use std::fs;
use std::path::Path;
use std::process::Command;

/// First folders of absolute paths that belong to one machine. (Bare, so that this file passes.)
const MACHINE_FOLDERS: [&str; 4] = ["home", "root", "work", "Users"];

/// Hosts of package registries, in front of and behind the last dot.
const REGISTRIES: [(&str, &str); 4] = [
    ("crates", "io"),
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("npmjs", "org"),
];

/// The line that cargo writes into a lock file for each package of the standard registry.
const LOCK_SOURCE: &str = "source = \"registry+https://github.com/rust-lang/crates";

/// Reads every tracked text file below `root`; the error lists what was found, a line each.
pub fn check(root: &Path) -> Result<(), String> {
    let mut found = Vec::new();
    for path in tracked_files(root)? {
        // Binary files, links to folders and files deleted but still tracked have no text.
        let Ok(text) = fs::read_to_string(root.join(&path)) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            if let Some(name) = machine_name(line) {
                found.push(format!("\n  {path}:{}: {name}", number + 1));
            }
        }
    }
    if found.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "machine paths or registry hosts:{}",
            found.concat()
        ))
    }
}

fn tracked_files(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot start git: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("git ls-files: {}", message.trim()));
    }
    let list = String::from_utf8_lossy(&output.stdout);
    Ok(list.split_terminator('\0').map(String::from).collect())
}

/// The first machine path or registry host in a line.
fn machine_name(line: &str) -> Option<String> {
    let folders = MACHINE_FOLDERS.iter().map(|folder| format!("/{folder}/"));
    let paths = folders.filter(|path| starts_in(line, path));
    let hosts = REGISTRIES.iter().map(|(name, end)| format!("{name}.{end}"));
    let hosts = hosts.filter(|host| line.contains(host) && !line.starts_with(LOCK_SOURCE));
    paths.chain(hosts).next()
}

/// Whether an absolute path starts with `path` somewhere in the line: what stands before it must
/// not continue a longer path, as in `src` + `path`.
fn starts_in(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~/}".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path below a machine folder, written so that this file passes its own check.
    fn machine_path(folder: &str) -> String {
        format!("/{folder}/someone/file")
    }

    #[test]
    fn machine_paths_are_found_wherever_they_start() {
        for folder in MACHINE_FOLDERS {
            let path = machine_path(folder);
            for line in [
                path.clone(),
                format!("see `{path}`"),
                format!("a=\"{path}\""),
            ] {
                assert_eq!(machine_name(&line), Some(format!("/{folder}/")), "{line}");
            }
        }
    }

    #[test]
    fn relative_paths_and_addresses_pass() {
        let path = machine_path("work");
        for start in ["src", "..", "https://example.org", "~"] {
            assert_eq!(machine_name(&format!("{start}{path}")), None);
        }
        assert_eq!(machine_name("a homework / work / root of it"), None);
    }

    #[test]
    fn registry_hosts_are_found_but_in_their_two_places() {
        let host = REGISTRIES.map(|(name, end)| format!("{name}.{end}"));
        for host in &host {
            assert_eq!(
                machine_name(&format!("https://index.{host}/x")).as_ref(),
                Some(host)
            );
        }
        assert_eq!(machine_name("[patch.crates-io]"), None);
        let lock = format!(
            "source = \"registry+https://github.com/rust-lang/{}-index\"",
            host[0]
        );
        assert_eq!(machine_name(&lock), None);
    }
}
