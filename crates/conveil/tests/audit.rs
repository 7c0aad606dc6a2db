//! Audits (M10): a true claim passes, a false one is flagged, the search finds what random pairs miss.

mod structure_common;

use conveil::Error;
use conveil::ask::{Adjacency, Ask, MapKind, Norm, Privacy, Query, Request, Sampled, Universe};
use conveil::audit::{Audit, AuditReport, Verdict, Witness, quick};
use conveil::noise::Sampler;
use conveil::plan::{BasisKind, Plan};
use conveil::program::{Affine, AffineMap, Builder, DataMap};
use conveil::solve::{Batch, Cancel, Settings};
use structure_common::{interval_lp, message, sampled};

/// min ½‖w‖² − (Mθ)'w, walls far away: w̄ = Mθ, whatever the noise.
fn linear(matrix: &[Vec<f64>]) -> AffineMap {
    let mut m = Builder::new();
    let w = m.variable("w", matrix.len());
    let entries = matrix[0].len();
    let theta: Vec<_> = (0..entries)
        .map(|i| m.parameter(&format!("t{i}")))
        .collect();
    for (j, row) in matrix.iter().enumerate() {
        m.quadratic(j, j, 1.0);
        for (t, a) in theta.iter().zip(row) {
            m.minimize(-*a * (*t * w.at(j)));
        }
        m.between(&format!("w{j}"), -1e4, w.at(j), 1e4);
    }
    m.build_map().unwrap()
}

/// Entries of either sign, without structure.
fn matrix(rows: usize, columns: usize) -> Vec<Vec<f64>> {
    let mut sampler = Sampler::new(8, 1);
    let mut row = |_| (0..columns).map(|_| sampler.unit_normal()).collect();
    (0..rows).map(&mut row).collect()
}

fn times(matrix: &[Vec<f64>], v: &[f64]) -> Vec<f64> {
    let dot = |row: &Vec<f64>| row.iter().zip(v).map(|(a, b)| a * b).sum();
    matrix.iter().map(dot).collect()
}

fn declared(privacy: Privacy, adjacency: Adjacency, bound: f64) -> Ask {
    Ask::new(Query::Identity)
        .adjacency(adjacency)
        .privacy(privacy)
        .declared(bound, "for the test")
        .feasible(0.99)
}

fn audited(map: &AffineMap, ask: Ask, audit: &Audit) -> AuditReport {
    let plan = Plan::new(map, ask).unwrap();
    audit.run(&plan, &Batch::new()).unwrap()
}

const LAWS: [Privacy; 3] = [
    Privacy::Laplace { epsilon: 0.8 },
    Privacy::Gaussian {
        epsilon: 0.8,
        delta: 1e-4,
        calibration: conveil::ask::Calibration::Analytic,
    },
    Privacy::TruncatedLaplace {
        epsilon: 0.8,
        delta: 1e-2,
    },
];

#[test]
fn a_true_bound_passes_and_its_half_is_flagged_with_a_witness_that_replays() {
    let map = linear(&[vec![2.0, -1.0]]);
    let universe = Universe::around(vec![3.0, 5.0], vec![4.0, 4.0]).unwrap();
    let audit = Audit::new().pairs(50).universe(universe).solves(300);
    // One entry moves by ½: the answer by at most 1, and by exactly that.
    let adjacency = Adjacency::one_entry(0.5);
    for privacy in LAWS {
        for step in [None, Some(0.2)] {
            let coarse = |ask: Ask| match (step, privacy) {
                // A Gaussian must not take half of its δ from the lattice.
                (Some(step), Privacy::Laplace { .. } | Privacy::TruncatedLaplace { .. }) => {
                    ask.lattice(step)
                }
                _ => ask,
            };
            let right = audited(&map, coarse(declared(privacy, adjacency, 1.0)), &audit);
            assert_eq!(right.verdict, Verdict::NoneFound, "{right}");
            assert!((right.tightness - 1.0).abs() < 1e-6, "{}", right.tightness);
            assert!(right.audited_epsilon <= 0.8 * (1.0 + 1e-6));
            assert_eq!((right.share.within, right.share.pairs), (50, 50));
            let worst = right.witness().unwrap().loss;
            assert!(worst.on_lattice <= worst.movement + right.step * (1.0 + 1e-9));

            let half = Plan::new(&map, coarse(declared(privacy, adjacency, 0.5))).unwrap();
            let wrong = audit.run(&half, &Batch::new()).unwrap();
            assert!(wrong.is_flagged(), "{wrong}");
            assert!((wrong.tightness - 2.0).abs() < 1e-6);
            assert!(wrong.audited_epsilon > 1.1, "{}", wrong.audited_epsilon);
            let text = wrong.witness().unwrap().to_json();
            let witness = Witness::from_json(&text).unwrap();
            let replay = witness.replay(&half).unwrap();
            assert!(
                replay.reproduces && replay.adjacent && replay.same_noise,
                "{replay}"
            );
            assert!(replay.is_flagged() && replay.to_string().contains("FLAGGED"));
            // Under the right noise the same pair is within the claim.
            let plan = Plan::new(&map, coarse(declared(privacy, adjacency, 1.0))).unwrap();
            let replay = witness.replay(&plan).unwrap();
            assert!(!replay.is_flagged() && !replay.same_noise && !replay.reproduces);
        }
    }
}

#[test]
fn movement_is_measured_in_the_shape_of_the_noise() {
    // T⁻¹ = diag(½, ¼): the second entry moves by 3, which is ¾ of the noise's unit there, the first by 1, which is ½.
    let map = linear(&[vec![1.0, 0.0], vec![0.0, 3.0]]);
    let universe = Universe::around(vec![0.0; 2], vec![5.0; 2]).unwrap();
    let audit = Audit::new().universe(universe).pairs(20).solves(200);
    for (bound, verdict) in [(0.75, Verdict::NoneFound), (0.5, Verdict::Flagged)] {
        let ask = declared(LAWS[0], Adjacency::one_entry(1.0), bound)
            .shape(vec![vec![2.0, 0.0], vec![0.0, 4.0]]);
        let report = audited(&map, ask, &audit);
        assert_eq!(report.verdict, verdict, "{report}");
        assert!((report.tightness - 0.75 / bound).abs() < 1e-6, "{report}");
    }
}

#[test]
fn the_search_finds_the_true_maximum_where_random_pairs_do_not() {
    let (rows, columns) = (3, 10);
    let m = matrix(rows, columns);
    let map = linear(&m);
    let half_width: Vec<f64> = (0..columns).map(|i| 0.5 + 0.1 * i as f64).collect();
    let universe = Universe::around(vec![1.0; columns], half_width.clone()).unwrap();
    let audit = Audit::new().universe(universe).pairs(100).seed(3);
    let corner = |pattern: usize| -> Vec<f64> {
        let sign = |i: usize| if pattern >> i & 1 == 1 { -1.0 } else { 1.0 };
        (0..columns)
            .map(|i| 2.0 * sign(i) * half_width[i])
            .collect()
    };
    for (privacy, norm) in [(LAWS[0], Norm::L1), (LAWS[1], Norm::L2)] {
        let report = audited(&map, declared(privacy, Adjacency::Universe, 100.0), &audit);
        let brute = (0..1usize << columns)
            .map(|pattern| norm.of(&times(&m, &corner(pattern))))
            .fold(0.0, f64::max);
        let found = report.witness().unwrap().loss.movement;
        assert!((found / brute - 1.0).abs() < 1e-6, "{found} of {brute}");
        let gain = report.search.as_ref().unwrap().gain.unwrap();
        assert!(gain > 1.4, "{gain}: {report}");
    }
}

#[test]
fn the_search_knows_the_ends_of_every_adjacency() {
    let (rows, columns) = (2, 8);
    let m = matrix(rows, columns);
    let map = linear(&m);
    let column = |i: usize| -> Vec<f64> { m.iter().map(|row| row[i]).collect() };
    let box_of = Universe::around(vec![0.0; columns], vec![1.0; columns]).unwrap();
    let discs = Universe::discs(vec![0.0; columns], vec![1.0; columns / 2], 2).unwrap();
    let largest_column = (0..columns)
        .map(|i| Norm::L1.of(&column(i)))
        .fold(0.0, f64::max);
    // The largest singular value, from the 2 × 2 matrix MM'.
    let gram = |i: usize, j: usize| m[i].iter().zip(&m[j]).map(|(a, b)| a * b).sum::<f64>();
    let (a, b, c) = (gram(0, 0), gram(0, 1), gram(1, 1));
    let singular = (0.5 * (a + c) + (0.25 * (a - c).powi(2) + b * b).sqrt()).sqrt();
    // A record in a disc of diameter 2: the best angle, by brute force.
    let record = (0..columns / 2)
        .flat_map(|k| {
            let (x, y) = (column(2 * k), column(2 * k + 1));
            (0..10_000).map(move |t| {
                let (sin, cos) = (f64::from(t) * 1e-4 * std::f64::consts::PI).sin_cos();
                let along = |j: usize| 2.0 * (cos * x[j] + sin * y[j]).abs();
                along(0) + along(1)
            })
        })
        .fold(0.0, f64::max);
    let cases = [
        (
            Adjacency::one_entry(0.3),
            LAWS[0],
            &box_of,
            0.3 * largest_column,
        ),
        (
            Adjacency::L1 { alpha: 0.3 },
            LAWS[0],
            &discs,
            0.3 * largest_column,
        ),
        (
            Adjacency::L2 { alpha: 0.3 },
            LAWS[1],
            &box_of,
            0.3 * singular,
        ),
        (Adjacency::OneRecord { len: 2 }, LAWS[0], &discs, record),
    ];
    for (adjacency, privacy, universe, largest) in cases {
        let audit = Audit::new()
            .universe(universe.clone())
            .pairs(30)
            .solves(1500);
        let report = audited(&map, declared(privacy, adjacency, 50.0), &audit);
        let witness = report.witness().unwrap();
        let found = witness.loss.movement;
        assert!(
            found <= largest * (1.0 + 1e-6) && found >= 0.9999 * largest,
            "{adjacency}: {found} of {largest}"
        );
        assert!(adjacency.relates(&witness.first, &witness.second));
        assert!(universe.contains(&witness.first) && universe.contains(&witness.second));
    }
}

#[test]
fn a_kink_that_only_a_whole_group_reaches_is_found() {
    // Twelve loads share a cheap plant of 22 units; beyond it a unit costs 10, not 1. Loads between 0 and 2: random
    // pairs see a price of 1, all loads up see 10.
    let mut m = Builder::new();
    let x = m.variable("plants", 2);
    let loads: Vec<_> = (0..12).map(|i| m.parameter(&format!("load {i}"))).collect();
    m.minimize(x.at(0) + 10.0 * x.at(1));
    let total = loads
        .iter()
        .fold(Affine::constant(0.0), |sum, l| sum + 1.0 * *l);
    m.equal("balance", x.at(0) + x.at(1), total);
    m.between("cheap", -40.0, x.at(0), 22.0);
    m.between("dear", 0.0, x.at(1), 40.0);
    let map = m.build_map().unwrap();
    let universe = Universe::around(vec![1.0; 12], vec![1.0; 12]).unwrap();
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(0.01))
        .privacy(Privacy::laplace(1.0))
        .declared(0.01, "the price of the cheap plant: wrong")
        .feasible(0.95);
    let audit = Audit::new().universe(universe).pairs(100);
    let plan = Plan::new(&map, ask).unwrap();
    let report = audit.run(&plan, &Batch::new()).unwrap();
    assert!((report.movements.max - 0.01).abs() < 1e-6, "{report}");
    assert!((report.tightness - 10.0).abs() < 1e-3, "{report}");
    assert!(report.is_flagged() && (report.audited_epsilon - 10.0).abs() < 1e-2);
    let measured = audit.sensitivity(&plan, &Batch::new()).unwrap();
    assert!(
        (measured.released.searched - 0.1).abs() < 1e-5,
        "{measured}"
    );
    assert!(
        (measured.deterministic.searched - 0.1).abs() < 1e-5,
        "{measured}"
    );
    let text = measured.to_string();
    assert!(text.contains("MORE than the noise covers"), "{text}");
}

/// A support vector machine on private points of two Gaussian classes: y(w'x − b) ≥ 1 − z, z ≥ 0.
fn svm(points: usize, lambda: f64) -> (AffineMap, Vec<f64>) {
    let mut sampler = Sampler::new(5, 5);
    let mut m = Builder::new();
    let w = m.variable("w", 2);
    let b = m.variable("b", 1);
    let z = m.auxiliary("z", points);
    let mut theta = Vec::new();
    for i in 0..points {
        let class = if i % 2 == 0 { 1.0 } else { -1.0 };
        let x = [0, 1].map(|k| m.parameter(&format!("x{i}_{k}")));
        theta.extend([0, 1].map(|_| class + 0.7 * sampler.unit_normal()));
        let score = class * (x[0] * w.at(0)) + class * (x[1] * w.at(1)) - class * b.at(0);
        m.at_most(&format!("margin {i}"), 1.0, score + z.at(i));
        m.at_most(&format!("slack {i}"), 0.0, z.at(i));
        m.minimize(1.0 / points as f64 * z.at(i));
    }
    for j in 0..3 {
        m.quadratic(j, j, 2.0 * lambda);
    }
    (m.build_map().unwrap(), theta)
}

#[test]
fn paper_mode_on_a_support_vector_machine_is_flagged() {
    let (map, theta) = svm(40, 1e-2);
    for (privacy, several) in [
        (Privacy::laplace(1.0), 3.0),
        (Privacy::gaussian(1.0, 0.01), 2.0),
    ] {
        let discs = Universe::discs(vec![0.0; theta.len()], vec![0.1; theta.len() / 2], 2).unwrap();
        let ask = Ask::new(Query::Variables(vec!["w".into(), "b".into()]))
            .adjacency(Adjacency::Universe)
            .privacy(privacy)
            .sensitivity(sampled(discs, 0.1, 0.1, MapKind::Deterministic))
            .feasible(0.9);
        let plan = Plan::paper_mode(&map, ask, &theta).unwrap();
        let report = Audit::new()
            .pairs(60)
            .solves(1500)
            .run(&plan, &Batch::new())
            .unwrap();
        assert!(report.is_flagged(), "{report}");
        assert!(report.audited_epsilon > several, "{report}");
        assert!(
            report.search.as_ref().unwrap().gain.unwrap() > 1.4,
            "{report}"
        );
        assert_eq!(report.basis, BasisKind::PaperMode);
        assert!(report.source.contains("around the private data"));
        assert!(report.beside().starts_with("claimed ε = 1, audited ε ≥ "));
        println!("{}", report.beside());
        assert!(report.witness().unwrap().replay(&plan).unwrap().reproduces);
    }
}

#[test]
fn a_sampled_basis_is_held_to_its_share_not_to_every_pair() {
    let map = linear(&matrix(2, 6));
    let universe = Universe::around(vec![0.0; 6], vec![2.0; 6]).unwrap();
    let request = |gamma, beta| sampled(universe.clone(), gamma, beta, MapKind::Released);
    let ask = |request: Request| {
        Ask::new(Query::Identity)
            .adjacency(Adjacency::Universe)
            .privacy(Privacy::laplace(1.0))
            .sensitivity(request)
            .feasible(0.9)
    };
    // β = 1e-6 for the calibration and 1e-6 for the audit's own bound.
    let audit = Audit::new().pairs(400).seed(77).solves(200);
    let kept = audited(&map, ask(request(0.2, 1e-6)), &audit);
    assert_eq!(kept.verdict, Verdict::OutsideTheShare, "{kept}");
    assert_eq!(kept.promised_share, Some(0.8));
    assert!(kept.share.at_most >= 0.8);
    // A calibration that is wrong most of the time, on a few pairs: some seeds are caught, and where only some
    // pairs lie above ε, the verdict says that the basis allows them.
    let mut verdicts = Vec::new();
    for seed in 0..12 {
        let Request::Sampled(request) = request(0.2, 0.9) else {
            unreachable!("just made");
        };
        let ask = ask(Request::Sampled(Sampled { seed, ..request }));
        let report = audited(&map, ask, &Audit::new().pairs(300).climbs(0));
        if report.verdict == Verdict::OutsideTheShare {
            assert!(
                report
                    .verdict_text()
                    .contains("promises ε = 1 for a share 0.8 of pairs only")
            );
        }
        verdicts.push(report.verdict);
    }
    println!("{verdicts:?}");
    assert!(
        verdicts.contains(&Verdict::Flagged) && verdicts.contains(&Verdict::OutsideTheShare),
        "{verdicts:?}"
    );
}

#[test]
fn an_audit_is_the_same_for_any_number_of_threads_and_follows_its_seed() {
    let m = matrix(2, 6);
    let map = linear(&m);
    let universe = Universe::around(vec![0.0; 6], vec![1.0; 6]).unwrap();
    let plan = Plan::new(&map, declared(LAWS[0], Adjacency::L2 { alpha: 0.5 }, 5.0)).unwrap();
    let audit = Audit::new().universe(universe).pairs(20).solves(300);
    let json = |audit: &Audit, threads: usize| {
        let report = audit.run(&plan, &Batch::new().threads(threads)).unwrap();
        serde_json::to_string(&report).unwrap()
    };
    let one = json(&audit, 1);
    assert_eq!(one, json(&audit, 2));
    assert_eq!(one, json(&audit, 5));
    assert_ne!(one, json(&audit.clone().seed(2), 2));
}

#[test]
fn an_audit_can_be_interrupted_and_shows_progress() {
    let map = linear(&matrix(2, 6));
    let universe = Universe::around(vec![0.0; 6], vec![1.0; 6]).unwrap();
    let plan = Plan::new(&map, declared(LAWS[0], Adjacency::one_entry(0.5), 5.0)).unwrap();
    let audit = Audit::new().universe(universe).pairs(10);
    // After the random pairs, in the middle of the search.
    let cancel = Cancel::default();
    let flag = cancel.clone();
    let seen = std::sync::atomic::AtomicUsize::new(0);
    let batch = Batch::new().threads(1).cancel(cancel).progress(|_, _| {
        if seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 30 {
            flag.raise();
        }
    });
    assert!(matches!(audit.run(&plan, &batch), Err(Error::Cancelled)));
    assert!(matches!(
        audit.sensitivity(&plan, &batch),
        Err(Error::Cancelled)
    ));
    // A raised flag of the plan's own solves counts, too.
    let cancel = Cancel::default();
    let settings = Settings::default().with_cancel(cancel.clone());
    let ask = declared(LAWS[0], Adjacency::one_entry(0.5), 5.0).settings(settings);
    let plan = Plan::new(&map, ask).unwrap();
    cancel.raise();
    assert!(matches!(
        audit.run(&plan, &Batch::new()),
        Err(Error::Cancelled)
    ));
}

#[test]
fn pairs_without_an_answer_are_counted_and_never_within() {
    // min x, l ≤ x ≤ 1 with l up to 1.5: infeasible above about 0.9.
    let map = interval_lp(1.0, 1.0);
    let universe = Universe::around(vec![0.0], vec![1.5]).unwrap();
    let ask = Ask::cost()
        .adjacency(Adjacency::one_entry(0.01))
        .privacy(Privacy::laplace(1.0))
        .declared(0.01, "x = l")
        .feasible(0.95);
    let report = audited(&map, ask, &Audit::new().universe(universe).pairs(100));
    let failed = report.failures.len() as u64;
    assert!(
        failed > 5 && report.share.within == 100 - failed,
        "{report}"
    );
    assert!(report.losses.max.is_infinite() && report.losses.q50 <= 1.0);
    assert_eq!(report.verdict, Verdict::NoneFound);
    let text = report.to_string();
    assert!(text.contains("without an answer: "), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    assert!(json["losses"]["max"].is_null());
    assert!(report.search.unwrap().failures > 0);
}

#[test]
fn the_report_says_whose_it_is_and_never_that_a_plan_is_private() {
    let map = linear(&[vec![1.0]]);
    let bounded: Vec<_> = map
        .parameters()
        .iter()
        .map(|p| p.into_owned().clipped(0.0, 4.0))
        .collect();
    let map = AffineMap::new(map.template().clone(), bounded).unwrap();
    let plan = Plan::new(&map, declared(LAWS[0], Adjacency::one_entry(0.5), 0.5)).unwrap();
    let report = quick(&plan, &Batch::new()).unwrap();
    let text = report.to_string();
    assert!(
        text.starts_with(
            "AUDIT: curator only, not to be published\nclaimed ε = 0.8, audited ε ≥ 0.8\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("verdict: no pair found above the claim; that is no proof"),
        "{text}"
    );
    assert!(text.contains("pairs from: a box of 1 entries"), "{text}");
    assert!(!text.contains("private"), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    let keys: Vec<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    for key in [
        "private",
        "verdict",
        "claimed_epsilon",
        "claimed_delta",
        "audited_epsilon",
        "basis",
        "sensitivity",
        "losses",
        "movements",
        "share",
        "failures",
        "search",
        "tightness",
        "worst",
        "margin",
        "source",
    ] {
        assert!(keys.contains(&key), "{key}: {keys:?}");
    }
    assert_eq!(json["private"], true);
    assert_eq!(json["verdict"], "none-found");
    assert_eq!(json["worst"]["format"], "conveil-witness");
    assert_eq!(json["worst"]["parameters"][0], "t0");
}

#[test]
fn an_audit_says_what_it_lacks() {
    let map = linear(&[vec![1.0]]);
    let plan = Plan::new(&map, declared(LAWS[0], Adjacency::one_entry(0.5), 0.5)).unwrap();
    let batch = Batch::new();
    assert_eq!(
        message(Audit::new().run(&plan, &batch)),
        "an audit needs a public set of datasets to draw pairs from: state a universe, or public bounds for every private parameter (`t0` has none)"
    );
    let one = Universe::around(vec![0.0], vec![1.0]).unwrap();
    assert_eq!(
        message(
            Audit::new()
                .universe(one.clone())
                .pairs(0)
                .run(&plan, &batch)
        ),
        "an audit needs between 1 and 10000000 pairs, found 0"
    );
    let two = Universe::around(vec![0.0; 2], vec![1.0; 2]).unwrap();
    assert_eq!(
        message(Audit::new().universe(two).run(&plan, &batch)),
        "the universe has 2 entries, but the model has 1 private parameters"
    );
    let report = Audit::new()
        .universe(one)
        .pairs(3)
        .climbs(0)
        .run(&plan, &batch)
        .unwrap();
    let witness = report.witness().unwrap();
    let other = linear(&[vec![1.0, 2.0]]);
    let plan = Plan::new(&other, declared(LAWS[0], Adjacency::one_entry(0.5), 0.5)).unwrap();
    assert_eq!(
        message(witness.replay(&plan)),
        "the witness is of another model: it has the private parameters `t0`, this one `t0`, `t1`"
    );
    assert!(
        message(Witness::from_json("{}")).starts_with("this is not a witness file: missing field")
    );
    let future = witness
        .to_json()
        .replace("\"version\": 1", "\"version\": 9");
    assert_eq!(
        message(Witness::from_json(&future)),
        "a witness file of format conveil-witness, version 1, was expected, found \"conveil-witness\", version 9"
    );
}
