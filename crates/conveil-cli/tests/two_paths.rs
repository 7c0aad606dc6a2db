//! More than one path to a ledger, and names that belong to it.
#![cfg(unix)]

mod running;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use conveil::noise::Sampler;
use running::charged::{charges, init, place, rounds, specs};
use running::{command, directory, ended, text, write};

#[test]
fn a_hard_link_to_the_ledger_is_refused_by_every_verb() {
    let place = place("two-paths-link", "100");
    assert_eq!(ended(&place, &["release", "spec.toml", "-q"]).0, 0);
    std::fs::hard_link(place.join("ledger.db"), place.join("other.db")).unwrap();
    let other = text(&place.join("spec.toml")).replace("ledger.db", "other.db");
    write(&place.join("other.toml"), other);
    for line in [
        "release spec.toml",
        "release other.toml",
        "ledger show ledger.db",
        "ledger show other.db",
        "ledger verify other.db",
        "ledger export other.db",
        "ledger spend other.db --dataset limits-2026 --epsilon 1 --basis declared --like-budget",
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (code, stdout, stderr) = ended(&place, &words);
        assert_eq!((code, stdout.as_str()), (2, ""), "{line}: {stderr}");
        assert!(
            stderr.contains("can be reached by more than one path: it has 2 names (hard links)\n")
                && stderr
                    .contains("  instead: remove the other names, which `find / -xdev -samefile "),
            "{line}: {stderr}"
        );
    }
    std::fs::remove_file(place.join("other.db")).unwrap();
    assert_eq!(charges(&place).len(), 1);
    assert_eq!(ended(&place, &["release", "spec.toml", "-q"]).0, 0);
}

/// A release is killed at any moment, a second name appears at any moment, and both names are used in turn: no more cards
/// than the budget pays for, and a charge for each of them.
#[test]
fn two_names_and_a_kill_never_give_a_card_without_its_charge() {
    let runs = rounds(30, 2000);
    let mut moments = Sampler::new(0x2BA7, 0);
    // Moments between the start and this; it follows what is seen, so that a busy machine does not matter.
    let mut latest = Duration::from_millis(10);
    let (mut journals, mut given) = (0, 0);
    for _ in 0..runs {
        let place = place("two-paths-killed", "2");
        let other = text(&place.join("spec.toml")).replace("ledger.db", "other.db");
        write(&place.join("other.toml"), other);
        let mut late = command(&place, &["release", "spec.toml", "-q"]);
        late.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut late = late.spawn().unwrap();
        let moment = latest.mul_f64(moments.uniform());
        let first = moment.mul_f64(moments.uniform());
        std::thread::sleep(first);
        std::fs::hard_link(place.join("ledger.db"), place.join("other.db")).unwrap();
        std::thread::sleep(moment.saturating_sub(first));
        let _ = late.kill();
        let killed = late.wait_with_output().unwrap();
        journals += usize::from(place.join("ledger.db-journal").exists());
        let is_card = |stdout: &str| usize::from(stdout.contains("ledger: "));
        let mut cards = is_card(&String::from_utf8_lossy(&killed.stdout));
        latest = latest.mul_f64(if cards > 0 { 0.9 } else { 1.1 });
        for spec in ["other.toml", "spec.toml", "spec.toml", "other.toml"] {
            cards += is_card(&ended(&place, &["release", spec, "-q"]).1);
        }
        std::fs::remove_file(place.join("other.db")).unwrap();
        let charged = charges(&place).len();
        assert!(
            cards <= charged && charged <= 2,
            "{cards} cards, {charged} charges"
        );
        given += cards;
    }
    println!("{runs} kills between two names: {given} cards, {journals} journals left");
}

/// A link by name leads to the real file, whose journal lies beside it.
#[test]
fn a_symbolic_link_is_the_same_path() {
    let place = place("two-paths-symlink", "2");
    let far = directory("two-paths-symlink-far");
    std::os::unix::fs::symlink(place.join("ledger.db"), far.join("ledger.db")).unwrap();
    specs(&far, "ledger.db");
    for (folder, expected) in [(&place, 0), (&far, 0), (&place, 5), (&far, 5)] {
        let (code, _, stderr) = ended(folder, &["release", "spec.toml", "-q"]);
        assert_eq!(code, expected, "{stderr}");
    }
    assert_eq!(charges(&place).len(), 2);
}

/// Runs a script as root of a user namespace of its own, where it may mount; none where the system forbids that.
fn mounting(place: &Path, script: &str) -> Option<(Option<i32>, String)> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", script]);
        command.arg(env!("CARGO_BIN_EXE_conveil"));
        command.current_dir(place).stdin(Stdio::null()).output()
    };
    let allowed = unshare("mkdir -p try && mount -t tmpfs none try");
    if !allowed.is_ok_and(|output| output.status.success()) {
        println!("skipped: this system does not let a test mount anything");
        return None;
    }
    let output = unshare(script).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Some((output.status.code(), stderr))
}

#[test]
fn a_ledger_mounted_by_itself_is_refused() {
    let place = place("two-paths-mount", "2");
    let inside = place.join("in a container");
    std::fs::create_dir(&inside).unwrap();
    specs(&inside, "ledger.db");
    write(&inside.join("ledger.db"), "");
    for verb in ["release spec.toml", "ledger show ledger.db"] {
        let script = format!(
            "mount --bind ledger.db 'in a container/ledger.db' && cd 'in a container' && exec \"$0\" {verb}"
        );
        let Some((code, stderr)) = mounting(&place, &script) else {
            return;
        };
        assert_eq!(code, Some(2), "{stderr}");
        let said = format!(
            "{} can be reached by more than one path: it is mounted by itself",
            inside.join("ledger.db").display()
        );
        assert!(stderr.contains(&said), "{stderr}");
        assert!(
            stderr.contains("  instead: mount the folder that holds the ledger"),
            "{stderr}"
        );
    }
    assert!(charges(&place).is_empty());
    // The folder takes its journal along.
    let script = "mount --bind . 'in a container' && cd 'in a container' && exec \"$0\" release spec.toml -q";
    let (code, stderr) = mounting(&place, script).unwrap();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!(charges(&place).len(), 1);
}

/// The disk of the decision is full after the charge: decision and card are kept beside the ledger.
#[test]
fn a_decision_that_a_full_disk_refuses_is_kept() {
    let place = place("full-disk", "2");
    let script = "mount -t tmpfs -o size=4k none try && { cat /dev/zero > try/filler; true; } 2> noise \
        && \"$0\" release spec.toml -q --decision try/d.json > card.txt; code=$?; ls try > left; exit $code";
    let Some((code, stderr)) = mounting(&place, script) else {
        return;
    };
    assert_eq!(code, Some(7), "{stderr}");
    let kept = place.join("decision-of-charge-1.json");
    let said = format!(
        "the card is printed, and its decision is kept in {}, which only you may read",
        kept.display()
    );
    assert!(
        stderr.contains("the budget stays spent (charge 1 ") && stderr.contains(&said),
        "{stderr}"
    );
    assert!(text(&kept).contains("\"decision\""));
    assert!(text(&place.join("card.txt")).starts_with("RELEASE CARD"));
    assert_eq!(text(&place.join("left")), "filler\n");
    assert_eq!(charges(&place).len(), 1);
}

#[test]
fn a_document_never_takes_the_name_of_the_ledgers_own_files() {
    let place = place("own-files", "100");
    std::fs::create_dir(place.join("sub")).unwrap();
    std::os::unix::fs::symlink(&place, place.join("sub/back")).unwrap();
    std::os::unix::fs::symlink("ledger.db", place.join("name.db")).unwrap();
    for flag in ["--decision", "--report"] {
        for own in [
            "ledger.db-journal",
            "ledger.db-wal",
            "ledger.db-shm",
            "./sub/../ledger.db-journal",
            "sub/back/ledger.db-journal",
            "name.db-journal",
        ] {
            let (code, stdout, stderr) = ended(&place, &["release", "spec.toml", flag, own]);
            assert_eq!((code, stdout.as_str()), (2, ""), "{own}: {stderr}");
            assert!(
                stderr.contains("keeps beside it, and a document there would damage it"),
                "{stderr}"
            );
            assert!(!place.join(own).exists(), "{own}");
        }
        // What is there already is never overwritten.
        for input in ["ledger.db", "name.db", "spec.toml", "scalar-lp.json"] {
            let before = std::fs::read(place.join(input)).unwrap();
            let (code, stdout, stderr) = ended(&place, &["release", "spec.toml", flag, input]);
            assert_eq!((code, stdout.as_str()), (2, ""), "{input}: {stderr}");
            assert!(stderr.contains("overwrites nothing"), "{stderr}");
            assert_eq!(std::fs::read(place.join(input)).unwrap(), before);
        }
    }
    assert!(charges(&place).is_empty());
    // Without a database beside it the name means nothing.
    init(&place, "another.db", "1");
    let line = [
        "release",
        "spec.toml",
        "-q",
        "--decision",
        "free.db-journal",
    ];
    assert_eq!(ended(&place, &line).0, 0);
}
