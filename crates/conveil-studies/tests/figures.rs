//! Densities and figures.

use conveil::solve::Batch;
use conveil_grid::Network;
use conveil_studies::density::{self, Table, laplace};
use conveil_studies::opf;
use conveil_studies::plot::{Axis, Colour, Figure, Panel, Series, Shape, font};
use resvg::{tiny_skia, usvg};

fn densities() -> Table {
    let network = Network::builtin("24_ieee_rts").unwrap();
    let settings = density::Settings {
        points: 4000,
        ..density::Settings::default()
    };
    density::run(&network, &settings, &Batch::new()).unwrap()
}

/// The picture decodes, has ink, and every letter of the SVG is known.
fn is_sound(figure: &Figure) {
    let svg = figure.to_svg();
    usvg::Tree::from_str(&svg, &usvg::Options::default()).unwrap();
    assert!(!svg.contains("<text"));
    let paths = svg
        .split(" d=\"")
        .skip(1)
        .filter_map(|p| p.split('"').next());
    for path in paths {
        assert!(!path.contains("NaN") && !path.contains("inf"), "{path}");
    }
    let png = figure.to_png(1.0).unwrap();
    let picture = tiny_skia::Pixmap::decode_png(&png).unwrap();
    let dark = picture.pixels().iter().filter(|p| p.red() < 100).count();
    assert!(dark > 200, "{dark} dark pixels");
}

#[test]
fn densities_integrate_to_one() {
    for row in &densities().rows {
        assert_eq!(row.status, "ok");
        let area: f64 = row
            .curve
            .windows(2)
            .map(|p| 0.5 * (p[1].0 - p[0].0) * (p[0].1 + p[1].1))
            .sum();
        assert!((area - 1.0).abs() < 1e-3, "{}: {area}", row.dataset);
    }
}

#[test]
fn densities_of_adjacent_demands_differ_by_at_most_e_to_the_epsilon() {
    let found = densities();
    for rows in found.rows.chunks(3) {
        let [lowered, intact, raised] = rows else {
            panic!("three datasets for each ε");
        };
        for other in [lowered, raised] {
            let mut largest = 0.0f64;
            for ((cost, a), (same, b)) in other.curve.iter().zip(&intact.curve) {
                assert_eq!(cost, same);
                largest = largest.max((a / b).ln().abs());
            }
            assert!(largest <= other.epsilon, "ε = {}: {largest}", other.epsilon);
            assert!((largest - other.privacy_loss.unwrap()).abs() < 1e-9);
        }
        // The price at the largest demand moves the centre; less demand never costs more.
        assert!(lowered.mean_cost < intact.mean_cost && intact.mean_cost < raised.mean_cost);
    }
    // A smaller ε costs more.
    assert!(found.rows[1].mean_cost < found.rows[4].mean_cost);
    assert!((laplace(3.0, 3.0, 0.5) - 1.0).abs() < 1e-15);
}

#[test]
fn the_csv_has_every_point() {
    let found = densities();
    let csv = found.to_csv();
    assert!(csv.starts_with("network,epsilon,dataset,cost,density\n24_ieee_rts,10,lowered,"));
    assert_eq!(csv.lines().count(), 1 + 6 * 4003);
    assert!(csv.lines().skip(1).all(|l| l.split(',').count() == 5));
}

#[test]
fn the_figures_of_the_studies_are_sound() {
    is_sound(&densities().figure());
    let settings = opf::Settings {
        draws: 5,
        ..opf::Settings::default()
    };
    let networks = ["5_pjm", "14_ieee"].map(|n| Network::builtin(n).unwrap());
    let table = opf::run(&networks, &settings, &Batch::new()).unwrap();
    is_sound(&table.figure());
}

#[test]
fn a_figure_takes_whatever_it_is_given() {
    let odd = vec![
        (0.0, f64::NAN),
        (1.0, f64::INFINITY),
        (2.0, -3.0),
        (f64::NAN, 1.0),
    ];
    let bands = vec![(0.0, 1.0, 2.0), (1.0, f64::NAN, 2.0)];
    for y in [Axis::linear("y"), Axis::log("y <&> \"y\"")] {
        let panel = Panel::new("€ & <odd>", Axis::linear("x"), y)
            .with(Series::dashed(Colour::Blue, odd.clone()).label("a"))
            .with(Series::points(Colour::Green, Shape::Cross, odd.clone()).label("a"))
            .with(Series::bars(Colour::Grey, 0.4, odd.clone()).label("b"))
            .with(Series::band(Colour::Sky, bands.clone()).label("c"))
            .with(Series::intervals(Colour::Purple, bands.clone()).label("d"));
        is_sound(&Figure::new("odd data").panel(panel));
    }
    let empty = Figure::new("");
    assert!(usvg::Tree::from_str(&empty.to_svg(), &usvg::Options::default()).is_ok());
    assert!(empty.to_png(0.0).is_err());
}

#[test]
fn every_letter_has_strokes_that_parse() {
    let text: String = (' '..='~')
        .chain("αβγδεζηθλμπσΔ′″–−±×·≤≥°".chars())
        .filter(|c| font::has(*c))
        .collect();
    assert!(text.chars().count() > 100, "{}", text.chars().count());
    let figure = Figure::new(text).panel(Panel::new("", Axis::linear(""), Axis::linear("")));
    is_sound(&figure);
    std::fs::write(
        concat!(env!("CARGO_TARGET_TMPDIR"), "/letters.png"),
        figure.to_png(2.0).unwrap(),
    )
    .unwrap();
}
