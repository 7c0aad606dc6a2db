//! Ellipsoids with noise: every method keeps the promise, the safe box gives away a little and works in six dimensions.

use conveil::ask::{Adjacency, Ask, Privacy, SampleSize};
use conveil::chance::{Choice, Feasibility};
use conveil::noise::{Sampler, clopper_pearson};
use conveil::plan::{Decided, Plan};
use conveil::program::DataMap;
use conveil::solve::solve_checked;
use conveil_models::ellipsoid::{Determinant, Ellipsoid, Form, Polytope, builtin};

const ETA: f64 = 0.1;

fn wish(method: Choice) -> Feasibility {
    let wish = Feasibility::eta(ETA).method(method);
    wish.sampling(SampleSize::Exact, 0.1, 1)
}

/// A plan with noise of about this standard deviation.
fn plan(model: &Ellipsoid, sensitivity: f64, wish: Feasibility) -> Plan<'_> {
    let ask = Ask::new(model.query())
        .adjacency(Adjacency::Universe)
        .privacy(Privacy::gaussian(1.0, 0.1))
        .declared(sensitivity, "a study of feasibility alone")
        .feasibility(wish);
    Plan::new(model, ask).expect("a plan")
}

fn decided(plan: &Plan<'_>, offsets: &[f64]) -> Decided {
    plan.released().at(offsets).expect("a decision")
}

/// How many of the draws keep the ellipsoid inside, Y ⪰ 0.
fn kept(model: &Ellipsoid, offsets: &[f64], mean: &[f64], plan: &Plan<'_>, draws: u64) -> u64 {
    let mut sampler = Sampler::new(44, 0);
    let mut zeta = vec![0.0; model.answer_len()];
    let mut kept = 0;
    for _ in 0..draws {
        sampler.fill(plan.law(), &mut zeta);
        let answer: Vec<f64> = mean.iter().zip(&zeta).map(|(m, z)| m + z).collect();
        let drawn = model.inscribed(&answer).expect("an ellipsoid");
        let inside = drawn.clearance(model.normals(), offsets) >= 0.0;
        kept += u64::from(inside && drawn.indefinite_by() == 0.0);
    }
    kept
}

fn model(polytope: &Polytope) -> Ellipsoid {
    Ellipsoid::inside(polytope.normals.clone()).build().unwrap()
}

/// |xⱼ| ≤ 1 + j/4 with one corner cut off.
fn cut_box(n: usize) -> Polytope {
    let (mut normals, mut offsets) = (Vec::new(), Vec::new());
    for j in 0..n {
        for sign in [1.0, -1.0] {
            let mut a = vec![0.0; n];
            a[j] = sign;
            normals.push(a);
            offsets.push(1.0 + j as f64 / 4.0);
        }
    }
    normals.push(vec![1.0; n]);
    offsets.push(1.2 * n as f64);
    Polytope {
        name: "cut box",
        normals,
        offsets,
    }
}

#[test]
fn every_method_keeps_the_ellipsoid_inside_as_often_as_promised() {
    let draws = 100_000;
    for (polytope, sensitivity) in builtin().iter().zip([0.05, 0.04]) {
        let model = model(polytope);
        for method in [Choice::MASS_BOX, Choice::SAFE_BOX, Choice::SAMPLED_BOX] {
            let plan = plan(&model, sensitivity, wish(method));
            let found = decided(&plan, &polytope.offsets);
            let kept = kept(&model, &polytope.offsets, &found.answer, &plan, draws);
            // One-sided binomial test at 1e-6.
            let (_, high) = clopper_pearson(kept, draws, 2e-6).unwrap();
            assert!(high >= 1.0 - ETA, "{} {method:?}: {kept}", polytope.name);
        }
        // The same noise around the deterministic ellipsoid fails the test that the others pass.
        let plan = plan(&model, sensitivity, wish(Choice::MASS_BOX));
        let program = model.at(&polytope.offsets).unwrap();
        let bare = solve_checked(&program, plan.released().settings()).unwrap();
        let answer = &bare.x[..model.answer_len()];
        let kept = self::kept(&model, &polytope.offsets, answer, &plan, draws);
        let (_, high) = clopper_pearson(kept, draws, 2e-6).unwrap();
        assert!(high < 0.3, "{}: {kept}", polytope.name);
    }
}

#[test]
fn the_scenario_method_serves_the_octagon() {
    let octagon = &builtin()[0];
    let model = model(octagon);
    let plan = plan(&model, 0.05, wish(Choice::SCENARIO));
    let found = decided(&plan, &octagon.offsets);
    let kept = kept(&model, &octagon.offsets, &found.answer, &plan, 10_000);
    let (_, high) = clopper_pearson(kept, 10_000, 2e-6).unwrap();
    assert!(high >= 1.0 - ETA, "{kept}");
}

/// Safe means a smaller ellipsoid than the vertices admit, and one that survives every vertex of the whole box.
#[test]
fn the_safe_box_lies_inside_the_box_of_vertices() {
    for (polytope, sensitivity) in builtin().iter().zip([0.05, 0.04]) {
        let model = model(polytope);
        let volume = |method: Choice| {
            let plan = plan(&model, sensitivity, wish(method));
            let found = decided(&plan, &polytope.offsets);
            let ends = plan.released().design().boxes()[0];
            for vertex in 0..1u32 << model.answer_len() {
                let moved = found.answer.iter().enumerate();
                let answer: Vec<f64> = moved
                    .map(|(j, mean)| {
                        mean + match vertex >> j & 1 {
                            0 => ends.lower,
                            _ => ends.upper,
                        }
                    })
                    .collect();
                let at = model.inscribed(&answer).unwrap();
                assert!(at.clearance(model.normals(), &polytope.offsets) > -1e-6);
                assert!(at.indefinite_by() < 1e-6);
            }
            model.inscribed(&found.answer).unwrap().volume()
        };
        let (vertices, safe) = (volume(Choice::MASS_BOX), volume(Choice::SAFE_BOX));
        assert!(safe <= vertices * (1.0 + 1e-6));
        // The bound is not hollow: it gives away less than a fifth of the volume.
        assert!(
            safe > 0.8 * vertices,
            "{}: {safe} of {vertices}",
            polytope.name
        );
    }
}

#[test]
fn six_dimensions_work_with_the_safe_box_and_are_refused_at_vertices() {
    let polytope = cut_box(6);
    let model = model(&polytope);
    assert_eq!(model.answer_len(), 27);
    let plan = plan(&model, 0.02, wish(Choice::SAFE_BOX));
    let found = decided(&plan, &polytope.offsets);
    let draws = 10_000;
    let kept = kept(&model, &polytope.offsets, &found.answer, &plan, draws);
    let (_, high) = clopper_pearson(kept, draws, 2e-6).unwrap();
    assert!(high >= 1.0 - ETA, "{kept}");
    let ask = Ask::new(model.query())
        .adjacency(Adjacency::Universe)
        .privacy(Privacy::gaussian(1.0, 0.1))
        .declared(0.02, "a study")
        .feasibility(wish(Choice::MASS_BOX));
    let refusal = Plan::new(&model, ask).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        refusal,
        "refused: a box on the second-order block `facet 12`\n  because 21 noises reach it, and at the 2^21 vertices of a box it would take 14680064 rows\n  instead: `method = \"safe-box\"`, a bound of the block's own size, or `method = \"scenario\"`"
    );
}

/// With the determinant in the chance constraint, t is what every ellipsoid of the box has at least; the mean
/// ellipsoid is smaller than with the determinant at the mean, which maximises just that.
#[test]
fn both_places_of_the_determinant_do_what_they_say() {
    let octagon = &builtin()[0];
    let solve = |determinant: Determinant, form: Form| {
        let model = Ellipsoid::inside(octagon.normals.clone())
            .determinant(determinant)
            .form(form)
            .build()
            .unwrap();
        let plan = plan(&model, 0.05, wish(Choice::MASS_BOX));
        let found = decided(&plan, &octagon.offsets);
        let ends = plan.released().design().boxes()[0];
        let size = -found.objective;
        let smallest = (0..32u32)
            .map(|vertex| {
                let moved = found.answer.iter().enumerate();
                let answer: Vec<f64> = moved
                    .map(|(j, mean)| match vertex >> j & 1 {
                        0 => mean + ends.lower,
                        _ => mean + ends.upper,
                    })
                    .collect();
                model
                    .inscribed(&answer)
                    .unwrap()
                    .determinant()
                    .max(0.0)
                    .sqrt()
            })
            .fold(f64::INFINITY, f64::min);
        let mean = model.inscribed(&found.answer).unwrap();
        (size, smallest, mean.determinant().sqrt())
    };
    let (size, _, own) = solve(Determinant::AtTheMean, Form::Tower);
    assert!((size - own).abs() < 1e-5);
    let (exact, smallest, noisy) = solve(Determinant::WithNoise, Form::SecondOrder);
    // det^{1/2} is concave: over a box it is least at a vertex.
    assert!((exact - smallest).abs() < 1e-5, "{exact} and {smallest}");
    assert!(noisy < own + 1e-6 && exact < size);
    // A factor K that is affine in the noise is a restriction: never more, and not much less.
    for form in [Form::PowerCone, Form::Tower] {
        let (affine, smallest, _) = solve(Determinant::WithNoise, form);
        assert!(affine <= smallest + 1e-6 && affine <= exact + 1e-6);
        assert!(affine > 0.9 * exact, "{affine} of {exact}");
    }
}

/// Past two dimensions K is decided before the noise: the block meets the noise on Y alone, the safe box serves it too,
/// and t is still what every ellipsoid of the box has at least.
#[test]
fn the_determinant_under_noise_stays_practical_in_three_dimensions() {
    let polytope = &builtin()[1];
    let model = Ellipsoid::inside(polytope.normals.clone())
        .determinant(Determinant::WithNoise)
        .build()
        .unwrap();
    for method in [Choice::MASS_BOX, Choice::SAFE_BOX] {
        let plan = plan(&model, 0.02, wish(method));
        let found = decided(&plan, &polytope.offsets);
        // 64 vertices for the determinant's 21 rows, not 512; a facet's 4 rows at up to 64 each.
        assert!(found.lifted_size.1 < 5000, "{:?}", found.lifted_size);
        let ends = plan.released().design().boxes()[0];
        let size = -found.objective;
        let smallest = (0..1u32 << 6)
            .map(|vertex| {
                let mut answer = found.answer.clone();
                for (j, value) in answer[3..].iter_mut().enumerate() {
                    *value += if vertex >> j & 1 == 1 {
                        ends.upper
                    } else {
                        ends.lower
                    };
                }
                let at = model.inscribed(&answer).unwrap();
                assert!(at.indefinite_by() == 0.0);
                at.determinant().cbrt()
            })
            .fold(f64::INFINITY, f64::min);
        assert!(size <= smallest + 1e-6, "{method:?}: {size} of {smallest}");
        assert!(size > 0.85 * smallest, "{method:?}: {size} of {smallest}");
    }
}

/// In four dimensions the determinant's block of order 8 is too large at its 1024 vertices, and the way out works.
#[test]
fn four_dimensions_under_noise_name_the_safe_box_and_it_works() {
    let polytope = cut_box(4);
    let model = Ellipsoid::inside(polytope.normals.clone())
        .determinant(Determinant::WithNoise)
        .build()
        .unwrap();
    let ask = |method: Choice| {
        Ask::new(model.query())
            .adjacency(Adjacency::Universe)
            .privacy(Privacy::gaussian(1.0, 0.1))
            .declared(0.02, "a study")
            .feasibility(wish(method))
    };
    let refusal = Plan::new(&model, ask(Choice::AUTO))
        .map(|_| ())
        .unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "refused: a box on the semidefinite block `determinant`\n  because 10 noises reach it, and at the 2^10 vertices of a box it would take 36864 rows\n  instead: `method = \"safe-box\"`, a bound of the block's own size, or `method = \"scenario\"`"
    );
    let plan = Plan::new(&model, ask(Choice::SAFE_BOX)).unwrap();
    assert!(plan.released().at(&polytope.offsets).is_ok());
}

/// A query for the centre alone leaves Y free: the safe box says why it cannot serve that, and what can.
#[test]
fn a_centre_alone_is_served_at_vertices() {
    let polytope = cut_box(3);
    let model = model(&polytope);
    let ask = |method: Choice| {
        Ask::new(conveil::ask::Query::Variables(vec!["centre".into()]))
            .adjacency(Adjacency::Universe)
            .privacy(Privacy::gaussian(1.0, 0.1))
            .declared(0.02, "a study")
            .feasibility(wish(method))
    };
    let refusal = Plan::new(&model, ask(Choice::SAFE_BOX))
        .map(|_| ())
        .unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "refused: the safe box on the semidefinite block `positive`\n  because its entries are not all released: how the others follow the noise is still free, and |V| is a bound for fixed matrices only\n  instead: a query that releases every entry of the block; or `method = \"mass-box\"` at its 2^3 vertices"
    );
    let plan = Plan::new(&model, ask(Choice::MASS_BOX)).unwrap();
    assert!(plan.released().at(&polytope.offsets).is_ok());
}

/// The ellipsoid is unique, and the plan knows; it does not where the theorem ends.
#[test]
fn only_an_answer_that_may_not_be_unique_is_warned_about() {
    let octagon = &builtin()[0];
    let warned = |determinant: Determinant, form: Form, query: Option<conveil::ask::Query>| {
        let model = Ellipsoid::inside(octagon.normals.clone())
            .determinant(determinant)
            .form(form)
            .build()
            .unwrap();
        let ask = Ask::new(query.unwrap_or_else(|| model.query()))
            .adjacency(Adjacency::Universe)
            .privacy(Privacy::gaussian(1.0, 0.1))
            .declared(0.05, "a test")
            .feasibility(wish(Choice::MASS_BOX));
        let plan = Plan::new(&model, ask).unwrap();
        plan.warnings()
            .iter()
            .any(|w| w.contains("may not be unique"))
    };
    assert!(!warned(Determinant::AtTheMean, Form::Tower, None));
    assert!(!warned(Determinant::WithNoise, Form::SecondOrder, None));
    assert!(warned(Determinant::WithNoise, Form::Tower, None));
    let centre = conveil::ask::Query::Variables(vec!["centre".into()]);
    assert!(warned(Determinant::AtTheMean, Form::Tower, Some(centre)));
}
