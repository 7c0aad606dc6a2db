//! Programs: the builder against hand-written matrices, and everything that validation refuses, word for word.

mod structure_common;

use conveil::program::{
    Affine, Builder, Cone, Holds, NewConstraint, NewVariables, Program, Sparse, Stage,
};
use proptest::prelude::*;
use structure_common::message;

#[test]
fn entries_may_have_names_which_no_other_variable_has() {
    let named = |entries: &[&str], y: &str| {
        let entries = entries.iter().map(|e| e.to_string()).collect();
        let x = NewVariables {
            entries,
            ..variables("x", 2)
        };
        let (p, a) = (Sparse::zeros(3, 3), Sparse::zeros(0, 3));
        let blocks = vec![x, variables(y, 1)];
        Program::new(p, vec![1.0; 3], a, Vec::new(), blocks, Vec::new())
    };
    let program = named(&["early", "late"], "y").unwrap();
    let names: Vec<String> = (0..3).map(|j| program.variable_name(j)).collect();
    assert_eq!(names, ["early", "late", "y"]);
    for (reference, columns) in [("late", 1..2), ("x[1]", 1..2), ("x", 0..2), ("y", 2..3)] {
        assert_eq!(program.find_variables(reference).unwrap(), columns);
    }
    assert!(program.find_variables("late[0]").is_err());
    // A larger program keeps them.
    assert_eq!(program.blocks().0[0].entries, ["early", "late"]);
    for (entries, y) in [
        (&["early"][..], "y"),
        (&["early", "early"], "y"),
        (&["early", "y"], "y"),
        (&["early", "x"], "y"),
        (&["early", "late"], "late"),
        (&["early", "l[0]"], "y"),
        (&["early", ""], "y"),
    ] {
        assert!(named(entries, y).is_err(), "{entries:?} {y}");
    }
}

fn variables(name: &str, len: usize) -> NewVariables {
    NewVariables {
        name: name.into(),
        len,
        stage: Stage::Decision,
        entries: Vec::new(),
    }
}

fn constraint(name: &str, cone: Cone) -> NewConstraint {
    NewConstraint {
        name: name.into(),
        cone,
        holds: Holds::WithNoise,
        rows: Vec::new(),
    }
}

fn sparse(rows: usize, columns: usize, entries: &[(usize, usize, f64)]) -> Sparse {
    Sparse::from_triplets(rows, columns, entries).unwrap()
}

#[test]
fn the_builder_makes_the_matrices_that_stand_on_paper() {
    let mut m = Builder::new();
    let x = m.variable("x", 2);
    let y = m.here_and_now("y", 1);
    m.minimize(x.at(0) + 3.0 * x.at(1) - y.at(0) + 7.0);
    m.minimize_half_square(2.0, &[x.at(0) - x.at(1)]);
    m.equal("balance", x.sum(), 10.0);
    m.between("first", 0.0, x.at(0), 4.0);
    m.norm_at_most("cone", vec![x.at(1), 2.0 * y.at(0) + 1.0], 5.0 - y.at(0))
        .always();
    m.semidefinite("psd", 2, vec![x.at(0), y.at(0), Affine::constant(1.0)]);
    let built = m.build().unwrap();
    let root = std::f64::consts::SQRT_2;
    let by_hand = Program::new(
        sparse(3, 3, &[(0, 0, 2.0), (0, 1, -2.0), (1, 1, 2.0)]),
        vec![1.0, 3.0, -1.0],
        // b − Ax in the cone.
        sparse(
            9,
            3,
            &[
                (0, 0, 1.0),
                (0, 1, 1.0),
                (1, 0, -1.0),
                (2, 0, 1.0),
                (3, 2, 1.0),
                (4, 1, -1.0),
                (5, 2, -2.0),
                (6, 0, -1.0),
                (7, 2, -root),
            ],
        ),
        vec![10.0, 0.0, 4.0, 5.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        vec![
            variables("x", 2),
            NewVariables {
                stage: Stage::HereAndNow,
                ..variables("y", 1)
            },
        ],
        vec![
            constraint("balance", Cone::Zero(1)),
            NewConstraint {
                rows: vec!["first lower".into(), "first upper".into()],
                ..constraint("first", Cone::Nonnegative(2))
            },
            NewConstraint {
                holds: Holds::Always,
                ..constraint("cone", Cone::SecondOrder(3))
            },
            constraint("psd", Cone::PsdTriangle(2)),
        ],
    )
    .unwrap();
    assert!(built.same_structure(&by_hand));
    assert_eq!(built.q(), by_hand.q());
    assert_eq!(built.b(), by_hand.b());
    assert_eq!(built.p(), by_hand.p());
    let point = [1.5, -0.5, 2.0];
    assert_eq!(built.slack(&point), by_hand.slack(&point));
    assert_eq!(built.objective(&point), by_hand.objective(&point) + 7.0);
    assert_eq!(built.row_name(2), "first upper");
    assert_eq!(built.row_name(4), "cone[1]");
    assert_eq!(built.variable_name(1), "x[1]");
    assert_eq!(built.variable_name(2), "y");
}

/// x, x ≤ b: one variable and one row, with parts replaced.
struct Parts {
    p: Sparse,
    q: Vec<f64>,
    a: Sparse,
    b: Vec<f64>,
    variables: Vec<NewVariables>,
    constraints: Vec<NewConstraint>,
}

fn parts() -> Parts {
    Parts {
        p: Sparse::zeros(2, 2),
        q: vec![1.0, 0.0],
        a: sparse(2, 2, &[(0, 0, 1.0), (1, 1, 1.0)]),
        b: vec![1.0, 1.0],
        variables: vec![variables("x", 1), variables("y", 1)],
        constraints: vec![
            constraint("cap", Cone::Nonnegative(1)),
            constraint("fix", Cone::Zero(1)),
        ],
    }
}

fn refused(change: impl FnOnce(&mut Parts)) -> String {
    let mut p = parts();
    change(&mut p);
    message(Program::new(p.p, p.q, p.a, p.b, p.variables, p.constraints))
}

#[test]
fn validation_says_what_was_found_where_and_what_would_be_right() {
    let p = parts();
    Program::new(p.p, p.q, p.a, p.b, p.variables, p.constraints).unwrap();
    let cases: Vec<(String, &str)> = vec![
        (
            refused(|p| p.q = vec![1.0]),
            "q has 1 entries, but there are 2 variables",
        ),
        (
            refused(|p| p.b.push(1.0)),
            "b has 3 entries, but there are 2 constraint rows",
        ),
        (
            refused(|p| p.p = Sparse::zeros(3, 2)),
            "P, in rows, has 3 entries, but there are 2 variables",
        ),
        (
            refused(|p| p.p = Sparse::zeros(2, 1)),
            "P, in columns, has 1 entries, but there are 2 variables",
        ),
        (
            refused(|p| p.a = Sparse::zeros(2, 3)),
            "A, in columns, has 3 entries, but there are 2 variables",
        ),
        (
            refused(|p| p.a = Sparse::zeros(1, 2)),
            "A, in rows, has 1 entries, but there are 2 constraint rows",
        ),
        (
            refused(|p| p.q[0] = f64::NAN),
            "the cost of `x` is NaN: it must be a finite number",
        ),
        (
            refused(|p| p.b[1] = f64::INFINITY),
            "the right-hand side of `fix` is inf: it must be a finite number below 1e20 (leave the row out for no bound)",
        ),
        (
            refused(|p| p.b[0] = 1e20),
            "the right-hand side of `cap` is 1e20: it must be a finite number below 1e20 (leave the row out for no bound)",
        ),
        (
            refused(|p| p.a = sparse(2, 2, &[(1, 0, f64::NEG_INFINITY)])),
            "the coefficient of `x` in `fix` is -inf: it must be a finite number",
        ),
        (
            refused(|p| p.p = sparse(2, 2, &[(0, 1, f64::NAN)])),
            "P at (`x`, `y`) is NaN: it must be a finite number",
        ),
        (
            refused(|p| p.p = sparse(2, 2, &[(1, 0, 1.0)])),
            "P has an entry below the diagonal at (`y`, `x`): give the upper triangle only",
        ),
        (
            refused(|p| p.p = sparse(2, 2, &[(0, 0, 1.0), (0, 1, 2.0), (1, 1, 1.0)])),
            "P is not positive semidefinite: the objective is not convex in `x`, `y`",
        ),
        (
            refused(|p| p.p = sparse(2, 2, &[(1, 1, -1e-3)])),
            "P is not positive semidefinite: the objective is not convex in `y`",
        ),
        (
            refused(|p| p.variables[1].name = "x".into()),
            "two variables are named `x`",
        ),
        (
            refused(|p| p.constraints[1].name = "cap".into()),
            "two constraints are named `cap`",
        ),
        (
            refused(|p| p.variables[0].name = "x[0]".into()),
            "`x[0]` cannot name a variable: names are not empty and hold no brackets",
        ),
        (
            refused(|p| p.constraints[0].name = String::new()),
            "`` cannot name a constraint: names are not empty and hold no brackets",
        ),
        (
            refused(|p| p.variables[0].len = 0),
            "variable `x` has no entries",
        ),
        (
            refused(|p| p.constraints[0].rows = vec!["a".into(), "b".into()]),
            "constraint `cap` has 1 rows, but 2 row names",
        ),
        (
            refused(|p| p.constraints[1].holds = Holds::AtTheMean),
            "constraint `fix` is an equality and cannot hold at the mean only",
        ),
        (
            refused(|p| p.constraints[0].cone = Cone::Power(1.0)),
            "constraint `cap`: power cone: the exponent must lie strictly between 0 and 1, found 1",
        ),
        (
            refused(|p| p.constraints[0].cone = Cone::GeneralizedPower(vec![0.5, 0.6], 1)),
            "constraint `cap`: generalised power cone: exponents must add up to 1, found 1.1",
        ),
        (
            refused(|p| p.constraints[0].cone = Cone::GeneralizedPower(vec![1.0], 0)),
            "constraint `cap`: generalised power cone: it needs at least one exponent and one entry of w",
        ),
        (
            refused(|p| p.constraints[0].cone = Cone::SecondOrder(0)),
            "constraint `cap`: second-order cone: its dimension must be at least 1",
        ),
        (
            message(Program::new(
                Sparse::zeros(0, 0),
                vec![],
                Sparse::zeros(0, 0),
                vec![],
                vec![],
                vec![],
            )),
            "the program has no variables",
        ),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn the_builder_refuses_what_is_not_affine_or_not_there() {
    let out_of_range = || {
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        (m, x)
    };
    let (mut m, x) = out_of_range();
    m.minimize(x.at(1));
    assert_eq!(
        message(m.build()),
        "the objective uses an entry that its variable does not have, or a product of parameters"
    );
    let (mut m, x) = out_of_range();
    m.at_most("cap", x.at(2), 1.0);
    assert!(
        message(m.build())
            .starts_with("constraint `cap` uses an entry that its variable does not have")
    );
    let (mut m, x) = out_of_range();
    let (a, b) = (m.parameter("a"), m.parameter("b"));
    m.at_most("cap", a * (b * x.at(0)), 1.0);
    assert!(message(m.build_map()).contains("or a product of parameters"));
    let (mut m, x) = out_of_range();
    m.minimize_half_square(1.0, &[x.at(0) + 1.0]);
    assert_eq!(
        message(m.build()),
        "the quadratic objective takes existing variables only, without constants and parameters"
    );
    let (mut m, x) = out_of_range();
    let p = m.parameter("p");
    m.minimize(x.at(0) + p);
    assert_eq!(
        message(m.build_map()),
        "the objective has a private constant: it would shift the cost by the data itself"
    );
    let (mut m, x) = out_of_range();
    m.parameter("p");
    m.minimize(x.at(0));
    assert_eq!(
        message(m.clone().build()),
        "`p` is a private parameter: build the map from data to programs instead"
    );
    assert_eq!(
        message(m.build_map()),
        "parameter `p` enters nowhere in the program"
    );
    let (mut m, x) = out_of_range();
    m.cone("soc", Cone::SecondOrder(3), vec![x.at(0)]);
    assert_eq!(
        message(m.build()),
        "constraint `soc` has 1 rows, but its second-order cone takes 3"
    );
}

#[test]
fn variables_are_found_by_name_and_index_or_the_message_lists_them() {
    let p = parts();
    let program = Program::new(p.p, p.q, p.a, p.b, p.variables, p.constraints).unwrap();
    assert_eq!(program.find_variables("y").unwrap(), 1..2);
    assert_eq!(program.find_variables("y[0]").unwrap(), 1..2);
    for (name, expected) in [
        ("z", "there is no variable `z`; there are: `x`, `y`"),
        (
            "y[1]",
            "`y` has 1 entry, counted from 0: there is no `y[1]`",
        ),
        (
            "y[one]",
            "`y[one]` is not a variable: write `name` or `name[index]`",
        ),
        (
            "y[0",
            "`y[0` is not a variable: write `name` or `name[index]`",
        ),
    ] {
        assert_eq!(message(program.find_variables(name)), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(6), ..Default::default() })]

    /// P = G'G − shift·I: accepted iff λ_min ≥ 0, with λ_min from a 2×2 formula.
    #[test]
    fn convexity_is_decided_by_the_smallest_eigenvalue(a in -2.0..2.0f64, b in -2.0..2.0f64, c in -2.0..2.0f64) {
        let least = 0.5 * (a + c) - (0.25 * (a - c) * (a - c) + b * b).sqrt();
        prop_assume!(least.abs() > 1e-6);
        let mut p = parts();
        p.p = sparse(2, 2, &[(0, 0, a), (0, 1, b), (1, 1, c)]);
        let program = Program::new(p.p, p.q, p.a, p.b, p.variables, p.constraints);
        prop_assert_eq!(program.is_ok(), least > 0.0);
    }
}
