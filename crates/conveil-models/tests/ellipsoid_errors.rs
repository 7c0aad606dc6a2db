//! What is refused: bad normals before any data, bad offsets at the data only.

use conveil::program::DataMap;
use conveil::{Error, Result};
use conveil_models::ellipsoid::{Ellipsoid, Form, Normals, radius};

fn build(normals: &[&[f64]]) -> Result<Ellipsoid> {
    Ellipsoid::inside(normals.iter().map(|row| row.to_vec()).collect()).build()
}

fn refusal(normals: &[&[f64]]) -> String {
    match build(normals) {
        Err(Error::Input(message)) => message,
        other => panic!("not refused as input: {other:?}"),
    }
}

const SQUARE: [&[f64]; 4] = [&[1.0, 0.0], &[-1.0, 0.0], &[0.0, 1.0], &[0.0, -1.0]];

#[test]
fn normals_are_checked_before_any_data() {
    let cases: [(&[&[f64]], &str); 8] = [
        (&[], "the polytope has no facets: give a normal for each"),
        (
            &[&[]],
            "the normals have 0 dimensions: from 1 to 64 are possible",
        ),
        (
            &[&[1.0, 0.0], &[-1.0, 0.0, 0.0]],
            "the normal of facet 1 has 3 numbers, that of facet 0 has 2",
        ),
        (
            &[&[1.0], &[f64::NAN]],
            "the normal of facet 1 holds NaN: it must be finite numbers",
        ),
        (
            &[&[1.0, 0.0], &[0.0, 0.0]],
            "the normal of facet 1 is zero: such a row is no facet, leave it out",
        ),
        (
            &[&[1.0, 0.0], &[-1.0, 0.0], &[0.0, 1.0]],
            "the polytope is unbounded, whatever the offsets: no facet stops the direction (0, -1); add the facet that would",
        ),
        (
            &[&[1.0, 1.0], &[-1.0, -1.0]],
            "the polytope is unbounded, whatever the offsets: no facet stops the direction (1, -1); add the facet that would",
        ),
        (
            &[&[2.0]],
            "the polytope is unbounded, whatever the offsets: no facet stops the direction (-1); add the facet that would",
        ),
    ];
    for (normals, message) in cases {
        assert_eq!(refusal(normals), message);
    }
    let long = vec![vec![1.0; 65]; 66];
    assert!(Ellipsoid::inside(long).build().is_err());
}

#[test]
fn options_must_fit_the_facets() {
    let square = || Ellipsoid::inside(SQUARE.iter().map(|r| r.to_vec()).collect());
    let message = |result: Result<Ellipsoid>| result.map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        message(square().bounds(vec![(0.0, 1.0)]).build()),
        "1 pairs of bounds for 4 facets: give one for each"
    );
    assert_eq!(
        message(square().nominal(vec![1.0; 3]).build()),
        "3 nominal offsets for 4 facets: give one for each"
    );
    assert_eq!(
        message(square().bounds(vec![(1.0, 0.0); 4]).build()),
        "the bounds of parameter `offset 0` must be finite and in order, found [1, 0]"
    );
    let segment = Ellipsoid::inside(vec![vec![1.0], vec![-1.0]]).form(Form::SecondOrder);
    assert_eq!(
        message(segment.build()),
        "the second-order form of the determinant is for 2 dimensions, and the normals have 1: take the tower or the power cone"
    );
}

#[test]
fn offsets_without_room_are_an_error_of_the_data() {
    let model = build(&SQUARE).unwrap();
    let message = |offsets: &[f64]| model.at(offsets).map(|_| ()).unwrap_err();
    // x ≤ 1 and x ≥ 2.
    let empty = message(&[1.0, -2.0, 1.0, 1.0]);
    assert!(matches!(empty, conveil::Error::Infeasible(_)));
    let text = empty.to_string();
    assert!(
        text.contains("facet 0") && text.contains("facet 1"),
        "{text}"
    );
    assert!(!text.contains("facet 2"), "{text}");
    // x = 1.
    let flat = message(&[1.0, -1.0, 1.0, 1.0]).to_string();
    let start = "the polytope has no interior: `facet 0`, `facet 1` leave no room between them, and the largest ellipsoid is flat";
    let start_swapped = start.replace("`facet 0`, `facet 1`", "`facet 1`, `facet 0`");
    assert!(
        flat.starts_with(start) || flat.starts_with(&start_swapped),
        "{flat}"
    );
    assert_eq!(
        message(&[1.0; 3]).to_string(),
        "the data have 3 entries, but the model has 4 private parameters"
    );
    assert_eq!(
        message(&[1.0, f64::NAN, 1.0, 1.0]).to_string(),
        "the value of `offset 1` is NaN: it must be a finite number"
    );
    // All facets through the origin: a point.
    assert!(message(&[0.0; 4]).to_string().contains("no interior"));
}

#[test]
fn the_largest_ball_is_that_of_the_nearest_facets() {
    let square = Normals::new(SQUARE.iter().map(|r| r.to_vec()).collect()).unwrap();
    let of = |offsets: &[f64]| radius(&square, offsets).unwrap();
    assert!((of(&[3.0, 1.0, 0.5, 1.0]) - 0.75).abs() < 1e-6);
    assert!((of(&[3e6, 1e6, 5e5, 1e6]) - 7.5e5).abs() < 1.0);
    // x ≤ 1 and x ≥ 2: each facet half a unit out.
    assert!((of(&[1.0, -2.0, 9.0, 9.0]) + 0.5).abs() < 1e-6);
    // A thin polytope is thin, not flat.
    let model = build(&SQUARE).unwrap();
    assert!(model.at(&[1.0, -0.999, 1.0, 1.0]).is_ok());
}

#[test]
fn offsets_are_clipped_to_their_public_bounds() {
    let square = Ellipsoid::inside(SQUARE.iter().map(|r| r.to_vec()).collect());
    let model = square.bounds(vec![(0.9, 1.1); 4]).build().unwrap();
    let clipped = model.at(&[5.0, -5.0, 1.0, 1.0]).unwrap();
    assert_eq!(clipped, model.at(&[1.1, 0.9, 1.0, 1.0]).unwrap());
}
