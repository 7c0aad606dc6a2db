//! A card that nobody can receive: nothing is charged where that is seen in time, and afterwards the card is kept.
#![cfg(unix)]

mod running;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use conveil::noise::Sampler;
use running::charged::{NAME, charges, head, init, place, rounds};
use running::{command, directory, ended, text, write};

/// `conveil release spec.toml` with these further words of a shell's line: exit code, standard error.
fn shell(place: &Path, words: &str) -> (Option<i32>, String) {
    let line = format!("exec \"$0\" release spec.toml --quiet {words}");
    let binary = env!("CARGO_BIN_EXE_conveil");
    let mut shell = Command::new("sh");
    let output = shell
        .args(["-c", &line, binary])
        .current_dir(place)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// A release whose standard output is `stdout`.
fn releasing(place: &Path, words: &[&str], stdout: impl Into<Stdio>) -> Child {
    let mut all = vec!["release", "spec.toml", "--quiet"];
    all.extend(words);
    let mut command = command(place, &all);
    command.stdout(stdout).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn end(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), stderr)
}

/// The path that standard error says the card is kept in: private, and the card of the last charge.
fn kept(place: &Path, stderr: &str) -> PathBuf {
    let path = stderr.split_once("the card is kept in ").unwrap().1;
    let path = PathBuf::from(path.split_once(", which only you may read").unwrap().0);
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    let all = charges(place);
    assert_eq!(
        head(&text(&path)).as_deref(),
        all.last().unwrap()["head"].as_str(),
    );
    path
}

#[test]
fn an_output_that_leads_nowhere_charges_nothing() {
    let place = place("output-closed", "100");
    for (words, message) in [
        (
            ">&-",
            "error: standard output is closed, so the card would be lost",
        ),
        (">&- --json", "error: standard output is closed"),
        (
            "1<spec.toml",
            "error: standard output is open for reading only",
        ),
    ] {
        let (code, stderr) = shell(&place, words);
        assert_eq!(code, Some(2), "{words}: {stderr}");
        assert!(stderr.starts_with(message), "{words}: {stderr}");
        assert!(stderr.contains("nothing was charged"), "{stderr}");
        assert!(charges(&place).is_empty(), "{words}");
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let (code, stderr) = end(releasing(&place, &["--decision", "d.json"], writer));
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.starts_with("error: nobody reads standard output any more"),
        "{stderr}"
    );
    assert!(!place.join("d.json").exists());
    assert!(charges(&place).is_empty());
    // A card that is thrown away on purpose, a file, a file that is read too, a slow reader: all of them are outputs.
    for (count, words) in [
        "> /dev/null",
        "> card.txt",
        "1<> both.txt",
        "| (sleep 0.3; cat > slow.txt)",
    ]
    .into_iter()
    .enumerate()
    {
        let (code, stderr) = shell(&place, words);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{words}");
        assert_eq!(charges(&place).len(), count + 1, "{words}");
    }
    for file in ["card.txt", "both.txt", "slow.txt"] {
        assert!(head(&text(&place.join(file))).is_some(), "{file}");
    }
}

/// The pipe is full, so that the card waits; the reader leaves after the charge.
#[test]
fn a_reader_that_leaves_after_the_charge_costs_no_card() {
    let place = place("output-left", "100");
    let (reader, mut writer) = std::io::pipe().unwrap();
    let filler = {
        let mut writer = writer.try_clone().unwrap();
        std::thread::spawn(move || {
            // More than a pipe holds: the last bytes go in, or fail, when the reader is gone.
            let _ = writer.write_all(&[b'\n'; 1 << 20]);
        })
    };
    std::thread::sleep(Duration::from_millis(100));
    let child = releasing(&place, &["--json"], writer.try_clone().unwrap());
    let start = Instant::now();
    while charges(&place).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(reader);
    let (code, stderr) = end(child);
    filler.join().unwrap();
    let _ = writer.flush();
    assert_eq!(code, Some(7), "{stderr}");
    let said = format!(
        "error: the budget stays spent (charge 1 of dataset {NAME:?}), but: cannot write the card to standard output: Broken pipe"
    );
    assert!(stderr.starts_with(&said), "{stderr}");
    assert_eq!(kept(&place, &stderr), place.join("card-of-charge-1.json"));
    assert_eq!(charges(&place).len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_card_that_a_full_disk_refuses_is_kept() {
    let place = place("output-full", "100");
    let full = || File::options().write(true).open("/dev/full").unwrap();
    write(&place.join("card-of-charge-2.txt"), "mine");
    for (words, file) in [
        (&["--json"][..], "card-of-charge-1.json"),
        (&[][..], "card-of-charge-2-2.txt"),
        (&["--decision", "d.json"][..], "card-of-charge-3.txt"),
    ] {
        let (code, stderr) = end(releasing(&place, words, full()));
        assert_eq!(code, Some(7), "{stderr}");
        assert!(stderr.contains("No space left on device"), "{stderr}");
        assert_eq!(kept(&place, &stderr), place.join(file));
    }
    assert_eq!(text(&place.join("card-of-charge-2.txt")), "mine");
    assert!(text(&place.join("d.json")).contains("\"decision\""));
    // Without a ledger there is no charge to name.
    let spec = text(&place.join("spec.toml"));
    let bare = spec.split_once("\n[ledger]").unwrap().0;
    write(&place.join("bare.toml"), bare);
    let mut bare = command(&place, &["release", "bare.toml", "--no-ledger", "-q"]);
    let (code, stderr) = end(bare.stdout(full()).stderr(Stdio::piped()).spawn().unwrap());
    assert_eq!(code, Some(7), "{stderr}");
    assert!(stderr.contains("card-without-ledger.txt"), "{stderr}");
    let card = text(&place.join("card-without-ledger.txt"));
    assert!(card.starts_with("RELEASE CARD"), "{card}");
    // What charges nothing keeps nothing.
    let study = ["release", "spec.toml", "--not-private", "--seed", "1"];
    let mut study = command(&place, &study);
    let (code, _) = end(study.stdout(full()).stderr(Stdio::piped()).spawn().unwrap());
    assert_eq!(code, Some(6));
}

/// Readers that leave at any moment: a charge has its card in the pipe or in a file, and no charge means exit code 2.
#[test]
fn readers_that_leave_at_any_moment_cost_no_card() {
    let runs = rounds(30, 2000);
    let place = place("output-moments", "1e6");
    let mut moments = Sampler::new(0xC105ED, 0);
    // Moments between the start and this; it follows what is seen, so that a busy machine does not matter.
    let mut latest = Duration::from_millis(10);
    let (mut refused, mut lost, mut delivered) = (0, 0, 0);
    for _ in 0..runs {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let child = releasing(&place, &[], writer);
        std::thread::sleep(latest.mul_f64(moments.uniform()));
        // Whether the card is there already shows in the pipe, after the process has ended.
        let left = moments.uniform() < 0.5;
        let (code, stderr, card) = if left {
            drop(reader);
            let (code, stderr) = end(child);
            (code, stderr, None)
        } else {
            let (code, stderr) = end(child);
            let mut card = String::new();
            reader.read_to_string(&mut card).unwrap();
            (code, stderr, Some(card))
        };
        match code {
            Some(2) => {
                assert!(stderr.contains("nothing was charged"), "{stderr}");
                refused += 1;
                latest = latest.mul_f64(1.1);
            }
            Some(7) => {
                kept(&place, &stderr);
                lost += 1;
            }
            Some(0) => {
                if let Some(card) = card {
                    let last = charges(&place).pop().unwrap();
                    assert_eq!(head(&card).as_deref(), last["head"].as_str());
                } else {
                    latest = latest.mul_f64(0.9);
                }
                delivered += 1;
            }
            other => panic!("{other:?}: {stderr}"),
        }
    }
    println!(
        "{runs} readers: {refused} left before the charge, {lost} after it, {delivered} cards in the pipe"
    );
    assert_eq!(charges(&place).len(), lost + delivered);
    assert!(refused > 0 && delivered > 0);
}

/// A series stops at the first card that nobody takes, and leaves the budget of the others alone.
#[test]
fn a_series_whose_reader_leaves_charges_no_further_rows() {
    use running::grid::{LARGEST, spec};
    let place = directory("output-series").canonicalize().unwrap();
    write(
        &place.join("hours.csv"),
        "2,3,4\n300,290,410\n295,300,400\n305,310,395\n",
    );
    let private = "demand = \"hours.csv\"";
    let grid = spec("network = \"5_pjm\"", 1.0, private, LARGEST);
    let section = format!("[ledger]\nfile = \"ledger.db\"\ndataset = \"{NAME}\"\n");
    write(&place.join("spec.toml"), grid + &section);
    init(&place, "ledger.db", "100");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let (code, stderr) = end(releasing(&place, &[], full));
    assert_eq!(code, Some(7), "{stderr}");
    assert!(
        stderr.contains("row 1 of the series (nothing was released): the budget stays spent"),
        "{stderr}"
    );
    assert_eq!(charges(&place).len(), 1);
    kept(&place, &stderr);
    let (code, _, stderr) = ended(&place, &["release", "spec.toml", "--quiet"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(charges(&place).len(), 4);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let (code, stderr) = end(releasing(&place, &[], writer));
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("row 1 of the series"), "{stderr}");
    assert_eq!(charges(&place).len(), 4);
}
