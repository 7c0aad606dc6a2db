//! Saved problems that are right: their values, and the way there and back.

mod seeded;

use conveil_text::problem::{SavedCone, SavedMatrix, SavedProblem, read, to_json};
use seeded::Seeded;

const QUADRATIC: &str = include_str!("../../../fuzz/seeds/problem/quadratic.json");
const EVERY_CONE: &str = include_str!("../../../fuzz/seeds/problem/every-cone.json");
const SPACED: &str = include_str!("../../../fuzz/seeds/problem/spaced.json");

fn good(text: &str) -> SavedProblem {
    match read("p.json", text) {
        Ok(problem) => problem,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn every_part_is_read() {
    let problem = good(QUADRATIC);
    let entries: Vec<_> = problem.p.entries().collect();
    assert_eq!(
        entries,
        [
            (0, 0, 4.000000000000001),
            (0, 1, 2.0000000000000004),
            (1, 1, 0.1)
        ]
    );
    assert_eq!(problem.q, [-8.0, 1e-300]);
    assert_eq!((problem.a.rows, problem.a.columns), (4, 2));
    assert_eq!(problem.b[2], 5e-324);
    assert!(problem.b[1].is_sign_negative());
    assert_eq!(
        problem.cones,
        [SavedCone::Zero(1), SavedCone::Nonnegative(3)]
    );
}

#[test]
fn every_cone_is_read() {
    let exponents = vec![0.5, 0.5];
    assert_eq!(
        good(EVERY_CONE).cones,
        [
            SavedCone::SecondOrder(3),
            SavedCone::Exponential,
            SavedCone::Power(0.25),
            SavedCone::GeneralisedPower {
                exponents,
                dimension: 2
            },
            SavedCone::PsdTriangle(2)
        ]
    );
}

#[test]
fn order_spaces_and_settings_do_not_matter() {
    let problem = good(SPACED);
    assert_eq!(problem.p.nzval, [0.25]);
    assert_eq!(problem.b, [3.0]);
}

#[test]
fn written_text_is_read_and_written_again_unchanged() {
    for text in [QUADRATIC, EVERY_CONE] {
        assert_eq!(to_json(&good(text)), text);
    }
    let once = to_json(&good(SPACED));
    assert_eq!(to_json(&good(&once)), once);
}

/// A well-formed matrix with random finite bit patterns.
fn random_matrix(random: &mut Seeded, rows: usize, columns: usize, upper: bool) -> SavedMatrix {
    let mut matrix = SavedMatrix {
        rows,
        columns,
        colptr: vec![0],
        rowval: Vec::new(),
        nzval: Vec::new(),
    };
    for column in 0..columns {
        for row in 0..rows {
            if random.below(3) == 0 && (!upper || row <= column) {
                matrix.rowval.push(row);
                matrix.nzval.push(random_number(random, f64::MAX));
            }
        }
        matrix.colptr.push(matrix.rowval.len());
    }
    matrix
}

fn random_number(random: &mut Seeded, below: f64) -> f64 {
    loop {
        let number = f64::from_bits(random.bits());
        if number.abs() < below {
            return number;
        }
    }
}

#[test]
fn random_problems_come_back_to_the_last_bit() {
    let mut random = Seeded(1);
    for _ in 0..500 {
        let (m, n) = (1 + random.below(6), 1 + random.below(6));
        let problem = SavedProblem {
            p: random_matrix(&mut random, n, n, true),
            q: (0..n)
                .map(|_| random_number(&mut random, f64::MAX))
                .collect(),
            a: random_matrix(&mut random, m, n, false),
            b: (0..m).map(|_| random_number(&mut random, 1e19)).collect(),
            cones: (0..m).map(|_| SavedCone::Nonnegative(1)).collect(),
        };
        let text = to_json(&problem);
        let again = good(&text);
        assert_eq!(again, problem);
        // Equality does not tell the two zeros apart; the text does.
        assert_eq!(to_json(&again), text);
    }
}
