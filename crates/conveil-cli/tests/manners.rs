//! How the command behaves among others: help, closed pipes, full disks, interruptions.

mod running;

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use running::{command, directory, ended, examples, text, write};

#[test]
fn help_names_every_verb_and_exit_code() {
    let place = examples();
    let (code, alone, stderr) = ended(&place, &[]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    for word in [
        "check",
        "solve",
        "compare",
        "explain",
        "frontier",
        "sensitivity",
        "audit",
    ] {
        assert!(alone.contains(&format!("\n  {word} ")), "{alone}");
        let (code, help, _) = ended(&place, &[word, "--help"]);
        assert_eq!(code, 0);
        let example = format!("Example:\n  conveil {word} examples/specs/");
        assert!(help.contains(&example), "{help}");
    }
    for line in [
        "\n  0  ", "\n  2  ", "\n  3  ", "\n  4  ", "\n  5  ", "\n  6  ", "\n  7  ",
    ] {
        assert!(alone.contains(line), "{alone}");
    }
    let (code, help, _) = ended(&place, &["--help"]);
    assert_eq!((code, help), (0, alone));
}

#[test]
fn the_examples_in_the_help_run() {
    let root = examples().join("../..");
    for verb in [
        "check",
        "solve",
        "compare",
        "explain",
        "frontier",
        "sensitivity",
        "audit",
    ] {
        let (_, help, _) = ended(&root, &[verb, "--help"]);
        let line = help.lines().find(|line| line.starts_with("  conveil "));
        let words: Vec<&str> = line
            .unwrap_or_default()
            .split_whitespace()
            .skip(1)
            .collect();
        let (code, _, stderr) = ended(&root, &words);
        assert_eq!(code, 0, "{words:?}: {stderr}");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let mut child = command(&examples(), &["check", "scalar-lp.toml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{e}"));
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn nobody_listening_on_standard_error_is_no_panic() {
    let binary = env!("CARGO_BIN_EXE_conveil");
    let status = std::process::Command::new("sh")
        .args(["-c", "exec \"$0\" check none.toml 2>&-", binary])
        .status()
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(status.code(), Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(full) = full else { return };
    let output = command(&examples(), &["check", "scalar-lp.toml"])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap_or_else(|e| panic!("{e}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    let start = "error: cannot write the report to standard output: ";
    assert!(stderr.starts_with(start), "{stderr}");
    assert_eq!(output.status.code(), Some(6));
}

/// A sampled sensitivity that would take days: an interruption ends it within moments, cleanly.
#[cfg(unix)]
#[test]
fn an_interruption_stops_the_work_with_its_own_exit_code() {
    let place = directory("interrupted");
    let spec = text(&examples().join("sampled-dispatch.toml"));
    assert!(spec.contains("gamma = 0.05"));
    let spec = spec.replacen("gamma = 0.05", "gamma = 1e-7", 1);
    write(&place.join("spec.toml"), spec);
    let problem = text(&examples().join("sampled-dispatch.json"));
    write(&place.join("sampled-dispatch.json"), problem);
    for verb in ["check", "solve", "explain", "frontier"] {
        let mut child = command(&place, &[verb, "spec.toml"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{e}"));
        // Long enough to be at work even on a busy machine.
        std::thread::sleep(Duration::from_secs(1));
        let interrupt = format!("kill -INT {}", child.id());
        let sent = std::process::Command::new("sh")
            .args(["-c", &interrupt])
            .status();
        assert!(sent.is_ok_and(|status| status.success()), "{verb}");
        let start = Instant::now();
        let status = loop {
            match child.try_wait().unwrap_or_else(|e| panic!("{e}")) {
                Some(status) => break status,
                None if start.elapsed() > Duration::from_secs(20) => {
                    let _ = child.kill();
                    panic!("{verb} did not stop");
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let mut stderr = String::new();
        if let Some(mut stream) = child.stderr.take() {
            let _ = stream.read_to_string(&mut stderr);
        }
        assert_eq!(stderr, "error: interrupted\n", "{verb}");
        assert_eq!(status.code(), Some(6), "{verb}");
    }
}

#[test]
fn values_outside_their_public_limits_are_told_to_the_curator() {
    let place = directory("outside");
    let spec = text(&examples().join("sampled-dispatch.toml"));
    let clipped = spec.replacen("value = 50.0", "value = 56.0", 1).replacen(
        "at = [{ in = \"b\", row = 1 }]",
        "at = [{ in = \"b\", row = 1 }]\nbounds = [0.0, 59.0]",
        1,
    );
    write(&place.join("spec.toml"), clipped);
    let problem = text(&examples().join("sampled-dispatch.json"));
    write(&place.join("sampled-dispatch.json"), problem);
    let (code, _, stderr) = ended(&place, &["solve", "spec.toml", "--quiet"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(
        stderr,
        "warning: the value of `load west` lies outside the stated universe and counts as 54, that of its nearest member\n\
         warning: the value of `load east` lies outside its public bounds and is clipped to [0, 59]\n"
    );
    // Neither is known to `check`.
    let (code, _, stderr) = ended(&place, &["check", "spec.toml"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
}
