//! The numbers of pictures, by a second road.

mod places;

use conveil_grid::{Network, Susceptance};
use conveil_workbench::picture::{Body, Curves, Grid, Picture, Scores};
use conveil_workbench::{Report, Silent, Text, Workbench};
use places::{copied, example, examples};

fn solved(bench: &Workbench) -> Report {
    bench.solve(None, &Silent).unwrap()
}

/// The number of this name.
fn named(all: &[(String, f64)], name: &str) -> f64 {
    let found = all.iter().find(|n| n.0 == name);
    found.unwrap_or_else(|| panic!("no {name}")).1
}

fn grid(report: &Report) -> &Grid {
    match report.picture() {
        Some(Picture::Grid(grid)) => grid,
        other => panic!("{other:?}"),
    }
}

/// Columns of a CSV without quotes, by name.
fn columns(file: &str, names: &[&str]) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(examples().join(file)).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &&str| header.iter().position(|h| h == name).unwrap();
    let places: Vec<usize> = names.iter().map(place).collect();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        places.iter().map(|&p| fields[p].parse().unwrap()).collect()
    };
    lines.filter(|line| !line.is_empty()).map(row).collect()
}

/// What is generated less what is drawn leaves over the branches; flows are those of the angles that were decided; a unit's
/// deviation is that of its variable.
#[test]
fn flows_balance_at_each_bus_and_follow_the_angles() {
    let report = solved(&example("opf-24"));
    let grid = grid(&report);
    let mut left: Vec<f64> = grid.buses.iter().map(|bus| -bus.load_mw).collect();
    grid.units.iter().for_each(|u| left[u.bus] += u.mean_mw);
    for branch in &grid.branches {
        left[branch.from] -= branch.flow_mw;
        left[branch.to] += branch.flow_mw;
    }
    for (bus, left) in grid.buses.iter().zip(left) {
        assert!(left.abs() < 1e-6, "bus {}: {left}", bus.number);
    }
    // The loads are those of the file, all within their bounds.
    for row in columns("opf-24.csv", &["bus", "demand"]) {
        let bus = grid
            .buses
            .iter()
            .find(|bus| f64::from(bus.number) == row[0])
            .unwrap();
        assert!(
            bus.is_private && (bus.load_mw - row[1]).abs() < 1e-9,
            "{bus:?}"
        );
    }
    let engine = report.engine();
    let network = Network::builtin("24_ieee_rts").unwrap();
    let angle = |bus: usize| {
        let bus = &network.buses()[bus];
        match bus.is_reference {
            true => 0.0,
            false => named(&engine.mean, &format!("angle {}", bus.number)),
        }
    };
    for (branch, drawn) in network.branches().iter().zip(&grid.branches) {
        let b = branch.susceptance(Susceptance::Standard);
        let flow = b * (angle(branch.from) - angle(branch.to));
        assert!(
            (flow - drawn.flow_mw).abs() < 1e-5,
            "{}: {flow}",
            drawn.name
        );
    }
    for (i, unit) in grid.units.iter().enumerate() {
        let name = network.unit_name(i);
        let deviation = named(&engine.deviation, &name);
        assert!(
            (deviation - unit.deviation_mw).abs() < 1e-9 * (1.0 + deviation),
            "{name}"
        );
        assert_eq!(named(&engine.mean, &name), unit.mean_mw);
    }
    assert!(grid.units.iter().any(|unit| unit.deviation_mw > 1.0));
}

/// Bus 10 of this network has one unit and one line: what moves the unit moves the line, and as much the next one, since
/// nothing is at bus 9.
#[test]
fn the_noise_of_a_lone_unit_goes_over_its_line() {
    for form in ["angles", "ptdf"] {
        let spec = copied("opf-24", &format!("lone-{form}"), |file, text| match file {
            "opf-24.toml" => {
                let text = text.replace(
                    "\"24_ieee_rts\"",
                    &format!("\"118_ieee\"\nform = \"{form}\""),
                );
                text.replace("demand = \"opf-24.csv\"", "")
            }
            _ => text,
        });
        let report = solved(&Workbench::open(&spec).unwrap());
        let grid = grid(&report);
        let bus = |number| {
            grid.buses
                .iter()
                .position(|bus| bus.number == number)
                .unwrap()
        };
        let units: Vec<_> = grid
            .units
            .iter()
            .filter(|unit| unit.bus == bus(10))
            .collect();
        assert_eq!(units.len(), 1);
        for ends in [(9, 10), (8, 9)] {
            let mut lines = grid.branches.iter();
            let line = lines
                .find(|l| (l.from, l.to) == (bus(ends.0), bus(ends.1)))
                .unwrap();
            assert!(
                (line.flow_mw + units[0].mean_mw).abs() < 1e-5,
                "{form} {ends:?}: {line:?}"
            );
            let apart = line.deviation_mw - units[0].deviation_mw;
            assert!(
                apart.abs() < 1e-6 * (1.0 + line.deviation_mw),
                "{form} {ends:?}: {apart}"
            );
        }
    }
}

fn curves(report: &Report) -> &Curves {
    match report.picture() {
        Some(Picture::Curves(curves)) => curves,
        other => panic!("{other:?}"),
    }
}

/// The mean curve is Σ w·√(1 + (speed − c)²); the conditions hold for the mean and for most draws; records are the file's.
#[test]
fn curves_are_those_of_the_weights() {
    let report = solved(&example("wind-curve"));
    let picture = curves(&report);
    let engine = report.engine();
    for (x, h) in picture.at.iter().zip(&picture.mean) {
        let terms = [3.0, 7.0, 11.0, 15.0].map(|centre: f64| {
            named(&engine.mean, &format!("radial(speed, {centre})")) * (x - centre).hypot(1.0)
        });
        assert!((terms.iter().sum::<f64>() - h).abs() < 1e-9, "{x}");
    }
    let increases = |curve: &Vec<f64>| {
        let inside = |i: &usize| (3.05..9.95).contains(&picture.at[*i]);
        (1..curve.len())
            .filter(inside)
            .all(|i| curve[i] >= curve[i - 1] - 1e-9)
    };
    assert!(increases(&picture.mean));
    let kept = picture
        .noisy
        .iter()
        .filter(|curve| increases(curve))
        .count();
    assert!(
        kept + 4 >= picture.noisy.len() && picture.noisy.len() == 24,
        "{kept}"
    );
    assert!(picture.noisy.iter().all(|curve| curve != &picture.mean));
    let file = columns("wind-curve.csv", &["speed", "power"]);
    assert_eq!(picture.records_in_all, file.len());
    for (speed, power) in &picture.records {
        let is_it = |row: &Vec<f64>| row[0] == *speed && row[1].clamp(0.0, 1.0) == *power;
        assert!(file.iter().any(is_it), "{speed} {power}");
    }
    // The fit without noise is nearer to the records than the mean, which leaves room.
    let squares = |curve: &Vec<f64>| {
        let at = |speed: f64| picture.at.iter().position(|x| *x >= speed).unwrap();
        let each = picture
            .records
            .iter()
            .map(|(x, y)| (curve[at(*x)] - y).powi(2));
        each.sum::<f64>()
    };
    assert!(squares(picture.without_noise.as_ref().unwrap()) < squares(&picture.mean));
}

fn scores(report: &Report) -> &Scores {
    match report.picture() {
        Some(Picture::Scores(scores)) => scores,
        other => panic!("{other:?}"),
    }
}

/// Scores are w·x − b of the features scaled by their public bounds; a score moves by σ‖(x, 1)‖.
#[test]
fn scores_are_those_of_the_hyperplane() {
    let report = solved(&example("svm-machines"));
    let picture = scores(&report);
    let engine = report.engine();
    let numbers: Vec<f64> = engine.answer.iter().map(|n| n.1).collect();
    let [w1, w2, b] = numbers[..] else {
        panic!("{numbers:?}")
    };
    let (mut first, mut second, mut lengths) = (Vec::new(), Vec::new(), 0.0);
    let rows = columns("svm-machines.csv", &["temperature", "vibration", "failed"]);
    for row in &rows {
        let x = (row[0] / 60.0 - 1.0).clamp(-1.0, 1.0);
        let y = (row[1] / 6.0 - 1.0).clamp(-1.0, 1.0);
        let score = w1 * x + w2 * y - b;
        if row[2] > 0.5 {
            second.push(score)
        } else {
            first.push(score)
        }
        lengths += (x * x + y * y + 1.0).sqrt() / rows.len() as f64;
    }
    let near = |a: &[f64], b: &[f64]| {
        assert_eq!(a.len(), b.len());
        a.iter()
            .zip(b)
            .for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} {b}"));
    };
    near(&picture.first, &first);
    near(&picture.second, &second);
    assert!((picture.deviation / (engine.scale * lengths) - 1.0).abs() < 1e-9);
    assert_eq!(
        (&*picture.first_name, &*picture.second_name),
        ("failed is 0", "failed is 1")
    );
}

fn body(report: &Report) -> &Body {
    match report.picture() {
        Some(Picture::Body(body)) => body,
        other => panic!("{other:?}"),
    }
}

fn slack(row: &[f64; 2], offset: f64, at: &(f64, f64)) -> f64 {
    offset - row[0] * at.0 - row[1] * at.1
}

/// Each corner meets all facets and two of them exactly; the bodies lie inside; the largest touches.
#[test]
fn bodies_lie_inside_their_limits() {
    let report = solved(&example("ellipsoid"));
    let picture = body(&report);
    let normals = [
        [1.0, 0.0],
        [-1.0, 0.0],
        [0.0, 1.0],
        [0.0, -1.0],
        [1.0, 1.0],
        [-1.0, 1.0],
        [1.0, -2.0],
        [-1.0, -1.0],
    ];
    let text = std::fs::read_to_string(examples().join("ellipsoid.csv")).unwrap();
    let numbers = text.lines().filter(|line| !line.starts_with('#'));
    let offsets: Vec<f64> = numbers.map(|line| line.parse().unwrap()).collect();
    let facets: Vec<_> = normals.iter().zip(offsets).collect();
    for corner in &picture.limits {
        let slacks: Vec<f64> = facets.iter().map(|(a, b)| slack(a, *b, corner)).collect();
        assert!(slacks.iter().all(|s| *s > -1e-9), "{corner:?}");
        assert!(
            slacks.iter().filter(|s| s.abs() < 1e-9).count() >= 2,
            "{corner:?}"
        );
    }
    assert!(
        (7..=8).contains(&picture.limits.len()),
        "{:?}",
        picture.limits
    );
    let least = |outline: &[(f64, f64)]| {
        let each = outline
            .iter()
            .flat_map(|p| facets.iter().map(move |(a, b)| slack(a, *b, p)));
        each.fold(f64::INFINITY, f64::min)
    };
    assert!(least(&picture.mean) > 0.01);
    let largest = least(picture.without_noise.as_ref().unwrap());
    assert!((-1e-6..0.01).contains(&largest), "{largest}");
    // η is 10%.
    let inside = picture.noisy.iter().filter(|b| least(b) >= 0.0).count();
    assert!(
        inside + 5 >= picture.noisy.len() && picture.noisy.len() == 16,
        "{inside}"
    );
}

/// A box of half-widths 1, 2 and 3: the shadow on two coordinates is a rectangle, that of the largest body an ellipse in it.
#[test]
fn a_body_of_more_dimensions_casts_its_shadow() {
    let spec = "version = 1
[problem]
model = \"ellipsoid\"
normals = [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
[private]
offsets = \"offsets.csv\"
adjacency = { kind = \"universe\" }
[private.universe]
kind = \"box\"
center = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
relative = 0.001
[query]
release = \"identity\"
[privacy]
mechanism = \"gaussian\"
epsilon = 1.0
delta = 0.1
sensitivity = { by = \"sampled\", gamma = 0.2, beta = 0.2, seed = 1 }
[feasibility]
eta = 0.1
";
    let text = |name, text| Text { name, text };
    let bench = Workbench::from_files(text("box.toml", spec), &[]).unwrap();
    let offsets = [text("offsets.csv", "1\n1\n2\n2\n3\n3\n")];
    let report = solved(&bench.with_private(&offsets).unwrap());
    let picture = body(&report);
    assert_eq!(picture.x, "coordinate 1, shadow of 3 dimensions");
    assert_eq!(picture.limits.len(), 4, "{:?}", picture.limits);
    for (x, y) in &picture.limits {
        assert!(
            (x.abs() - 1.0).abs() < 1e-9 && (y.abs() - 2.0).abs() < 1e-9,
            "{x} {y}"
        );
    }
    for (x, y) in picture.without_noise.as_ref().unwrap() {
        assert!((x.hypot(0.5 * y) - 1.0).abs() < 1e-4, "{x} {y}");
    }
}
