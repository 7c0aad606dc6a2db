//! Tests of what the studio promises: who is let in, which files are opened, what is charged.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use conveil_workbench::Silent;
use conveil_workbench::ledger::{Between, LedgerFile, NewBudget};
use conveil_workbench::settings::Value;

use crate::desk::Desk;
use crate::guard::Guard;
use crate::routes;

/// An empty folder `desk`, and what lies beside it.
fn place(name: &str) -> PathBuf {
    let place = std::env::temp_dir().join(format!("conveil-studio-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(place.join("desk")).unwrap();
    place.canonicalize().unwrap()
}

/// A desk with a first spec, which is open, and its ledger with a budget of ε = 3.
fn desk_with_ledger(name: &str) -> (Desk, PathBuf) {
    let folder = place(name).join("desk");
    let desk = Desk::new(&folder).unwrap();
    desk.create("portfolio", "first").unwrap();
    let now = desk.now().unwrap();
    let spec = now.opened.bench.spec().ledger.as_ref().unwrap();
    let ledger = now.opened.bench.ledger_file().unwrap().unwrap();
    let budget = NewBudget {
        dataset: spec.dataset.value.to_string(),
        epsilon: 3.0,
        delta: 0.0,
        basic: false,
        between: Some(Between::Bench(Box::new(now.opened.bench.clone()))),
    };
    LedgerFile::at(&ledger).init(&budget, &Silent).unwrap();
    (desk, ledger)
}

fn charges(ledger: &Path) -> usize {
    let export = LedgerFile::at(ledger).export(None).unwrap();
    export.matches("\"charge\"").count()
}

/// Serves the desk for the time of a test; its port and first address.
fn served(desk: Desk) -> (tokio::runtime::Runtime, u16, String) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let bound = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let listener = runtime.block_on(bound).unwrap();
    let port = listener.local_addr().unwrap().port();
    let guard = Arc::new(Guard::new(port).unwrap());
    let address = guard.address();
    let routes = routes::all(Arc::new(desk), guard);
    runtime.spawn(async move { axum::serve(listener, routes).await });
    (runtime, port, address)
}

/// A request with these headers; the whole answer.
fn ask(port: u16, line: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut request = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

#[test]
fn nobody_is_let_in_without_token_cookie_host_and_origin() {
    let desk = Desk::new(&place("guard").join("desk")).unwrap();
    let (runtime, port, address) = served(desk);
    let (own, origin) = (
        format!("127.0.0.1:{port}"),
        format!("http://127.0.0.1:{port}"),
    );
    let first = address.strip_prefix(&origin).unwrap();
    let get = |path: &str, headers: &[(&str, &str)]| ask(port, &format!("GET {path}"), headers, "");
    // The token, whole, for our host, by GET.
    let short = &first[..first.len() - 1];
    let wrong = format!("{short}{}", if first.ends_with('0') { "1" } else { "0" });
    let long = format!("{first}0");
    for path in ["/", "/?token=", short, &long, &wrong, "/api/state"] {
        assert_eq!(status(&get(path, &[("Host", &own)])), "403", "{path}");
    }
    assert_eq!(status(&get(first, &[("Host", "example.org")])), "403");
    assert_eq!(status(&get(first, &[("Host", "127.0.0.1")])), "403");
    let posted = ask(
        port,
        &format!("POST {first}"),
        &[("Host", &own), ("Origin", &origin)],
        "",
    );
    assert_eq!(status(&posted), "403");
    let entered = get(first, &[("Host", &own)]);
    assert_eq!(status(&entered), "200");
    let set = (entered.lines()).find(|line| line.starts_with("set-cookie:"));
    let set = set.unwrap();
    for needed in ["HttpOnly", "SameSite=Strict"] {
        assert!(set.contains(needed), "{set}");
    }
    let token = first.rsplit('=').next().unwrap();
    assert!(!set.contains(token), "the token is for one address only");
    let cookie = set["set-cookie: ".len()..].split(';').next().unwrap();
    // The cookie, whole, under its own name.
    let other = cookie.replace("conveil_studio", "other");
    for cookie in [&cookie[..cookie.len() - 1], &other, "", token] {
        let answer = get("/api/state", &[("Host", &own), ("Cookie", cookie)]);
        assert_eq!(status(&answer), "403", "{cookie}");
    }
    let state = get("/api/state", &[("Host", &own), ("Cookie", cookie)]);
    assert_eq!(status(&state), "200");
    let lower = state.to_lowercase();
    for header in [
        "content-security-policy: default-src 'none'",
        "nosniff",
        "no-store",
    ] {
        assert!(lower.contains(header), "{header}");
    }
    // A change: our origin, as JSON.
    let json = ("Content-Type", "application/json");
    let change = |origin: Option<&str>, kind: (&str, &str)| {
        let mut headers = vec![("Host", own.as_str()), ("Cookie", cookie), kind];
        headers.extend(origin.map(|origin| ("Origin", origin)));
        let answer = ask(port, "POST /api/open", &headers, "{\"path\":\"none.toml\"}");
        status(&answer).to_string()
    };
    let foreign = ["https://example.org", "null", "http://127.0.0.1:1", ""];
    for origin in foreign {
        assert_eq!(change(Some(origin), json), "403", "{origin}");
    }
    assert_eq!(change(None, json), "403");
    assert_eq!(change(Some(&origin), ("Content-Type", "text/plain")), "403");
    // Let in, and then told that there is no such file.
    assert_eq!(change(Some(&origin), json), "400");
    runtime.shutdown_background();
}

#[test]
fn no_spec_outside_of_the_folder_is_opened() {
    let place = place("outside");
    let desk = Desk::new(&place.join("desk")).unwrap();
    desk.create("portfolio", "first").unwrap();
    let spec = desk.now().unwrap().opened.path;
    let stolen = place.join("stolen.toml");
    fs::copy(&spec, &stolen).unwrap();
    let absolute = stolen.display().to_string();
    // Whether there is such a file is not told either.
    for path in ["../stolen.toml", "../missing.toml", "/missing.toml"] {
        let refused = desk.open(path).unwrap_err().to_string();
        assert!(refused.contains("not inside"), "{path}: {refused}");
    }
    for path in ["../stolen.toml", "first/../../stolen.toml", &absolute, ""] {
        let refused = desk.open(path).unwrap_err().to_string();
        assert!(!refused.contains("epsilon"), "{path}: {refused}");
    }
    assert!(desk.open_at(&stolen).is_err());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&stolen, place.join("desk/link.toml")).unwrap();
        std::os::unix::fs::symlink(&place, place.join("desk/up")).unwrap();
        for path in ["link.toml", "up/stolen.toml"] {
            let refused = desk.open(path).unwrap_err().to_string();
            assert!(refused.contains("not inside"), "{path}: {refused}");
        }
    }
    assert_eq!(desk.now().unwrap().opened.path, spec);
}

#[test]
fn what_is_saved_or_created_stays_in_the_folder_and_overwrites_nothing() {
    let place = place("save");
    let desk = Desk::new(&place.join("desk")).unwrap();
    desk.create("portfolio", "first").unwrap();
    let names = [
        "../x.toml",
        "a/b.toml",
        ".toml",
        "x",
        "x.toml\0",
        "x\\y.toml",
        "<b>.toml",
    ];
    for name in names {
        assert!(desk.save(name).is_err(), "{name:?}");
    }
    for name in ["..", "a/b", "", "a b", ".hidden", "é"] {
        assert!(desk.create("portfolio", name).is_err(), "{name:?}");
    }
    assert!(desk.create("portfolio", "first").is_err());
    let folder = place.join("desk/first");
    desk.save("kept.toml").unwrap();
    fs::write(folder.join("kept.toml"), "mine").unwrap();
    assert!(desk.save("kept.toml").is_err());
    assert_eq!(
        fs::read_to_string(folder.join("kept.toml")).unwrap(),
        "mine"
    );
    // A link is no new file, wherever it leads.
    #[cfg(unix)]
    {
        let outside = place.join("outside.toml");
        std::os::unix::fs::symlink(&outside, folder.join("link.toml")).unwrap();
        assert!(desk.save("link.toml").is_err());
        assert!(!outside.exists());
    }
}

#[test]
fn a_ticket_is_charged_once_however_often_and_fast_it_is_handed_in() {
    let (desk, ledger) = desk_with_ledger("once");
    let ticket = desk.prepare().unwrap().ticket();
    assert_eq!(charges(&ledger), 0);
    let texts: Vec<String> = std::thread::scope(|scope| {
        let hand_in = || serde_json::to_string(&desk.release(&ticket, false).unwrap()).unwrap();
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(hand_in)).collect();
        let answers = threads.into_iter().map(|thread| thread.join().unwrap());
        answers.collect()
    });
    assert_eq!(charges(&ledger), 1);
    assert!(texts.iter().all(|text| *text == texts[0]));
    assert!(desk.release("0000", false).is_err());
    // Tickets that nobody hands in are forgotten; what came of this one is not.
    for _ in 0..70 {
        desk.prepare().unwrap();
    }
    let again = serde_json::to_string(&desk.release(&ticket, false).unwrap()).unwrap();
    assert_eq!((again, charges(&ledger)), (texts[0].clone(), 1));
}

#[test]
fn settings_moved_after_a_look_are_stamped_through_whichever_spec_it_was() {
    let (desk, _) = desk_with_ledger("look");
    let number = Value::Number(0.9);
    desk.set("epsilon", &number).unwrap();
    assert!(desk.prepare().unwrap().stamps().is_empty());
    desk.reset().unwrap();
    desk.save("other.toml").unwrap();
    desk.look("private").unwrap();
    assert!(desk.now().unwrap().private);
    // Another spec of the same private file, which was saved before the look.
    desk.open("first/other.toml").unwrap();
    assert!(!desk.now().unwrap().private, "a spec opens at public data");
    desk.set("epsilon", &number).unwrap();
    let stamps = desk.prepare().unwrap().stamps().join(" ");
    assert!(
        stamps.contains("not covered") && stamps.contains("epsilon"),
        "{stamps}"
    );
    // Moved back, it was moved all the same.
    desk.reset().unwrap();
    assert!(!desk.prepare().unwrap().stamps().is_empty());
}

/// A folder with a copy of the smallest example, changed by `change`, and its ledger with a budget of ε = 3.
fn scalar(name: &str, change: impl Fn(String) -> String) -> (Desk, PathBuf) {
    let folder = place(name).join("desk");
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/specs");
    fs::copy(specs.join("scalar-lp.json"), folder.join("scalar-lp.json")).unwrap();
    let text = fs::read_to_string(specs.join("scalar-lp.toml")).unwrap();
    let ledger = "\n[ledger]\nfile = \"ledger.db\"\ndataset = \"limits\"\n";
    fs::write(folder.join("scalar.toml"), change(text) + ledger).unwrap();
    let desk = Desk::new(&folder).unwrap();
    desk.open("scalar.toml").unwrap();
    let budget = NewBudget {
        dataset: "limits".into(),
        epsilon: 3.0,
        delta: 0.0,
        basic: false,
        between: Some(Between::Bench(Box::new(desk.now().unwrap().opened.bench))),
    };
    let ledger = folder.join("ledger.db");
    LedgerFile::at(&ledger).init(&budget, &Silent).unwrap();
    (desk, folder)
}

fn state(desk: &Desk) -> serde_json::Value {
    serde_json::to_value(desk.state()).unwrap()
}

fn moved_after(desk: &Desk) -> Vec<String> {
    serde_json::from_value(state(desk)["open"]["moved_after"].clone()).unwrap()
}

#[test]
fn a_charged_release_that_fails_is_a_look() {
    let (desk, folder) = scalar("failed", |text| {
        text.replace("value = 100.0", "value = 159.0")
            .replace("epsilon = 1.0", "epsilon = 0.25")
    });
    let prepared = desk.prepare().unwrap();
    let released = desk.release(&prepared.ticket(), false).unwrap();
    let failed = released.failed().unwrap();
    assert!(failed.contains("stays spent"), "{failed}");
    assert!(!failed.contains(&*folder.to_string_lossy()), "{failed}");
    assert_eq!(charges(&folder.join("ledger.db")), 1);
    assert_eq!(state(&desk)["open"]["looked"], true);
    assert!(
        desk.prepare().unwrap().stamps().is_empty(),
        "nothing was moved yet"
    );
    desk.set("epsilon", &Value::Number(0.5)).unwrap();
    let stamps = desk.prepare().unwrap().stamps().join(" ");
    assert!(stamps.contains("epsilon"), "{stamps}");
    // Handed in again, it says the same.
    let again = desk.release(&prepared.ticket(), false).unwrap();
    assert_eq!(again.failed(), Some(failed));
}

#[test]
fn a_release_that_is_not_charged_is_no_look() {
    let (desk, folder) = scalar("unpaid", |text| text);
    desk.set("epsilon", &Value::Number(2.0)).unwrap();
    let tickets = [desk.prepare().unwrap(), desk.prepare().unwrap()];
    assert!(
        desk.release(&tickets[0].ticket(), false)
            .unwrap()
            .failed()
            .is_none()
    );
    // The budget does not take it any more.
    assert!(desk.release(&tickets[1].ticket(), false).is_err());
    assert_eq!(charges(&folder.join("ledger.db")), 1);
    assert_eq!(state(&desk)["open"]["looked"], false);
}

#[test]
fn a_spec_that_was_changed_or_written_after_a_look_is_marked() {
    let (desk, folder) = scalar("edited", |text| text);
    let spec = folder.join("scalar.toml");
    let text = fs::read_to_string(&spec).unwrap();
    // Known before the look, and changed after it.
    fs::write(folder.join("known.toml"), &text).unwrap();
    desk.open("known.toml").unwrap();
    desk.open("scalar.toml").unwrap();
    desk.look("private").unwrap();
    desk.open("known.toml").unwrap();
    assert!(moved_after(&desk).is_empty());
    fs::write(
        folder.join("known.toml"),
        text.replace("eta = 0.01", "eta = 0.02"),
    )
    .unwrap();
    desk.open("known.toml").unwrap();
    assert_eq!(moved_after(&desk), ["eta"]);
    // The looked-at spec itself.
    fs::write(&spec, text.replace("epsilon = 1.0", "epsilon = 0.9")).unwrap();
    desk.open("scalar.toml").unwrap();
    assert_eq!(moved_after(&desk), ["epsilon"]);
    let stamps = desk.prepare().unwrap().stamps().join(" ");
    assert!(stamps.contains("epsilon"), "{stamps}");
    // Written since: its numbers are its own, and the problem is the one that was looked at.
    fs::write(
        folder.join("new.toml"),
        text.replace("value = 100.0", "value = 101.0"),
    )
    .unwrap();
    desk.open("new.toml").unwrap();
    let stamps = desk.prepare().unwrap().stamps().join(" ");
    for name in ["epsilon", "eta", "method", "certificate", "strategy"] {
        assert!(stamps.contains(name), "{name}: {stamps}");
    }
}

#[test]
fn a_setting_that_the_file_does_not_state_is_marked_by_its_name() {
    let (desk, folder) = scalar("unstated", |text| {
        text.replace("eta = 0.01", "strategy = \"output\"")
    });
    desk.look("private").unwrap();
    desk.set("eta", &Value::Number(0.02)).unwrap();
    assert_eq!(moved_after(&desk), ["eta", "method"]);
    // Saved, the file says so; the words of the spec stay.
    desk.save("kept.toml").unwrap();
    let saved = fs::read_to_string(folder.join("kept.toml")).unwrap();
    let first = saved.lines().next().unwrap();
    assert!(first.starts_with("# Settings moved after"), "{first}");
    assert!(first.contains(": eta, method. A release"), "{first}");
    desk.open("kept.toml").unwrap();
    assert_eq!(moved_after(&desk), ["eta", "method"]);
}

#[test]
fn private_numbers_of_a_spec_are_shown_after_a_look_alone() {
    let (desk, _) = scalar("numbers", |text| text);
    let before = state(&desk)["open"].clone();
    let text = before["text"].as_str().unwrap();
    assert!(
        !text.contains("100.0") && text.contains("nominal = 98.0"),
        "{text}"
    );
    assert!(
        text.contains("value = \"(private)\"  ") && text.contains("# the private number"),
        "{text}"
    );
    assert!(!state(&desk).to_string().contains("100.0"));
    desk.set("epsilon", &Value::Number(0.9)).unwrap();
    assert!(!state(&desk).to_string().contains("100.0"));
    assert_eq!(before["text_private"], false);
    desk.look("private").unwrap();
    let after = state(&desk)["open"].clone();
    assert!(after["text"].as_str().unwrap().contains("value = 100.0"));
    assert_eq!(after["text_private"], true);
    // A text whose private numbers are in a file is no private text.
    let (desk, _) = desk_with_ledger("no-numbers");
    desk.look("private").unwrap();
    assert_eq!(state(&desk)["open"]["text_private"], false);
}

#[test]
fn a_decision_is_kept_where_it_is_asked_for_and_the_cards_stay() {
    let (desk, folder) = scalar("decision", |text| text);
    let prepared = desk.prepare().unwrap();
    assert_eq!(prepared.charge(), "1 charge of ε = 1");
    assert_eq!(serde_json::to_value(&prepared).unwrap()["decision"], true);
    let released = desk.release(&prepared.ticket(), true).unwrap();
    let file = released.cards()[0].decision().unwrap();
    assert_eq!(file, "scalar-decision-1.json");
    let decision = fs::read_to_string(folder.join(file)).unwrap();
    assert!(decision.contains("\"private\": true"), "{decision}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = folder.join(file).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // Without it, none is written. One that is there is not overwritten.
    let without = desk
        .release(&desk.prepare().unwrap().ticket(), false)
        .unwrap();
    assert_eq!(without.cards()[0].decision(), None);
    assert!(!folder.join("scalar-decision-2.json").exists());
    fs::write(folder.join("scalar-decision-3.json"), "mine").unwrap();
    let third = desk
        .release(&desk.prepare().unwrap().ticket(), true)
        .unwrap();
    assert_eq!(third.cards()[0].decision(), Some("scalar-decision-4.json"));
    assert!(!folder.join("scalar-card-3.json").exists());
    // Opened again, the page has the cards.
    desk.open("scalar.toml").unwrap();
    assert_eq!(state(&desk)["open"]["cards"].as_array().unwrap().len(), 3);
}

#[test]
fn texts_name_no_folder_and_refusals_are_messages() {
    let (desk, folder) = scalar("texts", |text| text);
    let desk = Arc::new(desk);
    let folder = folder.display().to_string();
    desk.look("private").unwrap();
    let checked = serde_json::to_string(&desk.checked().unwrap()).unwrap();
    let viewed = serde_json::to_string(&desk.view().unwrap()).unwrap();
    let prepared = serde_json::to_string(&desk.prepare().unwrap()).unwrap();
    assert!(!prepared.contains("DRY RUN"), "{prepared}");
    for text in [&checked, &viewed, &prepared] {
        assert!(!text.contains(&folder), "{text}");
    }
    for kind in ["explain", "compare"] {
        let started = serde_json::to_value(desk.start(kind, None).unwrap()).unwrap();
        let id = started["id"].as_u64().unwrap();
        let done = loop {
            let job = serde_json::to_value(desk.jobs.shown(id).unwrap()).unwrap();
            if job["state"] != "running" {
                break job;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(done["state"], "done");
        assert!(!done["text"].as_str().unwrap().contains(&folder), "{done}");
    }
    drop(desk);

    let (desk, _) = scalar("messages", |text| text);
    let (runtime, port, address) = served(desk);
    let (own, origin) = (
        format!("127.0.0.1:{port}"),
        format!("http://127.0.0.1:{port}"),
    );
    let first = address.strip_prefix(&origin).unwrap();
    let entered = ask(port, &format!("GET {first}"), &[("Host", &own)], "");
    let lower = entered.to_lowercase();
    assert!(lower.contains("cross-origin-resource-policy: same-origin"));
    let set = (entered.lines()).find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = set.unwrap().split(';').next().unwrap();
    let headers = [
        ("Host", own.as_str()),
        ("Cookie", cookie),
        ("Origin", origin.as_str()),
        ("Content-Type", "application/json"),
    ];
    for body in ["{", "{\"nothing\":1}", "[]"] {
        let answer = ask(port, "POST /api/open", &headers, body);
        assert!(status(&answer).starts_with('4'), "{answer}");
        assert!(answer.contains("{\"message\":\""), "{answer}");
    }
    // What a browser says of a request from another place.
    for (site, expected) in [
        ("same-origin", "200"),
        ("none", "200"),
        ("same-site", "403"),
        ("cross-site", "403"),
    ] {
        let headers = [
            ("Host", own.as_str()),
            ("Cookie", cookie),
            ("Sec-Fetch-Site", site),
        ];
        let answer = ask(port, "GET /api/state", &headers, "");
        assert_eq!(status(&answer), expected, "{site}");
    }
    runtime.shutdown_background();
}

#[test]
fn a_series_names_its_charges_and_is_charged_for_each_answer() {
    let (desk, folder) = scalar("series", |text| {
        text.replace("value = 100.0", "").replace(
            "[[private.parameter]]",
            "data = \"limits.csv\"\n[[private.parameter]]",
        )
    });
    fs::write(folder.join("limits.csv"), "l\n100\n101\n102\n").unwrap();
    desk.open("scalar.toml").unwrap();
    let prepared = desk.prepare().unwrap();
    assert_eq!(prepared.charge(), "3 charges of ε = 1");
    let released = desk.release(&prepared.ticket(), true).unwrap();
    assert_eq!(released.cards().len(), 3);
    assert!(
        released
            .cards()
            .iter()
            .all(|card| card.decision().is_some())
    );
    assert_eq!(charges(&folder.join("ledger.db")), 3);
}
