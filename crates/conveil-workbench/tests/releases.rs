//! Releases through the library: the order of effects, whatever the recipient and the observer do.

mod places;

use std::sync::Mutex;

use conveil::solve::Cancel;
use conveil_release::Card;
use conveil_workbench::{
    Account, Answer, Delivery, Failure, Kind, Observer, Recipient, Releasing, Row, Silent, Spent,
    Stage, Workbench,
};
use places::{FEASIBLE, INFEASIBLE, Place};

/// Writes down what happens, and raises its flag where it is told to.
#[derive(Default)]
struct Recorder {
    events: Mutex<Vec<String>>,
    cancel: Cancel,
    raise_after: Option<Stage>,
}

impl Recorder {
    fn record(&self, event: String) {
        self.events.lock().unwrap().push(event);
    }
}

impl Observer for Recorder {
    fn begin(&self, stage: Stage) {
        self.record(format!("{} begins", stage.name()));
    }

    fn end(&self, stage: Stage) {
        self.record(format!("{} ends", stage.name()));
        if self.raise_after == Some(stage) {
            self.cancel.raise();
        }
    }

    fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }
}

/// A recipient that writes down what the ledger holds when it is called, and refuses one of its calls.
struct Watcher<'w> {
    place: &'w Place,
    recorder: &'w Recorder,
    refuses: Option<&'static str>,
    cards: Vec<Card>,
}

impl<'w> Watcher<'w> {
    fn new(place: &'w Place, recorder: &'w Recorder, refuses: Option<&'static str>) -> Self {
        Watcher {
            place,
            recorder,
            refuses,
            cards: Vec::new(),
        }
    }

    fn called(&self, what: &'static str) -> Result<(), Failure> {
        let charges = self.place.charges();
        self.recorder.record(format!("{what}, charges: {charges}"));
        match self.refuses == Some(what) {
            true => Err(Failure::new(Kind::NotWritten, "the desk is closed")),
            false => Ok(()),
        }
    }
}

impl Recipient for Watcher<'_> {
    fn prepare(&mut self, rows: &[Row]) -> Result<(), Failure> {
        assert_eq!(rows.iter().map(|row| row.number).collect::<Vec<_>>(), [1]);
        self.called("prepare")
    }

    fn ready(&mut self) -> Result<(), Failure> {
        self.called("ready")
    }

    fn deliver(&mut self, delivery: &Delivery<'_>) -> Result<(), Failure> {
        self.cards.push(delivery.card().clone());
        self.called("deliver")
    }
}

const WITH_ALL: Releasing = Releasing {
    row: None,
    decision: true,
    report: true,
    account: Account::Ledger,
    until_spent: false,
    strict: false,
};

#[test]
fn a_release_checks_then_charges_then_solves_then_delivers() {
    let place = Place::with_ledger("order", FEASIBLE);
    let recorder = Recorder::default();
    let mut watcher = Watcher::new(&place, &recorder, None);
    let bench = place.bench();
    bench.release(&WITH_ALL, &mut watcher, &recorder).unwrap();
    assert_eq!(
        *recorder.events.lock().unwrap(),
        [
            "plan begins",
            "plan ends",
            "prepare, charges: 0",
            "ready, charges: 0",
            "charge begins",
            "charge ends",
            "solve and draw begins",
            "solve and draw ends",
            "deliver, charges: 1",
        ]
    );
}

#[test]
fn a_recipient_that_is_not_ready_costs_nothing() {
    for refuses in ["prepare", "ready"] {
        let place = Place::with_ledger(&format!("not-ready-{refuses}"), FEASIBLE);
        let recorder = Recorder::default();
        let mut watcher = Watcher::new(&place, &recorder, Some(refuses));
        let refused = place.bench().release(&WITH_ALL, &mut watcher, &recorder);
        let refused = refused.unwrap_err();
        assert_eq!(refused.failure.kind(), Kind::NotWritten);
        assert!(!refused.failure.is_recorded());
        assert!(refused.answer.is_none());
        assert_eq!(place.charges(), 0, "{refuses}");
        let events = recorder.events.lock().unwrap();
        assert!(!events.iter().any(|e| e.starts_with("solve")), "{events:?}");
    }
}

#[test]
fn what_cannot_be_delivered_stays_charged_and_comes_back() {
    let place = Place::with_ledger("undelivered", FEASIBLE);
    let recorder = Recorder::default();
    let mut watcher = Watcher::new(&place, &recorder, Some("deliver"));
    let failed = place.bench().release(&WITH_ALL, &mut watcher, &recorder);
    let failed = failed.unwrap_err();
    assert_eq!(place.charges(), 1);
    assert_eq!(failed.failure.kind(), Kind::NotWritten);
    assert!(failed.failure.is_recorded());
    assert_eq!(
        failed.to_string(),
        "the budget stays spent (charge 1 of dataset \"limits\"), but: the desk is closed"
    );
    // The same draw, not another one.
    let answer = failed.answer.expect("the answer comes back");
    assert_eq!(vec![answer.card], watcher.cards);
    assert!(answer.decision.is_some());
}

/// Whatever kind a recipient gives its failure: there is an answer, so the data are not at fault.
#[test]
fn a_recipient_that_blames_the_input_has_not_delivered() {
    struct Blaming;
    impl Recipient for Blaming {
        fn deliver(&mut self, _: &Delivery<'_>) -> Result<(), Failure> {
            Err(Failure::input("no such place"))
        }
    }
    let place = Place::with_ledger("blaming", FEASIBLE);
    let failed = place.bench().release(&WITH_ALL, &mut Blaming, &Silent);
    let failed = failed.unwrap_err();
    assert_eq!(failed.failure.kind(), Kind::Undelivered);
    assert!(failed.failure.is_recorded() && failed.answer.is_some());
    assert_eq!(place.charges(), 1);
    // What is not private charges nothing, and its failure stays what it is.
    let account = Account::NotPrivate { seed: Some(1) };
    let study = Releasing {
        account,
        ..WITH_ALL
    };
    let failed = place.bench().release(&study, &mut Blaming, &Silent);
    let failure = failed.unwrap_err().failure;
    assert_eq!(
        (failure.kind(), failure.is_recorded()),
        (Kind::Input, false)
    );
}

#[test]
fn a_failed_solve_stays_charged() {
    let place = Place::with_ledger("failed-solve", INFEASIBLE);
    let mut answers: Vec<Answer> = Vec::new();
    let failed = place.bench().release(&WITH_ALL, &mut answers, &Silent);
    let failed = failed.unwrap_err();
    assert!(answers.is_empty());
    assert!(failed.answer.is_none());
    assert_eq!(failed.failure.kind(), Kind::NoSolution);
    assert!(failed.failure.is_recorded());
    let charged = "the budget stays spent (charge 1 of dataset \"limits\"), but: ";
    assert!(failed.to_string().starts_with(charged), "{failed}");
    assert_eq!(place.charges(), 1);
}

#[test]
fn an_interruption_before_the_charge_costs_nothing() {
    let place = Place::with_ledger("interrupted-before", FEASIBLE);
    let recorder = Recorder {
        raise_after: Some(Stage::Plan),
        ..Recorder::default()
    };
    let mut watcher = Watcher::new(&place, &recorder, None);
    let stopped = place.bench().release(&WITH_ALL, &mut watcher, &recorder);
    let stopped = stopped.unwrap_err();
    assert_eq!(stopped.failure.kind(), Kind::Interrupted);
    assert_eq!(stopped.to_string(), "interrupted; nothing was charged");
    assert!(!stopped.failure.is_recorded());
    assert_eq!(place.charges(), 0);
    assert!(watcher.cards.is_empty());
}

#[test]
fn an_interruption_after_the_charge_leaves_it_spent() {
    let place = Place::with_ledger("interrupted-after", FEASIBLE);
    let recorder = Recorder {
        raise_after: Some(Stage::Charge),
        ..Recorder::default()
    };
    let mut watcher = Watcher::new(&place, &recorder, None);
    let stopped = place.bench().release(&WITH_ALL, &mut watcher, &recorder);
    let stopped = stopped.unwrap_err();
    assert_eq!(stopped.failure.kind(), Kind::Interrupted);
    assert!(stopped.failure.is_recorded());
    assert_eq!(place.charges(), 1);
    assert!(watcher.cards.is_empty());
}

/// Takes this many answers, then no more.
struct Full {
    room: usize,
    taken: Vec<Answer>,
}

impl Recipient for Full {
    fn deliver(&mut self, delivery: &Delivery<'_>) -> Result<(), Failure> {
        if self.taken.len() == self.room {
            return Err(Failure::new(Kind::Undelivered, "no room"));
        }
        self.taken.push(delivery.to_answer());
        Ok(())
    }
}

#[test]
fn a_series_stops_at_the_answer_that_cannot_be_delivered() {
    let place = Place::with_series("series", 3);
    let mut full = Full {
        room: 1,
        taken: Vec::new(),
    };
    let releasing = Releasing::default();
    let failed = place.bench().release(&releasing, &mut full, &Silent);
    let failed = failed.unwrap_err();
    assert_eq!(failed.failure.kind(), Kind::Undelivered);
    assert_eq!(
        failed.to_string(),
        "row 2 of the series (1 answer was released before it): the budget stays spent (charge 2 of dataset \"limits\"), but: no room"
    );
    assert_eq!(full.taken.len(), 1);
    assert_eq!(failed.answer.map(|answer| answer.row), Some(2));
    // The third row is neither charged nor solved.
    assert_eq!(place.charges(), 2);
}

#[test]
fn private_documents_are_handed_over_only_where_they_are_asked_for() {
    let place = Place::with_ledger("asked-for", FEASIBLE);
    let mut answers: Vec<Answer> = Vec::new();
    let bench = place.bench();
    let card_alone = Releasing::default();
    bench.release(&card_alone, &mut answers, &Silent).unwrap();
    bench.release(&WITH_ALL, &mut answers, &Silent).unwrap();
    assert!(answers[0].decision.is_none() && answers[0].report.is_none());
    assert!(answers[1].decision.is_some() && answers[1].report.is_some());
    let document = serde_json::to_value(&answers[1]).unwrap();
    assert_eq!(document["row"], 1);
    assert_eq!(document["report"]["private"], true);
}

#[test]
fn what_is_not_private_charges_nothing_and_says_so() {
    struct Free(Vec<Card>);
    impl Recipient for Free {
        fn ready(&mut self) -> Result<(), Failure> {
            panic!("there is no charge to be ready for")
        }

        fn deliver(&mut self, delivery: &Delivery<'_>) -> Result<(), Failure> {
            assert_eq!(*delivery.spent(), Spent::Nothing);
            self.0.push(delivery.card().clone());
            Ok(())
        }
    }
    let place = Place::with_ledger("not-private", FEASIBLE);
    let seeded = Releasing {
        account: Account::NotPrivate { seed: Some(7) },
        ..Releasing::default()
    };
    let mut free = Free(Vec::new());
    let bench = place.bench();
    bench.release(&seeded, &mut free, &Silent).unwrap();
    bench.release(&seeded, &mut free, &Silent).unwrap();
    assert_eq!(free.0[0].answer(), free.0[1].answer());
    assert!(free.0[0].to_string().contains("NOT PRIVATE"));
    assert_eq!(place.charges(), 0);
}

#[test]
fn two_workbenches_and_two_threads_keep_apart() {
    let place = Place::with_ledger("apart-one", FEASIBLE);
    let other = Place::with_ledger("apart-other", INFEASIBLE);
    let (bench, failing) = (place.bench(), other.bench());
    std::thread::scope(|scope| {
        // One workbench, shared by two threads; another one that fails beside it.
        let releases = [&bench, &bench].map(|bench| {
            scope.spawn(|| {
                let mut answers: Vec<Answer> = Vec::new();
                let released = bench.release(&Releasing::default(), &mut answers, &Silent);
                released.map(|()| answers.len())
            })
        });
        let failed = scope.spawn(|| {
            let mut answers: Vec<Answer> = Vec::new();
            failing.release(&Releasing::default(), &mut answers, &Silent)
        });
        for released in releases {
            assert_eq!(released.join().unwrap().unwrap(), 1);
        }
        let failed = failed.join().unwrap().unwrap_err();
        assert_eq!(failed.failure.kind(), Kind::NoSolution);
    });
    assert_eq!((place.charges(), other.charges()), (2, 1));
}

#[test]
fn a_workbench_can_be_sent_and_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Workbench>();
    shared::<Failure>();
    shared::<Answer>();
}

#[test]
fn settings_moved_after_a_look_are_stamped_on_the_card() {
    let place = Place::with_ledger("moved", FEASIBLE);
    let stamps = |bench: &Workbench| {
        let mut answers: Vec<Answer> = Vec::new();
        bench.release(&WITH_ALL, &mut answers, &Silent).unwrap();
        let card = &answers[0].card;
        assert!(card.stamps().iter().all(|s| card.to_json().contains(s)));
        card.stamps().to_vec()
    };
    let moved = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
        place.bench().moved_after_looking(&settings)
    };
    let is_stamp = |stamp: &String| stamp.starts_with("NOT COVERED BY THE GUARANTEE");
    assert!(!stamps(&place.bench()).iter().any(is_stamp));
    assert!(!stamps(&moved(&[])).iter().any(is_stamp));
    let bench = moved(&["epsilon", "eta"]);
    // On every card from then on.
    for _ in 0..2 {
        let stamps = stamps(&bench);
        let found: Vec<&String> = stamps.iter().filter(|s| is_stamp(s)).collect();
        assert_eq!(found.len(), 1, "{stamps:?}");
        assert!(found[0].contains("the choice of epsilon, eta, moved after"));
    }
}
