//! Processes that are told to end, or killed: nothing is charged without need, nothing empty is left, and every reader can
//! read what remains.
#![cfg(unix)]

mod running;

use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use conveil::noise::Sampler;
use running::charged::{charges, head, place, rounds};
use running::{command, ended, text, write};
use rusqlite::Connection;

fn releasing(place: &Path, decision: &str) -> Child {
    let words = ["release", "spec.toml", "--quiet", "--decision", decision];
    let mut command = command(place, &words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn send(signal: &str, child: &Child) {
    let line = format!("kill -{signal} {}", child.id());
    let _ = Command::new("sh").args(["-c", &line]).status();
}

/// Exit code (none after a signal that was not handled), standard output, standard error.
fn end(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), stdout, stderr)
}

/// Waits until something is true.
fn until(what: &str, is_true: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A ledger that is locked, so that a release waits just before its charge.
fn locked(place: &Path) -> Connection {
    let holder = Connection::open(place.join("ledger.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    holder
}

#[test]
fn every_polite_signal_ends_a_release_before_its_charge() {
    let place = place("signals", "100");
    for signal in ["INT", "TERM", "HUP"] {
        let holder = locked(&place);
        let child = releasing(&place, "d.json");
        // The file of the decision is made just before the charge.
        until("no file for the decision", || place.join("d.json").exists());
        send(signal, &child);
        let (code, stdout, stderr) = end(child);
        assert_eq!((code, stdout.as_str()), (Some(6), ""), "{signal}: {stderr}");
        assert_eq!(
            stderr, "error: interrupted; nothing was charged\n",
            "{signal}"
        );
        assert!(!place.join("d.json").exists(), "{signal}");
        holder.execute_batch("ROLLBACK").unwrap();
        drop(holder);
        assert!(charges(&place).is_empty(), "{signal}");
    }
}

/// A reader holds up the commit, which waits without looking at signals; the second one does not wait for it.
#[test]
fn a_second_signal_ends_a_release_at_once_and_leaves_no_empty_file() {
    let place = place("signals-twice", "100");
    let reader = Connection::open(place.join("ledger.db")).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM budgets")
        .unwrap();
    let child = releasing(&place, "d.json");
    let journal = place.join("ledger.db-journal");
    until("no commit", || {
        std::fs::metadata(&journal).is_ok_and(|file| file.len() > 0)
    });
    assert!(place.join("d.json").exists());
    send("TERM", &child);
    std::thread::sleep(Duration::from_millis(200));
    send("TERM", &child);
    let (code, stdout, stderr) = end(child);
    assert_eq!((code, stdout.as_str()), (Some(6), ""), "{stderr}");
    assert!(!place.join("d.json").exists());
    reader.execute_batch("ROLLBACK").unwrap();
    drop(reader);
    assert!(charges(&place).is_empty());
}

/// `nohup` is how a user asks for this.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
    let place = place("signals-ignored", "100");
    let holder = locked(&place);
    let line = "trap '' HUP; exec \"$0\" release spec.toml --quiet --decision d.json";
    let mut shell = Command::new("sh");
    shell.args(["-c", line, env!("CARGO_BIN_EXE_conveil")]);
    shell.current_dir(&place).stdin(Stdio::null());
    let child = shell
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("no file for the decision", || place.join("d.json").exists());
    send("HUP", &child);
    std::thread::sleep(Duration::from_millis(200));
    holder.execute_batch("ROLLBACK").unwrap();
    let (code, stdout, stderr) = end(child);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(head(&stdout).is_some(), "{stdout}");
    assert_eq!(charges(&place).len(), 1);
}

/// A second path that appears while a release waits for the lock is seen under the lock.
#[test]
fn a_hard_link_made_before_the_lock_is_refused_under_it() {
    let place = place("link-late", "100");
    let holder = locked(&place);
    let child = releasing(&place, "d.json");
    until("no file for the decision", || place.join("d.json").exists());
    std::fs::hard_link(place.join("ledger.db"), place.join("late.db")).unwrap();
    holder.execute_batch("ROLLBACK").unwrap();
    let (code, stdout, stderr) = end(child);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert!(
        stderr.contains("can be reached by more than one path"),
        "{stderr}"
    );
    assert!(!place.join("d.json").exists());
    std::fs::remove_file(place.join("late.db")).unwrap();
    assert!(charges(&place).is_empty());
}

/// The file and the journal of a process that died after half of a charge was in the file.
fn unfinished(place: &Path) {
    let files = ["ledger.db", "ledger.db-journal"].map(|name| place.join(name));
    let writer = Connection::open(&files[0]).unwrap();
    writer
        .execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE")
        .unwrap();
    let columns: String = writer
        .query_row(
            "SELECT group_concat(name, ', ') FROM pragma_table_info('budgets') WHERE name <> 'dataset'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    for number in 0..1000 {
        writer
            .execute_batch(&format!(
                "INSERT INTO budgets (dataset, {columns}) SELECT '{number}', {columns} FROM budgets LIMIT 1"
            ))
            .unwrap();
    }
    let left = files.each_ref().map(|file| std::fs::read(file).unwrap());
    writer.execute_batch("ROLLBACK").unwrap();
    drop(writer);
    for (file, bytes) in files.iter().zip(&left) {
        write(file, bytes);
    }
}

#[test]
fn readers_undo_what_a_dead_process_left() {
    let place = place("unfinished", "100");
    assert_eq!(ended(&place, &["release", "spec.toml", "--quiet"]).0, 0);
    for verb in ["show", "verify", "export"] {
        unfinished(&place);
        let (code, stdout, stderr) = ended(&place, &["ledger", verb, "ledger.db"]);
        assert_eq!((code, stderr.as_str()), (0, ""), "{verb}");
        assert!(stdout.contains("limits-2026"), "{stdout}");
        assert!(!place.join("ledger.db-journal").exists(), "{verb}");
        assert_eq!(charges(&place).len(), 1);
    }
}

/// Mode bits do not bind root, so root asks another user to try.
#[test]
fn who_may_not_undo_it_is_told_what_happened() {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let made = place("unfinished-read-only", "100");
    unfinished(&made);
    // A folder that another user can reach.
    let place = std::env::temp_dir().join(format!("conveil-unfinished-{}", std::process::id()));
    std::fs::create_dir(&place).unwrap();
    for file in ["ledger.db", "ledger.db-journal"] {
        std::fs::copy(made.join(file), place.join(file)).unwrap();
        set_permissions(place.join(file), Permissions::from_mode(0o444)).unwrap();
    }
    let binary = place.join("conveil");
    std::fs::copy(env!("CARGO_BIN_EXE_conveil"), &binary).unwrap();
    set_permissions(&place, Permissions::from_mode(0o555)).unwrap();
    let mut said = Vec::new();
    for verb in ["show", "verify", "export"] {
        let mut other = Command::new(&binary);
        other
            .args(["ledger", verb, "ledger.db"])
            .current_dir(&place);
        if metadata(&place).unwrap().uid() == 0 {
            const NOBODY: u32 = 65_534;
            other.uid(NOBODY).gid(NOBODY);
        }
        // Another test's process, forked while the copy was written, may hold it for a moment.
        let output = loop {
            match other.output() {
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                done => break done.unwrap(),
            }
        };
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        said.push((output.status.code(), stderr));
    }
    set_permissions(&place, Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_dir_all(&place).unwrap();
    for (code, stderr) in said {
        assert_eq!(code, Some(2), "{stderr}");
        assert!(
            stderr.starts_with("error: a process ended while it wrote to "),
            "{stderr}"
        );
        assert!(stderr.contains("run `conveil ledger verify "), "{stderr}");
    }
}

/// Ended at any moment by any signal: a card has its charge, readers read, and after a polite signal the decision is whole
/// or not there.
#[test]
fn releases_ended_at_any_moment_leave_a_ledger_that_all_can_read() {
    let runs = rounds(40, 2000);
    let budget = runs / 2;
    let place = place("ended", &budget.to_string());
    let mut moments = Sampler::new(0x5163A1, 0);
    // Moments between the start and this; it follows what is seen, so that a busy machine does not matter.
    let mut latest = Duration::from_millis(10);
    let (mut cards, mut journals, mut before) = (0, 0, 0);
    for round in 0..runs {
        let signal = ["INT", "TERM", "HUP", "KILL"][round % 4];
        let decision = format!("{round}.json");
        let child = releasing(&place, &decision);
        std::thread::sleep(latest.mul_f64(moments.uniform()));
        send(signal, &child);
        let (code, stdout, stderr) = end(child);
        journals += usize::from(place.join("ledger.db-journal").exists());
        let all = charges(&place);
        let (new, whole) = (all.len() - before, head(&stdout));
        before = all.len();
        assert!(new <= 1 && all.len() <= budget, "{new} of {}", all.len());
        let path = place.join(&decision);
        if let Some(head) = &whole {
            assert_eq!(all.last().unwrap()["head"].as_str(), Some(head.as_str()));
            assert_eq!(new, 1);
            cards += 1;
        }
        // A signal that comes before the process watches for signals ends it at once.
        match code {
            Some(0) => assert!(whole.is_some()),
            Some(5) => assert_eq!((all.len(), new), (budget, 0), "{stderr}"),
            Some(6) => {
                assert!(stderr.contains("interrupted"), "{stderr}");
                for (is_so, words) in [
                    (new == 1, "the budget stays spent"),
                    (new == 0, "nothing was charged"),
                ] {
                    assert_eq!(is_so, stderr.contains(words), "{stderr}");
                }
            }
            None => {}
            other => panic!("{other:?}: {stderr}"),
        }
        if signal != "KILL" && path.exists() {
            assert!(
                text(&path).ends_with("}\n"),
                "{signal} left half of {decision}"
            );
        }
        let step = if code == Some(0) || code == Some(5) {
            0.9
        } else {
            1.1
        };
        latest = latest.mul_f64(step);
    }
    println!(
        "{runs} signals: {cards} cards, {before} charges of {budget}, {journals} journals left"
    );
    assert!(cards > 0 && cards < runs);
}
