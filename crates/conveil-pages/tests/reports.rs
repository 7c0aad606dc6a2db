//! Whole documents: what stands on them, and what cannot.

mod places;

use std::sync::atomic::{AtomicUsize, Ordering};

use conveil::curator::About;
use conveil::solve::{Batch, Cancel};
use conveil_pages::{chosen_studies, report, studies, study};
use conveil_workbench::{Kind, Observer, Silent, Stage, Workbench};
use places::{copied, example, examples};

/// A page that is sent by mail must stay small.
const LARGEST: usize = 3_000_000;

/// No script, no style of others, no address: nothing is loaded from anywhere.
fn assert_self_contained(page: &str, what: &str) {
    assert!(page.len() < LARGEST, "{what}: {} bytes", page.len());
    let page = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for tag in [
        "<script", "<link", "<iframe", "<img", "<object", "<embed", "@import", " src=\"",
        " href=\"",
    ] {
        assert!(!page.contains(tag), "{what}: {tag}");
    }
    for scheme in ["http://", "https://"] {
        assert!(!page.contains(scheme), "{what}: {scheme}");
    }
    for (at, _) in page.match_indices("url(") {
        assert!(
            page[at..].starts_with("url(#"),
            "{what}: {}",
            &page[at..at + 40]
        );
    }
}

/// Two private datasets, one page; and two pages of the private data themselves, so that the datasets do differ.
fn assert_public(name: &str, about: About, edit: impl Fn(&str, String) -> String) {
    // In one folder, whose name stands in messages.
    let page = |is_edited: bool| {
        let spec = copied(
            name,
            &format!("public-{name}"),
            |file, text| match is_edited {
                true => edit(file, text),
                false => text,
            },
        );
        let bench = Workbench::open(&spec).unwrap();
        let page = |about| report(&bench, about, None, &Silent).unwrap();
        (page(about), page(About::Private))
    };
    let (one, private) = page(false);
    let (other, other_private) = page(true);
    assert!(one == other, "{name}: the page depends on the private data");
    assert!(private != other_private, "{name}: the edit changes nothing");
    assert!(one.contains("class=\"stamp good\"") && private.contains("class=\"stamp bad\""));
}

#[test]
fn a_report_at_public_data_has_no_private_number() {
    assert_public("opf-24", About::Nominal, |file, text| match file {
        "opf-24.csv" => text.replace("1,104\n", "1,97\n"),
        _ => text,
    });
    // The powers alone are private: the speeds beside them are not.
    assert_public("wind-curve", About::Twin, |file, text| match file {
        "wind-curve.csv" => text.replace(",0.0", ",0.5"),
        _ => text,
    });
    assert_public("svm-machines", About::Twin, |file, text| match file {
        "svm-machines.csv" => text.replacen("75.7,6.77,1", "12.5,1.25,1", 1),
        "svm-machines-test.csv" => text.replace(",1\n", ",0\n"),
        _ => text,
    });
    assert_public("ellipsoid", About::Nominal, |file, text| match file {
        "ellipsoid.csv" => text.replace("2.003", "1.999"),
        _ => text,
    });
}

/// Raises its flag when the stage of this number begins.
struct Impatient {
    begun: AtomicUsize,
    at: usize,
    cancel: Cancel,
}

impl Observer for Impatient {
    fn begin(&self, _stage: Stage) {
        if self.begun.fetch_add(1, Ordering::SeqCst) == self.at {
            self.cancel.raise();
        }
    }

    fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }
}

#[test]
fn an_interrupted_report_is_no_report() {
    let bench = example("two-generators");
    let impatient = |at| Impatient {
        begun: AtomicUsize::new(0),
        at,
        cancel: Cancel::default(),
    };
    let patient = impatient(usize::MAX);
    report(&bench, About::Private, None, &patient).unwrap();
    let stages = patient.begun.load(Ordering::SeqCst);
    assert!(stages > 5, "{stages}");
    // Once the last stage has begun, there may be nothing left to interrupt.
    for at in 0..stages - 1 {
        let failure = report(&bench, About::Private, None, &impatient(at)).unwrap_err();
        assert_eq!(failure.kind(), Kind::Interrupted, "stage {at}: {failure}");
    }
}

#[test]
fn reports_of_all_examples_are_small_and_load_nothing() {
    let mut names: Vec<String> = std::fs::read_dir(examples())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| Some(name.strip_suffix(".toml")?.to_string()))
        .collect();
    names.sort();
    assert!(names.len() > 15);
    for name in names {
        let page = report(&example(&name), About::Private, None, &Silent).unwrap();
        assert_self_contained(&page, &name);
        for anchor in [
            "question",
            "guarantee",
            "neighbours",
            "frontier",
            "budget",
            "decision",
            "cost",
            "prices",
            "strategies",
            "limits",
            "audit",
            "ledger",
        ] {
            assert!(
                page.contains(&format!("id=\"{anchor}\"")),
                "{name}: {anchor}"
            );
        }
    }
}

/// Names from the spec and from files stand in HTML, in attributes and in figures.
#[test]
fn hostile_names_are_shown_and_never_obeyed() {
    const HOSTILE: &str = "</svg><script>alert('1')</script><img src=x onerror=alert(2)>&quot;";
    let spec = copied("wind-curve", "hostile", |_, text| {
        let text = text.replace("response = \"power\"", &format!("response = \"{HOSTILE}\""));
        let text = text.replace("power = \"share", &format!("\"{HOSTILE}\" = \"<b>share"));
        text.replace("record,speed,power", &format!("record,speed,{HOSTILE}"))
    });
    let bench = Workbench::open(&spec).unwrap();
    let page = report(&bench, About::Private, None, &Silent).unwrap();
    assert_self_contained(&page, "hostile");
    assert!(page.contains("&lt;script&gt;") && !page.contains("<b>"));
    // No entity of the name's own either.
    assert!(!page.contains("alert(2)&gt;&quot;<"), "{HOSTILE}");
    assert!(page.contains("&amp;quot;"));
}

#[test]
fn the_page_of_studies_has_their_tables_and_figures() {
    let only = ["example".to_string(), "leakage".into()];
    let chosen = chosen_studies(&only).unwrap();
    let names: Vec<&str> = chosen.iter().map(|study| study.name).collect();
    // In the order of the list, not in that of the wish.
    assert_eq!(names, ["leakage", "example"]);
    let sections = chosen
        .iter()
        .map(|entry| study(entry, &Batch::new()).unwrap());
    let page = studies(&sections.collect::<Vec<_>>());
    assert_self_contained(&page, "studies");
    assert_eq!(page.matches("<figure").count(), 2);
    assert!(page.contains("STUDY leakage") && page.contains("STUDY example"));
    assert!(page.contains("class=\"stamp good\"") && !page.contains("class=\"stamp bad\""));
    assert_eq!(chosen_studies(&[]).unwrap().len(), 10);
    let refused = chosen_studies(&["opf".into(), "<b>".into()]).err().unwrap();
    assert!(refused.to_string().starts_with("there is no study \"<b>\""));
    let raised = Cancel::default();
    raised.raise();
    let opf = chosen_studies(&["opf".into()]).unwrap()[0];
    let stopped = study(opf, &Batch::new().cancel(raised)).unwrap_err();
    assert_eq!(stopped.kind(), Kind::Interrupted);
}

/// A promise for each row by itself is not shown as one for all rows together, and a warning that the solve has is on the page.
#[test]
fn a_promise_for_each_row_is_called_one_and_warnings_stand_on_the_page() {
    let page = |name: &str, edit: fn(String) -> String| {
        let spec = copied(name, &format!("rows-{name}"), |file, text| {
            match file.ends_with(".toml") {
                true => edit(text),
                false => text,
            }
        });
        let bench = Workbench::open(&spec).unwrap();
        report(&bench, About::Twin, None, &Silent).unwrap()
    };
    let machines = page("svm-machines", |text| text);
    assert!(machines.contains("at most 5% in each row, measured"));
    assert!(machines.contains("at most 5% for each row by itself"));
    let loose = page("svm-machines", |text| {
        text.replace("delta = 1e-4", "delta = 0.01")
    });
    assert!(loose.contains("it permits publishing one record outright"));
    assert!(!machines.contains("it permits publishing one record outright"));
}
