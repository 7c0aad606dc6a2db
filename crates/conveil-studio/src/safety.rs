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
        let hand_in = || serde_json::to_string(&desk.release(&ticket).unwrap()).unwrap();
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(hand_in)).collect();
        let answers = threads.into_iter().map(|thread| thread.join().unwrap());
        answers.collect()
    });
    assert_eq!(charges(&ledger), 1);
    assert!(texts.iter().all(|text| *text == texts[0]));
    assert!(desk.release("0000").is_err());
    // Tickets that nobody hands in are forgotten; what came of this one is not.
    for _ in 0..70 {
        desk.prepare().unwrap();
    }
    let again = serde_json::to_string(&desk.release(&ticket).unwrap()).unwrap();
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
