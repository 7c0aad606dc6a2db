//! θ ↦ program: the affine map against direct evaluation, and what a general map may not change.

mod structure_common;

use conveil::program::{
    AffineMap, Builder, DataMap, GeneralMap, Location, Parameter, Place, PrivateParts, Program,
};
use proptest::prelude::*;
use structure_common::message;

/// min (1 + 2θ₀)x₀ + 3x₁ s.t. x₀ + (4 − θ₁)x₁ ≤ 5 + θ₀ − θ₁, x₁ ≥ θ₁.
fn affine() -> AffineMap {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let (a, b) = (m.parameter("a"), m.parameter("b"));
    m.minimize(x.at(0) + 2.0 * (a * x.at(0)) + 3.0 * x.at(1));
    m.at_most("cap", x.at(0) + 4.0 * x.at(1) - b * x.at(1), 5.0 + (a - b));
    m.at_most("floor", b, x.at(1));
    m.build_map().unwrap()
}

fn theta() -> impl Strategy<Value = [f64; 2]> {
    [-10.0..10.0f64, -10.0..10.0f64]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(8), ..Default::default() })]

    #[test]
    fn the_affine_map_is_what_is_written(t in theta()) {
        let program = affine().at(&t).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
        prop_assert!(near(program.q()[0], 1.0 + 2.0 * t[0]) && program.q()[1] == 3.0);
        prop_assert!(program.a().get(0, 0) == 1.0 && near(program.a().get(0, 1), 4.0 - t[1]));
        prop_assert!(near(program.b()[0], 5.0 + t[0] - t[1]) && near(program.b()[1], -t[1]));
    }

    /// Affine: the value at a mixture is the mixture of the values, entry by entry.
    #[test]
    fn the_affine_map_commutes_with_mixtures(s in theta(), t in theta(), w in 0.0..1.0f64) {
        let map = affine();
        let mixed: Vec<f64> = s.iter().zip(&t).map(|(s, t)| w * s + (1.0 - w) * t).collect();
        let (p, q, r) = (map.at(&s).unwrap(), map.at(&t).unwrap(), map.at(&mixed).unwrap());
        let all = |p: &Program| [p.q(), p.b(), p.a().nzval()].concat();
        for ((a, b), c) in all(&p).iter().zip(all(&q)).zip(all(&r)) {
            prop_assert!((w * a + (1.0 - w) * b - c).abs() < 1e-12 * (1.0 + c.abs()));
        }
    }

    #[test]
    fn values_are_clipped_entry_by_entry(t in theta()) {
        let base = affine();
        let clipped: Vec<Parameter> = base.parameters().iter().map(|p| p.into_owned().clipped(-1.0, 2.0)).collect();
        let map = AffineMap::new(base.template().clone(), clipped).unwrap();
        let by_hand: Vec<f64> = t.iter().map(|v| v.clamp(-1.0, 2.0)).collect();
        prop_assert_eq!(map.at(&t).unwrap(), base.at(&by_hand).unwrap());
    }
}

#[test]
fn what_is_private_follows_from_the_places_not_from_values() {
    let map = affine();
    let parts = PrivateParts {
        p: false,
        q: true,
        a: true,
        b: true,
    };
    assert_eq!(map.private_parts(), parts);
    assert_eq!(map.private_rows(), [true, false]);
    assert_eq!(map.private_costs(), [true, false]);
    let private = map.private_coefficients();
    assert!(private.len() == 1 && private.contains(0, 1) && !private.contains(0, 0));
    assert_eq!(map.len(), 2);
    // A value of zero stays in the pattern: the structure does not tell.
    assert!(
        map.at(&[0.0, 4.0])
            .unwrap()
            .same_structure(&map.at(&[1.0, 1.0]).unwrap())
    );
}

#[test]
fn bad_data_are_refused_by_name() {
    let map = affine();
    assert_eq!(
        message(map.at(&[1.0])),
        "the data have 1 entries, but the model has 2 private parameters"
    );
    assert_eq!(
        message(map.at(&[1.0, f64::NAN])),
        "the value of `b` is NaN: it must be a finite number"
    );
    // Finite data may still overflow a bound.
    let why = message(map.at(&[1e21, 0.0]));
    assert!(
        why.starts_with("the right-hand side of `cap` is 1e21"),
        "{why}"
    );
}

#[test]
fn bad_places_are_refused_by_name() {
    let template = affine().template().clone();
    let at = |places: Vec<Location>| {
        message(AffineMap::new(
            template.clone(),
            vec![Parameter::new("p").at_all(places)],
        ))
    };
    let one = |place| vec![Location::new(place, 1.0)];
    assert_eq!(
        at(one(Place::B(2))),
        "parameter `p` enters at b[2], but the program has 2 rows and 2 columns"
    );
    assert_eq!(
        at(one(Place::Q(2))),
        "parameter `p` enters at q[2], but the program has 2 rows and 2 columns"
    );
    assert_eq!(
        at(one(Place::A(1, 0))),
        "parameter `p` enters at A[1, 0], which is not in A's pattern: store an explicit zero there"
    );
    assert_eq!(
        at(vec![Location::new(Place::B(0), 0.0)]),
        "parameter `p` at b[0] has coefficient 0: it must be finite and not 0"
    );
    assert_eq!(at(vec![]), "parameter `p` enters nowhere in the program");
    let p = Parameter::new("p").at_all(one(Place::B(0)));
    assert_eq!(
        message(AffineMap::new(template.clone(), vec![p.clone(), p.clone()])),
        "two parameters are named `p`"
    );
    assert_eq!(
        message(AffineMap::new(template, vec![p.clipped(2.0, 1.0)])),
        "the bounds of parameter `p` must be finite and in order, found [2, 1]"
    );
}

/// A general map that answers with the given program at θ > 0, and with its template otherwise.
fn general(parts: PrivateParts, other: Program) -> GeneralMap {
    let template = affine().at(&[0.0, 0.0]).unwrap();
    let same = template.clone();
    GeneralMap::new(template, vec![Parameter::new("θ")], parts, move |theta| {
        Ok(if theta[0] > 0.0 {
            other.clone()
        } else {
            same.clone()
        })
    })
}

#[test]
fn a_general_map_may_change_private_numbers_and_nothing_else() {
    let numbers = affine().at(&[1.0, 1.0]).unwrap();
    let q = PrivateParts {
        q: true,
        ..Default::default()
    };
    let all = PrivateParts {
        p: true,
        q: true,
        a: true,
        b: true,
    };
    assert_eq!(general(all, numbers.clone()).at(&[1.0]).unwrap(), numbers);
    for (parts, part) in [
        (
            PrivateParts {
                a: true,
                b: true,
                ..Default::default()
            },
            "q",
        ),
        (PrivateParts { a: true, ..q }, "b"),
        (PrivateParts { b: true, ..q }, "A"),
    ] {
        let map = general(parts, numbers.clone());
        map.at(&[-1.0]).unwrap();
        assert_eq!(
            message(map.at(&[1.0])),
            format!("{part} is public, but differs from the template at this dataset")
        );
    }
    assert_eq!(general(all, numbers.clone()).private_rows(), [true, true]);
    assert_eq!(general(all, numbers).private_coefficients().len(), 3);
}

#[test]
fn a_general_map_may_not_change_structure() {
    let all = PrivateParts {
        p: true,
        q: true,
        a: true,
        b: true,
    };
    let changed = |change: fn(&mut Builder, &conveil::program::VariableHandle)| {
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        m.minimize(x.at(0) + 3.0 * x.at(1));
        change(&mut m, &x);
        m.build().unwrap()
    };
    let structures = [
        // Another pattern, another name, another cone, another number of rows.
        changed(|m, x| {
            m.at_most("cap", x.at(0), 5.0);
            m.at_most("floor", 0.0, x.at(1));
        }),
        changed(|m, x| {
            m.at_most("top", x.sum(), 5.0);
            m.at_most("floor", 0.0, x.at(1));
        }),
        changed(|m, x| {
            m.equal("cap", x.sum(), 5.0);
            m.at_most("floor", 0.0, x.at(1));
        }),
        changed(|m, x| {
            m.at_most("cap", x.sum(), 5.0);
        }),
    ];
    for other in structures {
        assert_eq!(
            message(general(all, other).at(&[1.0])),
            "the program at this dataset has another structure than the public template: blocks, cones and patterns must not depend on the data"
        );
    }
    // The constant of the objective is public, too.
    let shifted = {
        let mut m = Builder::new();
        let x = m.variable("x", 2);
        let (a, b) = (m.parameter("a"), m.parameter("b"));
        m.minimize(x.at(0) + 2.0 * (a * x.at(0)) + 3.0 * x.at(1) + 100.0);
        m.at_most("cap", x.at(0) + 4.0 * x.at(1) - b * x.at(1), 5.0 + (a - b));
        m.at_most("floor", b, x.at(1));
        m.build_map().unwrap().at(&[0.0, 0.0]).unwrap()
    };
    assert_eq!(
        message(general(all, shifted).at(&[1.0])),
        "the objective's constant is public, but differs from the template at this dataset"
    );
}

/// A model that states its map and nothing else, and one that states nothing.
struct Around(AffineMap, bool);

impl DataMap for Around {
    fn parameters(&self) -> &conveil::program::Parameters {
        self.0.parameters()
    }

    fn template(&self) -> &Program {
        self.0.template()
    }

    fn affine(&self) -> Option<&AffineMap> {
        self.1.then_some(&self.0)
    }
}

#[test]
fn a_model_around_an_affine_map_is_that_map_and_without_one_all_is_private() {
    let (map, model) = (affine(), Around(affine(), true));
    let t = [0.3, -1.2];
    assert_eq!(model.private_parts(), map.private_parts());
    assert_eq!(model.private_rows(), map.private_rows());
    assert_eq!(
        model.private_coefficients().len(),
        map.private_coefficients().len()
    );
    assert_eq!(model.private_costs(), map.private_costs());
    assert_eq!(model.at(&t).unwrap(), map.at(&t).unwrap());
    assert_eq!(model.unclipped(&t).unwrap(), map.unclipped(&t).unwrap());
    let silent = Around(affine(), false);
    let all = PrivateParts {
        p: true,
        q: true,
        a: true,
        b: true,
    };
    assert_eq!(silent.private_parts(), all);
    assert_eq!(silent.private_rows(), [true; 2]);
    assert_eq!(silent.private_costs(), [true; 2]);
    assert_eq!(
        silent.private_coefficients().len(),
        map.template().a().nnz()
    );
    let why = "this model says neither which program belongs to a dataset nor that it is affine";
    assert_eq!(message(silent.at(&t)), why);
}

/// What single additions and products lose is carried along: a cost of many records is off by a rounding of its own size.
#[test]
fn a_cost_is_summed_without_loss() {
    let cost = |terms: &[(f64, f64)]| {
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        for (i, (coefficient, _)) in terms.iter().enumerate() {
            let theta = m.parameter(&format!("t{i}"));
            m.minimize(*coefficient * (theta * x.at(0)));
        }
        m.between("range", 0.0, x.at(0), 1.0);
        let theta: Vec<f64> = terms.iter().map(|t| t.1).collect();
        m.build_map().unwrap().at(&theta).unwrap().q()[0]
    };
    assert_eq!(cost(&[(1.0, 1e16), (1.0, 1.5), (1.0, -1e16)]), 1.5);
    // 3 × 0.1 and 0.3 as they are stored differ by 2⁻⁵⁵; the rounded product is off by twice that.
    assert_eq!(cost(&[(0.1, 3.0), (-1.0, 0.3)]), 0.5f64.powi(55));
    assert_ne!(0.1 * 3.0 - 0.3, 0.5f64.powi(55));
    let many: Vec<(f64, f64)> = [(1.0, 1.0)]
        .into_iter()
        .chain(vec![(1.0, 1e-17); 10_000])
        .collect();
    assert_eq!(cost(&many), 1.0 + 1e-13);
}
