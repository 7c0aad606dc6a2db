//! Several processes on one ledger, and processes that are killed. Each child is this test binary, told by an environment
//! variable to play a part.

mod neighbours;
mod scratch;

use conveil_release::ledger::{Amount, Basis, Budget, Charge, Charges, Ledger, Settings};
use neighbours::{claim, demands};
use scratch::Scratch;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const FILE: &str = "CONVEIL_TEST_LEDGER";
const NAME: &str = "loads-2026";

fn laplace(epsilon: f64) -> Charge {
    Charge::laplace(epsilon, &claim(Basis::Certificate)).unwrap()
}

fn child(part: &str, ledger: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", part, "--nocapture", "--test-threads=1"])
        .env(FILE, ledger)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // One write per line; a parent that is gone is no reason to fail.
    let _ = out.write_all(format!("{line}\n").as_bytes());
    let _ = out.flush();
}

/// Plays one racer: for each file and dataset it is told, tries to take the rest of the budget.
#[test]
fn racer() {
    let Some(file) = std::env::var_os(FILE) else {
        return;
    };
    let settings = Settings {
        patience: Duration::from_secs(60),
        ..Settings::default()
    };
    let folder = Path::new(&file);
    say("ready");
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (name, dataset) = line.split_once(' ').unwrap();
        let mut ledger = Ledger::open_with(folder.join(name), &settings).unwrap();
        match ledger.charge(dataset, &laplace(0.6)) {
            Ok(receipt) => say(&format!("won {} {}", receipt.id(), receipt.head())),
            Err(error) if error.is_over_budget() => say("over"),
            Err(error) => say(&format!("error {error}")),
        }
    }
}

#[test]
fn two_processes_never_both_get_the_last_budget() {
    const ROUNDS: usize = 1000;
    // A charge checks all of its file, so that many rounds in one file take long.
    const ROUNDS_PER_FILE: usize = 50;
    let scratch = Scratch::fast();
    let budget = Budget::new(1.0, 0.0, &demands()).unwrap();
    let mut racers = [0, 1].map(|_| child("racer", scratch.path()));
    let mut said = racers
        .each_mut()
        .map(|racer| BufReader::new(racer.stdout.take().unwrap()).lines());
    for lines in &mut said {
        let ready = lines.find(|line| line.as_ref().unwrap().ends_with("ready"));
        assert!(ready.is_some());
    }
    let mut won = [0, 0];
    for round in 0..ROUNDS {
        let file = format!("{}.sqlite", round / ROUNDS_PER_FILE);
        let path = scratch.file(&file);
        let dataset = format!("round {round}");
        let mut ledger = Ledger::init(&path, &dataset, &budget).unwrap();
        ledger.charge(&dataset, &laplace(0.4)).unwrap();
        for racer in &mut racers {
            let stdin = racer.stdin.as_mut().unwrap();
            let line = format!("{file} {dataset}\n");
            stdin.write_all(line.as_bytes()).unwrap();
        }
        let answers = said.each_mut().map(|lines| lines.next().unwrap().unwrap());
        let winner = answers
            .iter()
            .position(|answer| answer.starts_with("won 2 "))
            .unwrap_or_else(|| panic!("nobody won: {answers:?}"));
        assert_eq!(answers[1 - winner], "over", "round {round}");
        won[winner] += 1;
        let account = ledger.account(&dataset).unwrap();
        assert_eq!(account.spent.unwrap().epsilon, Amount::new(1.0).unwrap());
        assert!(answers[winner].ends_with(&account.head.to_string()));
    }
    for racer in &mut racers {
        drop(racer.stdin.take());
        assert!(racer.wait().unwrap().success());
    }
    assert!(won[0] > 0 && won[1] > 0, "no race took place: {won:?}");
    for file in 0..ROUNDS / ROUNDS_PER_FILE {
        let ledger = Ledger::open(scratch.file(&format!("{file}.sqlite"))).unwrap();
        assert_eq!(ledger.verify(None).unwrap().len(), ROUNDS_PER_FILE);
    }
}

/// Plays a process that charges until it is killed, and prints each receipt.
#[test]
fn spender() {
    let Some(file) = std::env::var_os(FILE) else {
        return;
    };
    let mut ledger = Ledger::open(file).unwrap();
    loop {
        let receipt = ledger.charge(NAME, &laplace(0.001)).unwrap();
        say(&format!("receipt {} {}", receipt.id(), receipt.head()));
    }
}

/// Every other round on a disk, where a commit takes long, and in memory, where many fit between two kills.
#[test]
fn killed_processes_leave_no_receipt_without_a_charge() {
    const KILLS: usize = 200;
    const KILLS_PER_FILE: usize = 20;
    let mut state = 7u64;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let (mut receipts, mut unreceipted, mut rolled_back) = (0, 0, 0);
    for file in 0..KILLS / KILLS_PER_FILE {
        let scratch = if file % 2 == 0 {
            Scratch::new()
        } else {
            Scratch::fast()
        };
        let path = scratch.file("b.sqlite");
        Ledger::init(&path, NAME, &Budget::new(1e6, 0.0, &demands()).unwrap()).unwrap();
        let mut charges = 0;
        for _ in 0..KILLS_PER_FILE {
            let mut spender = child("spender", &path);
            std::thread::sleep(Duration::from_micros(random(60_000)));
            spender.kill().unwrap(); // SIGKILL
            let mut said = String::new();
            spender
                .stdout
                .take()
                .unwrap()
                .read_to_string(&mut said)
                .unwrap();
            assert!(!spender.wait().unwrap().success());
            rolled_back += usize::from(scratch.file("b.sqlite-journal").exists());

            let ledger = Ledger::open(&path).unwrap();
            let account = ledger.verify(None).unwrap().remove(0);
            let export = ledger.export(Some(NAME)).unwrap();
            let recorded: Vec<&str> = export.lines().skip(1).collect();
            // A last line without an end was cut by the kill.
            let whole = said
                .split_inclusive('\n')
                .filter(|line| line.ends_with('\n'));
            let printed: Vec<&str> = whole
                .filter_map(|line| Some(line.split_once("receipt ")?.1.trim()))
                .collect();
            for receipt in &printed {
                let (id, head) = receipt.split_once(' ').unwrap();
                let row = recorded[id.parse::<usize>().unwrap() - 1];
                assert!(
                    row.contains(head),
                    "a receipt without its charge: {receipt}"
                );
            }
            let more = account.charges as usize - charges - printed.len();
            assert!(more <= 1, "at most the charge in flight has no receipt");
            receipts += printed.len();
            unreceipted += more;
            charges = account.charges as usize;
        }
    }
    println!(
        "{KILLS} kills: {receipts} receipts, {unreceipted} charges without one, {rolled_back} journals left"
    );
    assert!(
        receipts > KILLS,
        "the kills came too early to show anything: {receipts}"
    );
}
