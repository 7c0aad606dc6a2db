//! Specs that are right, and the values they stand for.

use conveil::ask::{
    Adjacency, Calibration, MapKind, NoiseShape, Privacy, Query, Request, SampleSize, Strategy,
    Universe,
};
use conveil::chance::{BlockEta, Choice, Feasibility, Split};
use conveil::noise::Factor;
use conveil::program::{Holds, Place, Stage};
use conveil::risk::{Cvar, CvarForm, Risk, VarianceLimit, VarianceTerm};
use conveil_grid::Susceptance;
use conveil_models::conic::{Conic, Entry};
use conveil_models::grid::{Costs, Form, LoadBounds, Loads, NetworkSource, OpfSpec};
use conveil_models::spec::{Lattice, Sensitivity, Series, Solver, Spec, Study, read};

fn seed(text: &str) -> Spec {
    match read("spec.toml", text) {
        Ok(spec) => spec,
        Err(error) => panic!("{error}"),
    }
}

const SMALLEST: &str = include_str!("../../../fuzz/seeds/spec/smallest.toml");
const EVERY_KEY: &str = include_str!("../../../fuzz/seeds/spec/every-key.toml");
const AT_MOST: &str = include_str!("../../../fuzz/seeds/spec/discs-at-most.toml");
const RECORDS: &str = include_str!("../../../fuzz/seeds/spec/records-identity.toml");
const ENVELOPE: &str = include_str!("../../../fuzz/seeds/spec/envelope.toml");
const CURVATURE: &str = include_str!("../../../fuzz/seeds/spec/curvature.toml");
const OPF: &str = include_str!("../../../fuzz/seeds/spec/opf.toml");
const GENERATION: &str = include_str!("../../../fuzz/seeds/spec/generation.toml");

fn conic(spec: &Spec) -> &Conic {
    spec.model
        .is()
        .unwrap_or_else(|| panic!("{:?}", spec.model))
}

/// The engine's types that compare nothing but what they show.
fn shown(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

#[test]
fn defaults_fill_what_the_smallest_spec_leaves_out() {
    let spec = seed(SMALLEST);
    let problem = conic(&spec);
    assert_eq!(problem.file.value, "problem.json");
    assert!(problem.variables.is_empty() && problem.constraints.is_empty());
    assert_eq!(
        spec.private.adjacency.value,
        Adjacency::OneEntry { alpha: 10.0 }
    );
    assert_eq!(spec.private.universe, None);
    let parameter = &problem.parameters[0];
    assert_eq!((parameter.value, parameter.bounds), (None, None));
    let entry = Entry {
        place: Place::B(0),
        coef: 1.0,
        offset: 0.0,
    };
    assert_eq!(parameter.at[0].value, entry);
    assert_eq!(spec.query.query, Some(Query::Cost));
    assert_eq!(spec.query.shape, None);
    assert_eq!(spec.privacy.mechanism, Privacy::laplace(1.0));
    let feasibility = &spec.feasibility;
    assert_eq!(feasibility.strategy.value, Strategy::Program);
    let promise = Feasibility::eta(0.01)
        .method(Choice::AUTO)
        .split(Split::Symmetric)
        .sampling(SampleSize::Exact, 1e-6, 1);
    assert_eq!(feasibility.promise, promise);
    assert_eq!(spec.risk.risk, Risk::expectation());
    assert_eq!(spec.lattice, Lattice { step: None });
    assert_eq!(spec.solver, Solver::default());
    assert_eq!(
        spec.study,
        Study {
            draws: 1000,
            seed: 1
        }
    );
    assert_eq!(spec.ledger, None);
}

#[test]
fn every_key_reaches_its_field() {
    let spec = seed(EVERY_KEY);
    let problem = conic(&spec);
    let variables = problem.variables.iter();
    let sizes: Vec<_> = variables.map(|v| (v.value.len, v.value.stage)).collect();
    assert_eq!(
        sizes,
        [
            (3, Stage::Decision),
            (1, Stage::HereAndNow),
            (1, Stage::Witness)
        ]
    );
    let holds: Vec<_> = problem.constraints.iter().map(|c| c.saved.holds).collect();
    assert_eq!(holds, [Holds::Always, Holds::WithNoise, Holds::AtTheMean]);
    assert_eq!(problem.constraints[1].rows[1].value, "upper");
    let first = &problem.parameters[0];
    assert_eq!(first.value, Some(1.5));
    assert_eq!(first.bounds, Some((0.0, 10.0)));
    assert_eq!(first.at[0].value.coef, -2.0);
    assert_eq!(first.at[0].value.offset, 0.5);
    assert_eq!(first.at[1].value.place, Place::A(0, 2));
    assert_eq!(problem.parameters[1].at[0].value.place, Place::Q(1));
    assert_eq!(
        spec.private.universe.as_ref().map(|u| &u.value),
        Some(&Universe::around(vec![1.0, 2.0], vec![0.5, 1.0]).unwrap())
    );
    let Some(Query::Rows(rows)) = &spec.query.query else {
        panic!("{:?}", spec.query);
    };
    assert_eq!(rows[0][1], ("y".into(), 2.0));
    assert_eq!(rows[1][0], ("x[2]".into(), -1.0));
    assert_eq!(spec.query.variables[2].value.index, Some(2));
    assert_eq!(
        spec.query.shape.as_ref().map(|s| s.value.clone()),
        Some(NoiseShape::Rows(vec![vec![1.0, 0.0], vec![0.5, 2.0]]))
    );
    let Privacy::Gaussian {
        delta, calibration, ..
    } = spec.privacy.mechanism
    else {
        panic!("{:?}", spec.privacy.mechanism);
    };
    assert_eq!((delta, calibration), (1e-5, Calibration::Classic));
    assert_eq!(
        spec.privacy.sensitivity.value,
        Sensitivity::Sampled {
            gamma: 0.1,
            beta: 0.2,
            seed: 7,
            size: SampleSize::Paper,
            on: MapKind::Deterministic
        }
    );
    assert!(shown(&spec.feasibility.promise).contains("split: LowerShare(0.25)"));
    assert_eq!(
        spec.feasibility.blocks[0].choice.eta,
        Some(BlockEta::Rows(vec![0.001, 0.002]))
    );
    assert_eq!(spec.feasibility.blocks[1].choice.weight, Some(2.0));
    let form = CvarForm::Sampled {
        samples: 500,
        seed: 9,
    };
    let variance = |variables: &[&str], limit| VarianceTerm {
        variables: variables.iter().map(|name| String::from(*name)).collect(),
        limit,
    };
    let risk = Risk::mix(0.5, Cvar { tail: 0.05, form })
        .with_cvar_at_most(Cvar { tail: 0.1, form }, 12.0)
        .with_variance(variance(&["x", "y"], VarianceLimit::Weight(0.1)))
        .with_variance(variance(&["t"], VarianceLimit::AtMost(3.0)));
    assert_eq!(spec.risk.risk, risk);
    assert_eq!(spec.lattice.step, Some(1e-6));
    assert_eq!(spec.solver.threads, Some(2));
    assert_eq!(spec.study.seed, 255);
    assert_eq!(spec.private.unit.map(|u| u.value), Some("MW".into()));
    let ledger = spec.ledger.unwrap();
    assert_eq!(ledger.dataset.value, "loads-2026");
    assert_eq!(ledger.part.unwrap().value, "day 1, hour {row}");
    assert!(ledger.part_moves && ledger.planned);
    let series = Series {
        count: 24,
        delta: Some(1e-6),
    };
    assert_eq!(ledger.series.unwrap().value, series);
}

#[test]
fn blocks_take_from_all_what_they_do_not_state() {
    let method = |lines: &str| {
        let block = "[[feasibility.block]]\n";
        let common = RECORDS.replacen("method = \"ball\"", "factor = \"cantelli\"", 1);
        let spec = seed(&common.replacen(block, &format!("{block}{lines}\n"), 1));
        spec.feasibility.blocks[0].choice.method
    };
    let named = |word: &str| Choice::named(word).unwrap();
    assert_eq!(method(""), None);
    assert_eq!(
        method("method = \"row-by-row\""),
        Some(named("row-by-row").with(Factor::Cantelli))
    );
    assert_eq!(method("factor = \"best\""), Some(Choice::AUTO));
    assert_eq!(
        method("factor = \"gaussian\""),
        Some(Choice::AUTO.with(Factor::Gaussian))
    );
    assert_eq!(method("method = \"ball\""), Some(named("ball")));
}

#[test]
fn inline_tables_serve_as_well_as_headers() {
    let spec = seed(AT_MOST);
    assert_eq!(conic(&spec).parameters[1].name.value, "η₂");
    assert_eq!(
        spec.private.universe.as_ref().map(|u| &u.value),
        Some(&Universe::discs(vec![1.0, 2.0], vec![0.1], 2).unwrap())
    );
    let Some(Query::AtMost { epigraph, slope }) = &spec.query.query else {
        panic!("{:?}", spec.query);
    };
    assert_eq!(epigraph, "t");
    assert_eq!(slope[1].1, 1000.5);
    let Privacy::TruncatedLaplace { delta, .. } = spec.privacy.mechanism else {
        panic!("{:?}", spec.privacy.mechanism);
    };
    assert_eq!(delta, 0.5);
}

#[test]
fn names_that_only_the_problem_file_can_resolve_keep_their_place() {
    let spec = seed(RECORDS);
    assert!(matches!(&spec.query.query, Some(Query::Variables(names)) if names.len() > 1));
    let variables = &spec.query.variables;
    assert_eq!((variables[1].line, variables[1].column), (14, 22));
    assert_eq!(variables[1].value.index, Some(3));
    let error = variables[1].error("spec.toml", "no variable `x[3]`");
    assert_eq!(error.to_string(), "spec.toml:14:22: no variable `x[3]`");
    let block = &spec.feasibility.blocks[0].name;
    assert_eq!(
        (block.value.as_str(), block.line, block.column),
        ("anything", 24, 8)
    );
}

#[test]
fn columns_count_characters() {
    let spec = seed(AT_MOST);
    // `  { name = "η₂", value = 2, at = [{ in = "b", row = 0 }, …`: letters, not bytes.
    let second = &conic(&spec).parameters[1].at[1];
    assert_eq!((second.line, second.column), (9, 58));
}

/// By its name an entry is the same as by its index, also where it is named twice or misspelt.
#[test]
fn an_entry_may_be_called_by_its_own_name() {
    let listed = "rows = [{ \"x[0]\" = 1.0, y = 2 }, { \"x[2]\" = -1.0 }]";
    let named = |rows: &str| {
        let names = "size = 3\nnames = [\"early\", \"at noon\", \"late\"]";
        let text = EVERY_KEY.replacen("size = 3", names, 1);
        text.replacen(listed, rows, 1)
    };
    let spec = seed(&named("rows = [{ early = 1.0, y = 2 }, { late = -1.0 }]"));
    assert_eq!(spec.query.query, seed(EVERY_KEY).query.query);
    assert_eq!(
        conic(&spec).variables[0].value.entries,
        ["early", "at noon", "late"]
    );
    let refused = |rows: &str| read("spec.toml", &named(rows)).unwrap_err().to_string();
    let twice = refused("rows = [{ early = 1.0, \"x[0]\" = 2 }, { late = -1.0 }]");
    assert!(twice.contains("`x[0]` is named twice"), "{twice}");
    let part = refused("rows = [{ x = 1.0, \"at noon\" = 2 }, { late = -1.0 }]");
    assert!(part.contains("`x[1]` is already part of `x`"), "{part}");
    let misspelt = refused("rows = [{ erly = 1.0 }, { late = -1.0 }]");
    assert!(
        misspelt.contains("no variable `erly`") && misspelt.contains("did you mean `early`?"),
        "{misspelt}"
    );
}

#[test]
fn an_epigraph_is_a_stage_of_its_own() {
    let spec = seed(AT_MOST);
    let stages: Vec<Stage> = conic(&spec)
        .variables
        .iter()
        .map(|v| v.value.stage)
        .collect();
    assert_eq!(stages, [Stage::Decision, Stage::Epigraph]);
}

#[test]
fn the_shape_of_an_identity_query_leaves_witnesses_out() {
    // x has 3 entries, y one, and t is a witness: 4 numbers are released.
    let shape = "shape = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]";
    let query = "release = \"rows\"\nrows = [{ \"x[0]\" = 1.0, y = 2 }, { \"x[2]\" = -1.0 }]\nshape = [[1.0, 0.0], [0.5, 2.0]]";
    assert!(EVERY_KEY.contains(query));
    let spec = seed(&EVERY_KEY.replacen(query, &format!("release = \"identity\"\n{shape}"), 1));
    let Some(NoiseShape::Rows(rows)) = spec.query.shape.map(|shape| shape.value) else {
        panic!("no rows");
    };
    assert_eq!(rows.len(), 4);
}

#[test]
fn rows_may_have_names_which_must_show() {
    let listed = "rows = [{ \"x[0]\" = 1.0, y = 2 }, { \"x[2]\" = -1.0 }]";
    let named = |rows: &str| EVERY_KEY.replacen(listed, rows, 1);
    let rows = "rows = { \"first and y\" = { \"x[0]\" = 1.0, y = 2 }, last = { \"x[2]\" = -1.0 } }";
    let weights = |w: &[(&str, f64)]| w.iter().map(|t| (t.0.to_string(), t.1)).collect();
    assert_eq!(
        seed(&named(rows)).query.query,
        Some(Query::Named(vec![
            ("first and y".into(), weights(&[("x[0]", 1.0), ("y", 2.0)])),
            ("last".into(), weights(&[("x[2]", -1.0)])),
        ]))
    );
    let refused = |rows: &str| read("spec.toml", &named(rows)).unwrap_err().to_string();
    let hidden = refused("rows = { \"a\\u200Bb\" = { y = 1.0 }, c = { y = 2.0 } }");
    assert!(
        hidden.contains("the name of the row") && hidden.contains("U+200B"),
        "{hidden}"
    );
    // One row that lacks its list.
    let single = refused("rows = { y = 1.0 }");
    assert!(single.contains("`rows` must be an array"), "{single}");
}

#[test]
fn an_envelope_has_a_price_and_public_bounds_of_either_sign() {
    let spec = seed(ENVELOPE);
    assert_eq!(
        spec.privacy.sensitivity.value,
        Sensitivity::By(Request::envelope(1000.0))
    );
    assert!(shown(&spec.feasibility.promise).contains("split: Optimise"));
    let public: Vec<_> = conic(&spec)
        .parameters
        .iter()
        .map(|p| (p.bounds, p.nominal))
        .collect();
    assert_eq!(
        public,
        [
            (Some((0.0, 120.0)), Some(80.0)),
            (Some((-30.0, 5.0)), Some(-10.0))
        ]
    );
}

#[test]
fn every_certificate_has_its_word() {
    let strong = "by = \"strong-convexity\"";
    assert!(CURVATURE.contains(strong));
    for (word, expected) in [
        ("radius", Request::radius()),
        ("strong-convexity", Request::strong_convexity()),
        ("erm", Request::regularised_erm()),
        ("range", Request::range()),
    ] {
        let spec = seed(&CURVATURE.replacen(strong, &format!("by = \"{word}\""), 1));
        assert_eq!(spec.privacy.sensitivity.value, Sensitivity::By(expected));
        assert_eq!(spec.privacy.sensitivity.value.by(), word);
    }
}

#[test]
fn the_curvature_is_a_shape_for_any_answer() {
    let spec = seed(CURVATURE);
    let shape = spec.query.shape.as_ref();
    assert_eq!(shape.map(|s| &s.value), Some(&NoiseShape::Curvature));
    assert_eq!(shape.map(|s| (s.line, s.column)), Some((14, 9)));
}

#[test]
fn a_nominal_value_may_stand_on_a_bound_or_without_bounds() {
    let spec = seed(&ENVELOPE.replacen("nominal = 80", "nominal = 120.0", 1));
    assert_eq!(conic(&spec).parameters[0].nominal, Some(120.0));
    let spec = seed(CURVATURE);
    assert_eq!(conic(&spec).parameters[1].nominal, Some(0.0));
    assert_eq!(conic(&spec).parameters[1].bounds, None);
}

fn grid(spec: &Spec) -> &OpfSpec {
    spec.model
        .is()
        .unwrap_or_else(|| panic!("{:?}", spec.model))
}

#[test]
fn a_power_flow_says_all_about_its_network() {
    let spec = seed(OPF);
    let grid = grid(&spec);
    match &grid.network {
        NetworkSource::Builtin(name) => assert_eq!((&*name.value, name.line), ("24_ieee_rts", 3)),
        other => panic!("{other:?}"),
    }
    assert_eq!(grid.form, Form::Ptdf);
    assert_eq!(grid.susceptance, Susceptance::Full);
    assert!(grid.angle_limits);
    assert_eq!(grid.costs, Costs::Full);
    assert_eq!(grid.demand.as_ref().unwrap().value, "loads.csv");
    assert_eq!(grid.bounds, LoadBounds::Relative(0.3));
    assert_eq!(grid.loads, Loads::Only(vec![3, 14, 15]));
    let listed: Vec<u32> = grid.listed.iter().map(|number| number.value).collect();
    assert_eq!(listed, [3, 14, 15]);
    assert_eq!(spec.query.release.value, "cost");
    assert_eq!(grid.groups, None);
}

#[test]
fn bounds_by_load_and_curvature_are_read_with_their_place() {
    let text = GENERATION
        .replace("{ within = 50.0 }", "{ each = \"bounds.csv\" }")
        .replace("[private]", "curvature = 0.001\n[private]");
    let spec = seed(&text);
    let curvature = grid(&spec).curvature.as_ref().unwrap();
    assert_eq!(
        (curvature.value, curvature.line, curvature.column),
        (0.001, 4, 13)
    );
    let file = grid(&spec).bounds_file.as_ref().unwrap();
    assert_eq!((&*file.value, file.column), ("bounds.csv", 19));
    assert_eq!(
        (spec.query.release.line, spec.query.release.column),
        (10, 11)
    );
}

#[test]
fn groups_of_units_may_have_names() {
    let spec = seed(GENERATION);
    assert!(matches!(grid(&spec).network, NetworkSource::File(_)));
    let groups = |spec: &Spec| {
        let groups = grid(spec).groups.as_ref().unwrap().value.iter();
        groups
            .map(|group| {
                let units = group.units.iter().map(|unit| unit.value.clone());
                (group.name.clone(), units.collect::<Vec<_>>())
            })
            .collect::<Vec<_>>()
    };
    let named = |name: &str, units: &[&str]| {
        let units = units.iter().map(|unit| String::from(*unit)).collect();
        (Some(String::from(name)), units)
    };
    assert_eq!(
        groups(&spec),
        [
            named("north", &["generator 7", "bus 23"]),
            named("south", &["bus 1"])
        ]
    );
    let found = grid(&spec);
    assert_eq!(found.bounds, LoadBounds::Within(50.0));
    assert_eq!((&found.loads, &found.demand), (&Loads::All, &None));

    let listed = GENERATION.replace(
        "{ north = [\"generator 7\", \"bus 23\"], south = [\"bus 1\"] }",
        "[[\"generator 7\"], [\"bus 1\"]]",
    );
    assert_eq!(
        groups(&seed(&listed)),
        [
            (None, vec![String::from("generator 7")]),
            (None, vec![String::from("bus 1")])
        ]
    );
}

#[test]
fn the_largest_cost_may_be_declared() {
    let text = OPF
        .replace("costs = \"full\"\n", "")
        .replace(
            "by = \"envelope\", price = 1000.0",
            "by = \"declared\", per_alpha = \"largest-cost\"",
        )
        .replace("loads = [3, 14, 15]\n", "")
        .replace(
            "form = \"ptdf\"\nsusceptance = \"full\"\nangle_limits = true\n",
            "",
        );
    let spec = seed(&text);
    assert_eq!(
        spec.privacy.sensitivity.value,
        Sensitivity::PerAlpha("largest-cost")
    );
    assert_eq!(spec.privacy.sensitivity.value.by(), "declared");
    let grid = grid(&spec);
    assert_eq!((grid.form, grid.costs), (Form::Angles, Costs::Linear));
    assert_eq!(grid.susceptance, Susceptance::Standard);
    assert!(!grid.angle_limits);
    assert_eq!(grid.loads, Loads::WithDemand);
}
