//! `conveil release` through the real binary: no card without a durable charge, whatever happens; nothing on standard
//! output but the card; and the answers of whole runs keep the claim.

mod running;

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use conveil::noise::Sampler;
use conveil_release::blackbox;
use conveil_release::ledger::{Account, Budget, Charges, Head, Ledger, Neighbourhood};
use conveil_workbench::{Silent, Workbench};
use running::{command, directory, ended, examples, text, write};
use serde_json::Value;

const NAME: &str = "limits-2026";

/// The scalar example with this private limit and a ledger, in a directory of its own.
fn place(name: &str, limit: &str) -> PathBuf {
    let place = directory(name);
    spec(&place, "spec.toml", limit);
    place
}

fn spec(place: &Path, file: &str, limit: &str) {
    let example = text(&examples().join("scalar-lp.toml"));
    let value = "value = 100.0";
    assert!(example.contains(value));
    let ledger = format!("\n[ledger]\nfile = \"ledger.db\"\ndataset = \"{NAME}\"\n");
    let own = example.replace(value, &format!("value = {limit}")) + &ledger;
    write(&place.join(file), own);
    let problem = text(&examples().join("scalar-lp.json"));
    write(&place.join("scalar-lp.json"), problem);
}

/// What the releases of these specs are about.
fn neighbourhood(place: &Path) -> Neighbourhood {
    let bench = Workbench::open(&place.join("spec.toml")).unwrap();
    Neighbourhood::of(&bench.plan(&Silent).unwrap()).unwrap()
}

fn ledger(place: &Path, epsilon: f64) -> Ledger {
    let budget = Budget::new(epsilon, 0.0, &neighbourhood(place)).unwrap();
    Ledger::init(place.join("ledger.db"), NAME, &budget).unwrap()
}

fn account(place: &Path) -> Account {
    let ledger = Ledger::open(place.join("ledger.db")).unwrap();
    ledger.verify(None).unwrap();
    ledger.account(NAME).unwrap()
}

/// What the ledger holds, without what its nonces bring about.
fn history(place: &Path) -> Vec<Value> {
    let lines = Ledger::open(place.join("ledger.db")).unwrap().export(None);
    let lines: Vec<Value> = lines.unwrap().lines().map(card).collect();
    let lines = lines.into_iter().map(|mut line| {
        for field in ["nonce", "head"] {
            line["charge"]
                .as_object_mut()
                .map(|charge| charge.remove(field));
        }
        line
    });
    lines.collect()
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// A card as JSON.
fn card(stdout: &str) -> Value {
    serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

fn answer(card: &Value) -> f64 {
    card["answer"][0]["value"].as_f64().unwrap()
}

#[test]
fn a_release_prints_its_card_and_keeps_the_rest() {
    let place = place("release-road", "100.0");
    ledger(&place, 2.0);
    let line = "release spec.toml --json --decision d.json --report r.txt";
    let (code, stdout, stderr) = ended(&place, &words(line));
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.contains("plan ") && !stderr.contains("cost ="),
        "{stderr}"
    );
    let card = card(&stdout);
    assert_eq!(card["format"], "conveil-card/2");
    assert_eq!(card["ledger"]["dataset"], NAME);
    let head = account(&place).head.to_string();
    assert_eq!(card["ledger"]["head"], head.as_str());
    // The decision's cost, 1.5 x, is the released number.
    let decision: Value = serde_json::from_str(&text(&place.join("d.json"))).unwrap();
    let x = decision["decision"][0]["value"].as_f64().unwrap();
    assert!((1.5 * x - answer(&card)).abs() <= 1e-9 * answer(&card).abs());
    assert_eq!(decision["private"], true);
    assert!(text(&place.join("r.txt")).starts_with("CURATOR REPORT: PRIVATE"));
    #[cfg(unix)]
    for file in ["d.json", "r.txt"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(place.join(file))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    // The same again as text; neither names the data's file or the time it took.
    let (code, stdout, _) = ended(&place, &words("release spec.toml --quiet"));
    assert_eq!(code, 0);
    assert!(
        stdout.starts_with("RELEASE CARD\nanswer:\n  cost = "),
        "{stdout}"
    );
    assert!(
        !stdout.contains("scalar-lp") && !stdout.contains(" s,"),
        "{stdout}"
    );
    // The budget is spent.
    let (code, stdout, stderr) = ended(&place, &words("release spec.toml --decision e.json"));
    assert_eq!((code, stdout.as_str()), (5, ""));
    assert!(stderr.starts_with("error: over budget"), "{stderr}");
    assert!(!place.join("e.json").exists());
    assert_eq!(account(&place).charges, 2);
}

#[test]
fn what_is_wrong_in_public_costs_nothing() {
    let place = place("release-public", "100.0");
    let refused = |line: &str, message: &str| {
        let (code, stdout, stderr) = ended(&place, &words(line));
        assert_eq!((code, stdout.as_str()), (2, ""), "{line}: {stderr}");
        assert!(stderr.contains(message), "{line}: {stderr}");
    };
    refused("release spec.toml", "conveil ledger init ledger.db");
    ledger(&place, 1.0);
    write(&place.join("there.json"), "mine");
    refused(
        "release spec.toml --decision there.json",
        "overwrites nothing",
    );
    assert_eq!(text(&place.join("there.json")), "mine");
    refused(
        "release spec.toml --decision no/where.json",
        "nothing was charged",
    );
    refused(
        "release spec.toml --decision d.json --report d.json",
        "overwrites nothing",
    );
    assert!(!place.join("d.json").exists());
    refused("release spec.toml --no-ledger", "leave out one of the two");
    refused("release spec.toml --seed 3", "--not-private");
    refused("release spec.toml --not-private", "this plan is private");
    let own = text(&place.join("spec.toml"));
    write(&place.join("other.toml"), own.replace(NAME, "limits-2025"));
    refused("release other.toml", "did you mean \"limits-2026\"?");
    let (bare, _) = own.split_once("[ledger]").unwrap();
    write(&place.join("bare.toml"), bare);
    refused("release bare.toml", "--no-ledger");
    assert_eq!(account(&place).charges, 0);

    let (code, stdout, _) = ended(&place, &words("release bare.toml --no-ledger"));
    assert_eq!(code, 0);
    assert!(
        stdout.contains("no durable ledger") && !stdout.contains("head"),
        "{stdout}"
    );
}

/// 3: the data contradict the limits. 4: they leave no room for the noise. Both are charged, and say so.
#[test]
fn what_fails_after_the_charge_stays_charged() {
    let place = place("release-failures", "200.0");
    ledger(&place, 10.0);
    spec(&place, "tight.toml", "159.9");
    spec(&place, "fine.toml", "100.0");
    let mut histories = Vec::new();
    for (file, expected) in [("spec.toml", 3), ("tight.toml", 4), ("fine.toml", 0)] {
        let (code, stdout, stderr) = ended(&place, &["release", file, "--decision", "d.json"]);
        assert_eq!(code, expected, "{stderr}");
        let spent = stderr.contains(&format!(
            "the budget stays spent (charge {}",
            histories.len() + 1
        ));
        assert_eq!(spent, expected != 0, "{stderr}");
        assert_eq!(stdout.is_empty(), expected != 0, "{stdout}");
        assert_eq!(place.join("d.json").exists(), expected == 0);
        histories.push(history(&place));
    }
    assert_eq!(account(&place).charges, 3);
    // A ledger whose releases all went well has the same history.
    let other = self::place("release-no-failures", "100.0");
    ledger(&other, 10.0);
    for known in histories {
        assert_eq!(ended(&other, &words("release spec.toml")).0, 0);
        assert_eq!(history(&other), known);
    }
}

#[test]
fn runs_that_are_not_private_say_so_and_charge_nothing() {
    let place = place("release-not-private", "100.0");
    ledger(&place, 1.0);
    let seeded = |seed: &str| {
        let line = ["release", "spec.toml", "--not-private", "--seed", seed];
        let (code, stdout, stderr) = ended(&place, &line);
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.contains("NOT PRIVATE"), "{stdout}");
        stdout
    };
    assert_eq!(seeded("1"), seeded("1"));
    assert_ne!(seeded("1"), seeded("2"));
    // The paper's calibration.
    let example = text(&examples().join("sampled-dispatch.toml"));
    let on = example.replace("seed = 1 }", "seed = 1, on = \"deterministic\" }");
    assert_ne!(example, on);
    write(&place.join("paper.toml"), on);
    let problem = text(&examples().join("sampled-dispatch.json"));
    write(&place.join("sampled-dispatch.json"), problem);
    let (code, stdout, stderr) = ended(&place, &words("release paper.toml --no-ledger"));
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    let (code, stdout, stderr) = ended(&place, &words("release paper.toml --not-private"));
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.contains("NOT PRIVATE: calibrated as in the paper"),
        "{stdout}"
    );
    assert_eq!(account(&place).charges, 0);
}

/// A locked ledger: a clear error after the patience of ten seconds, and no card.
#[test]
fn a_locked_ledger_gives_no_card() {
    let place = place("release-locked", "100.0");
    ledger(&place, 1.0);
    let holder = rusqlite::Connection::open(place.join("ledger.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (code, stdout, stderr) = ended(&place, &words("release spec.toml"));
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    assert!(stderr.contains("is locked by another process"), "{stderr}");
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(account(&place).charges, 0);
}

/// Mode bits do not bind root, so root asks another user to try.
#[cfg(unix)]
#[test]
fn a_read_only_ledger_gives_no_card() {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let place = std::env::temp_dir().join(format!("conveil-release-{}", std::process::id()));
    std::fs::create_dir(&place).unwrap();
    set_permissions(&place, Permissions::from_mode(0o755)).unwrap();
    spec(&place, "spec.toml", "100.0");
    drop(ledger(&place, 1.0));
    set_permissions(place.join("ledger.db"), Permissions::from_mode(0o444)).unwrap();
    let binary = place.join("conveil");
    std::fs::copy(env!("CARGO_BIN_EXE_conveil"), &binary).unwrap();
    let mut other = std::process::Command::new(&binary);
    other.args(["release", "spec.toml"]).current_dir(&place);
    if metadata(&place).unwrap().uid() == 0 {
        const NOBODY: u32 = 65_534;
        other.uid(NOBODY).gid(NOBODY);
    }
    let output = other.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let charges = account(&place).charges;
    std::fs::remove_dir_all(&place).unwrap();
    assert_eq!(
        (output.status.code(), output.stdout.len()),
        (Some(2), 0),
        "{stderr}"
    );
    assert!(stderr.contains("cannot be written"), "{stderr}");
    assert_eq!(charges, 0);
}

/// Two processes and one budget: exactly one card.
#[test]
fn a_race_for_the_last_budget_has_one_winner() {
    const ROUNDS: usize = 20;
    for round in 0..ROUNDS {
        let place = place(&format!("release-race/{round}"), "100.0");
        ledger(&place, 1.5);
        let racers = [0, 1].map(|_| {
            let mut racer = command(&place, &words("release spec.toml"));
            racer.stdout(Stdio::piped()).stderr(Stdio::piped());
            racer.spawn().unwrap()
        });
        let mut ended = racers.map(|racer| racer.wait_with_output().unwrap());
        ended.sort_by_key(|output: &Output| output.status.code());
        let codes = ended.each_ref().map(|output| output.status.code());
        assert_eq!(codes, [Some(0), Some(5)], "{ended:?}");
        assert!(ended[0].stdout.starts_with(b"RELEASE CARD") && ended[1].stdout.is_empty());
        assert_eq!(account(&place).charges, 1);
    }
}

/// Killed at any moment: a card on standard output has its charge on the disk and its decision beside it, and the
/// history is sound.
#[test]
fn killed_releases_leave_no_card_without_a_charge() {
    const ROUNDS: u64 = 200;
    let place = place("release-killed", "100.0");
    let ledger = ledger(&place, 1e6);
    let mut moments = Sampler::new(0xDEAD, 0);
    // Moments between the start and this; it follows what is seen, so that a busy machine does not matter.
    let mut latest = Duration::from_millis(10);
    let mut cards = 0;
    for round in 0..ROUNDS {
        let decision = format!("{round}.json");
        let mut run = command(&place, &["release", "spec.toml", "--decision", &decision]);
        run.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut run = run.spawn().unwrap();
        std::thread::sleep(latest.mul_f64(moments.uniform()));
        let _ = run.kill();
        let output = run.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let Some(line) = stdout.lines().find(|line| line.starts_with("ledger: ")) else {
            latest = latest.mul_f64(1.05);
            continue;
        };
        latest = latest.mul_f64(0.85);
        cards += 1;
        let head: Head = line.rsplit(' ').next().unwrap().parse().unwrap();
        ledger.verify(Some((NAME, &head))).unwrap();
        let decision: Value = serde_json::from_str(&text(&place.join(decision))).unwrap();
        let shown = stdout
            .lines()
            .find_map(|line| line.strip_prefix("  cost = "));
        // As numbers: of two shortest texts for one number, text and JSON may pick different ones.
        let shown = shown.and_then(|text| text.split(" ± ").next());
        let shown = shown.map(|text| text.parse::<f64>().unwrap());
        assert_eq!(shown, decision["answer"][0]["value"].as_f64(), "{stdout}");
    }
    let charges = account(&place).charges;
    println!("{cards} cards, {charges} charges in {ROUNDS} runs");
    assert!(charges >= cards && cards > 0 && cards < ROUNDS);
}

/// 100 whole runs on each of two adjacent datasets, judged at a false-alarm rate of one in a million. So few runs find
/// only gross faults; answers without noise are one.
#[test]
fn whole_runs_keep_the_claim() {
    const RUNS: usize = 100;
    let place = place("release-black-box", "100.0");
    spec(&place, "neighbour.toml", "101.0");
    ledger(&place, 1000.0);
    let answers = ["spec.toml", "neighbour.toml"].map(|file| {
        let run = |_| {
            let (code, stdout, stderr) = ended(&place, &["release", file, "--json", "--quiet"]);
            assert_eq!(code, 0, "{stderr}");
            vec![answer(&card(&stdout))]
        };
        (0..RUNS).map(run).collect::<Vec<_>>()
    });
    assert_eq!(account(&place).charges, 2 * RUNS as u64);
    let bench = Workbench::open(&place.join("spec.toml")).unwrap();
    let plan = bench.plan(&Silent).unwrap();
    let found = blackbox::bound(&plan, &answers, 1e-6).unwrap();
    println!("{found}");
    assert!(!found.violated, "{found}");
    let bare = [vec![vec![155.8]; RUNS], vec![vec![157.3]; RUNS]];
    let found = blackbox::bound(&plan, &bare, 1e-6).unwrap();
    assert!(found.violated, "{found}");
}
