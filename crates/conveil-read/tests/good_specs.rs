//! Specs that are right, and the values they stand for.

use conveil_read::spec::*;

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

#[test]
fn defaults_fill_what_the_smallest_spec_leaves_out() {
    let spec = seed(SMALLEST);
    let Model::Conic { file } = &spec.problem.model else {
        panic!("{:?}", spec.problem.model);
    };
    assert_eq!(file.value, "problem.json");
    assert!(spec.problem.variables.is_empty() && spec.problem.constraints.is_empty());
    assert_eq!(
        spec.private.adjacency.value,
        Adjacency::OneEntry { alpha: 10.0 }
    );
    assert_eq!(spec.private.universe, None);
    let parameter = &spec.private.parameters[0];
    assert_eq!((parameter.value, parameter.bounds), (None, None));
    let entry = Entry {
        place: Place::B { row: 0 },
        coef: 1.0,
        offset: 0.0,
    };
    assert_eq!(parameter.at[0].value, entry);
    assert_eq!(spec.query.release, Release::Cost);
    assert_eq!(spec.query.shape, None);
    assert_eq!(spec.privacy.mechanism, Mechanism::Laplace);
    let feasibility = &spec.feasibility;
    assert_eq!(feasibility.method.value, Method::Auto);
    assert_eq!(feasibility.split, Split::Symmetric);
    assert_eq!(feasibility.factor.value, Factor::Best);
    assert_eq!(feasibility.size, SampleSize::Exact);
    assert_eq!((feasibility.beta, feasibility.seed), (1e-6, 1));
    assert_eq!(spec.risk, Risk::default());
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
    let sizes: Vec<_> = spec
        .problem
        .variables
        .iter()
        .map(|v| (v.size, v.stage))
        .collect();
    assert_eq!(
        sizes,
        [
            (3, Stage::Decision),
            (1, Stage::HereAndNow),
            (1, Stage::Witness)
        ]
    );
    let holds: Vec<_> = spec.problem.constraints.iter().map(|c| c.holds).collect();
    assert_eq!(holds, [Holds::Always, Holds::WithNoise, Holds::AtTheMean]);
    assert_eq!(spec.problem.constraints[1].rows[1].value, "upper");
    let first = &spec.private.parameters[0];
    assert_eq!(first.value, Some(1.5));
    assert_eq!(first.bounds, Some((0.0, 10.0)));
    assert_eq!(first.at[0].value.coef, -2.0);
    assert_eq!(first.at[0].value.offset, 0.5);
    assert_eq!(first.at[1].value.place, Place::A { row: 0, column: 2 });
    assert_eq!(
        spec.private.parameters[1].at[0].value.place,
        Place::Q { column: 1 }
    );
    assert_eq!(
        spec.private.universe.as_ref().map(|u| &u.value),
        Some(&Universe::Box {
            center: vec![1.0, 2.0],
            half_width: vec![0.5, 1.0]
        })
    );
    let Release::Rows { rows } = &spec.query.release else {
        panic!("{:?}", spec.query.release);
    };
    assert_eq!(rows[0][1].variable.value.to_string(), "y");
    assert_eq!(rows[1][0].variable.value.index, Some(2));
    assert_eq!(rows[1][0].weight, -1.0);
    assert_eq!(
        spec.query.shape.as_ref().map(|s| s.value.clone()),
        Some(Shape::Rows(vec![vec![1.0, 0.0], vec![0.5, 2.0]]))
    );
    let calibration = Calibration::Classic;
    assert_eq!(
        spec.privacy.mechanism,
        Mechanism::Gaussian {
            delta: 1e-5,
            calibration
        }
    );
    assert_eq!(
        spec.privacy.sensitivity.value,
        Sensitivity::Sampled {
            gamma: 0.1,
            beta: 0.2,
            seed: 7,
            size: SampleSize::Paper,
            on: SampledMap::Deterministic
        }
    );
    assert_eq!(spec.feasibility.split, Split::LowerShare(0.25));
    assert_eq!(
        spec.feasibility.blocks[0].eta.as_ref().map(|e| &e.value),
        Some(&BlockEta::Rows(vec![0.001, 0.002]))
    );
    assert_eq!(spec.feasibility.blocks[1].weight, Some(2.0));
    assert_eq!(
        spec.risk.objective,
        Objective::Mix {
            tail: 0.05,
            weight: 0.5
        }
    );
    assert_eq!(
        spec.risk.form,
        RiskForm::Sampled {
            samples: 500,
            seed: 9
        }
    );
    assert_eq!(
        spec.risk.limit,
        Some(RiskLimit {
            tail: 0.1,
            at_most: 12.0
        })
    );
    assert_eq!(spec.risk.variances[0].control, VarianceControl::Weight(0.1));
    assert_eq!(spec.risk.variances[1].control, VarianceControl::AtMost(3.0));
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
fn inline_tables_serve_as_well_as_headers() {
    let spec = seed(AT_MOST);
    assert_eq!(spec.private.parameters[1].name.value, "η₂");
    assert_eq!(
        spec.private.universe.map(|u| u.value),
        Some(Universe::Discs {
            center: vec![1.0, 2.0],
            radius: vec![0.1],
            dimension: 2
        })
    );
    let Release::AtMost { epigraph, slope } = spec.query.release else {
        panic!("{:?}", spec.query.release);
    };
    assert_eq!(epigraph.value.block, "t");
    assert_eq!(slope[1].weight, 1000.5);
    assert_eq!(
        spec.privacy.mechanism,
        Mechanism::TruncatedLaplace { delta: 0.5 }
    );
}

#[test]
fn names_that_only_the_problem_file_can_resolve_keep_their_place() {
    let spec = seed(RECORDS);
    let Release::Identity {
        variables: Some(variables),
    } = &spec.query.release
    else {
        panic!("{:?}", spec.query.release);
    };
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
    let second = &spec.private.parameters[1].at[1];
    assert_eq!((second.line, second.column), (9, 58));
}

#[test]
fn an_epigraph_is_a_stage_of_its_own() {
    let spec = seed(AT_MOST);
    let stages: Vec<Stage> = spec.problem.variables.iter().map(|v| v.stage).collect();
    assert_eq!(stages, [Stage::Decision, Stage::Epigraph]);
}

#[test]
fn the_shape_of_an_identity_query_leaves_witnesses_out() {
    // x has 3 entries, y one, and t is a witness: 4 numbers are released.
    let shape = "shape = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]";
    let query = "release = \"rows\"\nrows = [{ \"x[0]\" = 1.0, y = 2 }, { \"x[2]\" = -1.0 }]\nshape = [[1.0, 0.0], [0.5, 2.0]]";
    assert!(EVERY_KEY.contains(query));
    let spec = seed(&EVERY_KEY.replacen(query, &format!("release = \"identity\"\n{shape}"), 1));
    let Some(Shape::Rows(rows)) = spec.query.shape.map(|shape| shape.value) else {
        panic!("no rows");
    };
    assert_eq!(rows.len(), 4);
}

#[test]
fn an_envelope_has_a_price_and_public_bounds_of_either_sign() {
    let spec = seed(ENVELOPE);
    assert_eq!(
        spec.privacy.sensitivity.value,
        Sensitivity::Envelope { price: 1000.0 }
    );
    assert_eq!(spec.feasibility.split, Split::Optimise);
    let public: Vec<_> = spec
        .private
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
        ("radius", Sensitivity::Radius),
        ("strong-convexity", Sensitivity::StrongConvexity),
        ("erm", Sensitivity::RegularisedErm),
    ] {
        let spec = seed(&CURVATURE.replacen(strong, &format!("by = \"{word}\""), 1));
        assert_eq!(spec.privacy.sensitivity.value, expected);
        assert_eq!(spec.privacy.sensitivity.value.by(), word);
    }
}

#[test]
fn the_curvature_is_a_shape_for_any_answer() {
    let spec = seed(CURVATURE);
    let shape = spec.query.shape.as_ref();
    assert_eq!(shape.map(|s| &s.value), Some(&Shape::Curvature));
    assert_eq!(shape.map(|s| (s.line, s.column)), Some((14, 9)));
}

#[test]
fn a_nominal_value_may_stand_on_a_bound_or_without_bounds() {
    let spec = seed(&ENVELOPE.replacen("nominal = 80", "nominal = 120.0", 1));
    assert_eq!(spec.private.parameters[0].nominal, Some(120.0));
    let spec = seed(CURVATURE);
    assert_eq!(spec.private.parameters[1].nominal, Some(0.0));
    assert_eq!(spec.private.parameters[1].bounds, None);
}

fn grid(spec: &Spec) -> &Grid {
    match &spec.problem.model {
        Model::Opf(grid) => grid,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_power_flow_says_all_about_its_network() {
    let spec = seed(OPF);
    let grid = grid(&spec);
    match &grid.network {
        NetworkSource::Builtin(name) => assert_eq!((&*name.value, name.line), ("24_ieee_rts", 3)),
        other => panic!("{other:?}"),
    }
    assert_eq!(grid.form, GridForm::Ptdf);
    assert_eq!(grid.susceptance, GridSusceptance::Full);
    assert!(grid.angle_limits);
    assert_eq!(grid.costs, GridCosts::Full);
    let demands = spec.private.demands.as_ref().unwrap();
    assert_eq!(demands.file.as_ref().unwrap().value, "loads.csv");
    assert_eq!(demands.bounds, Some(DemandBounds::Relative(0.3)));
    match &demands.loads {
        PrivateLoads::Only(numbers) => {
            let numbers: Vec<u32> = numbers.iter().map(|number| number.value).collect();
            assert_eq!(numbers, [3, 14, 15]);
        }
        other => panic!("{other:?}"),
    }
    assert!(spec.private.parameters.is_empty());
    assert_eq!(spec.query.release, Release::Cost);
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
    match &spec.private.demands.as_ref().unwrap().bounds {
        Some(DemandBounds::Each(file)) => {
            assert_eq!((&*file.value, file.column), ("bounds.csv", 19))
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((spec.query.place.line, spec.query.place.column), (10, 11));
}

#[test]
fn groups_of_units_may_have_names() {
    let spec = seed(GENERATION);
    assert!(matches!(grid(&spec).network, NetworkSource::File(_)));
    let groups = |spec: &Spec| match &spec.query.release {
        Release::Generation { groups } => groups
            .value
            .iter()
            .map(|group| {
                let units = group.units.iter().map(|unit| unit.value.clone());
                (group.name.clone(), units.collect::<Vec<_>>())
            })
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
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
    let demands = spec.private.demands.as_ref().unwrap();
    assert_eq!(demands.bounds, Some(DemandBounds::Within(50.0)));
    assert_eq!((&demands.loads, &demands.file), (&PrivateLoads::All, &None));

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
        Sensitivity::DeclaredLargestCost
    );
    assert_eq!(spec.privacy.sensitivity.value.by(), "declared");
    let grid = grid(&spec);
    assert_eq!(
        (grid.form, grid.costs),
        (GridForm::Angles, GridCosts::Linear)
    );
    assert_eq!(grid.susceptance, GridSusceptance::Standard);
    assert!(!grid.angle_limits);
    assert_eq!(
        spec.private.demands.unwrap().loads,
        PrivateLoads::WithDemand
    );
}
