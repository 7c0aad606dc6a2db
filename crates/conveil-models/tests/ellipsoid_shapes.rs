//! Deterministic ellipsoids against closed forms and against a second formulation (M12).

use conveil::noise::Sampler;
use conveil::program::DataMap;
use conveil::solve::{Settings, solve_checked};
use conveil_models::ellipsoid::{Determinant, Ellipsoid, Form, Inscribed};

type Matrix = Vec<Vec<f64>>;

/// The forms for any dimension.
const FORMS: [Form; 2] = [Form::Tower, Form::PowerCone];

fn solved(normals: &Matrix, offsets: &[f64], form: Form) -> Inscribed {
    let model = Ellipsoid::inside(normals.clone()).form(form).build();
    let model = model.expect("a model");
    let program = model.at(offsets).expect("a program");
    // The optimum is flat: Y is known to the square root of what t is. As tightly as the solver can.
    let solution = [1e-12, 1e-11, 1e-10].into_iter().find_map(|tolerance| {
        let settings = Settings::default().with_tolerance(tolerance).ok()?;
        solve_checked(&program, &settings).ok()
    });
    model
        .inscribed(&solution.expect("an optimum").x)
        .expect("an ellipsoid")
}

/// Within 1e-6 of the largest number.
fn assert_close(found: &[f64], right: &[f64], what: &str) {
    let size = right.iter().fold(1.0f64, |m, v| m.max(v.abs()));
    for (f, r) in found.iter().zip(right) {
        let close = (f - r).abs() < 1e-6 * size;
        assert!(close, "{what}: {found:?}, not {right:?}");
    }
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let n = b.len();
    let entry = |row: &[f64], j: usize| (0..n).map(|l| row[l] * b[l][j]).sum();
    a.iter()
        .map(|row| (0..n).map(|j| entry(row, j)).collect())
        .collect()
}

#[test]
fn a_box_holds_the_ellipsoid_of_its_half_widths() {
    for n in 1..=6 {
        let centre: Vec<f64> = (0..n).map(|j| 0.3 * j as f64 - 0.5).collect();
        let half: Vec<f64> = (0..n).map(|j| 1.0 + 0.4 * j as f64).collect();
        let (mut normals, mut offsets) = (Vec::new(), Vec::new());
        for j in 0..n {
            for (sign, stretch) in [(1.0, 1.0), (-1.0, 2.0 + j as f64)] {
                // Longer normals describe the same facet.
                let mut a = vec![0.0; n];
                a[j] = sign * stretch;
                normals.push(a);
                offsets.push(stretch * (sign * centre[j] + half[j]));
            }
        }
        // A facet twice, and one that touches nothing: redundant rows change nothing.
        normals.push(normals[0].clone());
        offsets.push(offsets[0]);
        normals.push(vec![1.0; n]);
        offsets.push(100.0);
        for form in FORMS {
            let found = solved(&normals, &offsets, form);
            assert_close(found.centre(), &centre, "centre");
            for (i, row) in found.shape().iter().enumerate() {
                let mut right = vec![0.0; n];
                right[i] = half[i];
                assert_close(row, &right, &format!("{form:?}, n = {n}, row {i}"));
            }
        }
    }
}

/// YY' = Σ(vᵢ − c)(vᵢ − c)'/(n(n+1)) around the centroid c: true of the ball in a regular simplex, and kept by every
/// affine map, under which the largest ellipsoid stays the largest.
#[test]
fn a_simplex_holds_its_steiner_ellipsoid() {
    for n in 1..=6 {
        // x = v₀ + Mw, w in the standard simplex, M lower bidiagonal.
        let m: Matrix = (0..n)
            .map(|i| {
                let entry = |j: usize| match i {
                    _ if i == j => 1.0 + 0.3 * i as f64,
                    _ if i == j + 1 => 0.5 - 0.2 * j as f64,
                    _ => 0.0,
                };
                (0..n).map(entry).collect()
            })
            .collect();
        let start: Vec<f64> = (0..n).map(|i| 0.2 * i as f64 - 0.4).collect();
        let mut inverse: Matrix = vec![vec![0.0; n]; n];
        for j in 0..n {
            for i in 0..n {
                let unit = f64::from(u8::from(i == j));
                let sum: f64 = (0..i).map(|l| m[i][l] * inverse[l][j]).sum();
                inverse[i][j] = (unit - sum) / m[i][i];
            }
        }
        // −w ≤ 0 and 1'w ≤ 1 with w = M⁻¹(x − v₀).
        let mut normals: Matrix = inverse
            .iter()
            .map(|row| row.iter().map(|v| -v).collect())
            .collect();
        normals.push(
            (0..n)
                .map(|j| inverse.iter().map(|row| row[j]).sum())
                .collect(),
        );
        let offset = |a: &[f64]| -> f64 { a.iter().zip(&start).map(|(a, v)| a * v).sum() };
        let mut offsets: Vec<f64> = normals.iter().map(|a| offset(a)).collect();
        offsets[n] += 1.0;
        let mut vertices = vec![start.clone()];
        for j in 0..n {
            vertices.push((0..n).map(|i| start[i] + m[i][j]).collect());
        }
        let count = n as f64;
        let centroid: Vec<f64> = (0..n)
            .map(|i| vertices.iter().map(|v| v[i]).sum::<f64>() / (count + 1.0))
            .collect();
        for form in FORMS {
            let found = solved(&normals, &offsets, form);
            assert_close(found.centre(), &centroid, &format!("n = {n}, centre"));
            let square = product(&found.shape().to_vec(), &found.shape().to_vec());
            for (i, row) in square.iter().enumerate() {
                let right: Vec<f64> = (0..n)
                    .map(|j| {
                        let terms = vertices.iter();
                        let sum: f64 = terms
                            .map(|v| (v[i] - centroid[i]) * (v[j] - centroid[j]))
                            .sum();
                        sum / (count * (count + 1.0))
                    })
                    .collect();
                assert_close(row, &right, &format!("n = {n}, row {i} of YY'"));
            }
        }
    }
}

#[test]
fn three_forms_agree_on_fifty_polygons() {
    let mut sampler = Sampler::new(6, 0);
    for polygon in 0..50 {
        let facets = 4 + polygon % 9;
        let turn = std::f64::consts::TAU / facets as f64;
        // Directions a turn apart, shaken by less than a quarter of it: no gap of half a circle.
        let (mut normals, mut offsets) = (Vec::new(), Vec::new());
        for i in 0..facets {
            let angle = turn * (i as f64 + 0.5 * sampler.uniform());
            let size = 0.5 + 2.0 * sampler.uniform();
            normals.push(vec![size * angle.cos(), size * angle.sin()]);
            offsets.push(size * (0.3 + 3.0 * sampler.uniform()));
        }
        let power = solved(&normals, &offsets, Form::PowerCone);
        let second = solved(&normals, &offsets, Form::SecondOrder);
        let flat = |e: &Inscribed| [e.centre().to_vec(), e.shape().concat()].concat();
        let tower = solved(&normals, &offsets, Form::Tower);
        assert_close(&flat(&power), &flat(&second), &format!("polygon {polygon}"));
        assert_close(&flat(&tower), &flat(&second), &format!("polygon {polygon}"));
        assert!(power.volume() > 0.0);
        // A smaller ellipsoid would agree with itself too: it must touch at least three facets.
        let model = Ellipsoid::inside(normals.clone()).build().unwrap();
        let touched = normals.iter().zip(&offsets).filter(|(a, b)| {
            let one = conveil_models::ellipsoid::Normals::new(vec![
                a.to_vec(),
                vec![-a[0], -a[1]],
                vec![-a[1], a[0]],
                vec![a[1], -a[0]],
            ]);
            let far = 1e3;
            power.clearance(&one.unwrap(), &[**b, far, far, far]).abs() < 1e-5
        });
        assert!(touched.count() >= 3, "polygon {polygon}");
        assert_eq!(model.answer_len(), 5);
    }
}

#[test]
fn the_determinant_with_noise_is_the_same_program_without_noise() {
    let polytopes = conveil_models::ellipsoid::builtin();
    for polytope in polytopes {
        let at = |determinant| {
            let builder = Ellipsoid::inside(polytope.normals.clone());
            let model = builder.determinant(determinant).build().unwrap();
            let program = model.at(&polytope.offsets).unwrap();
            let solution = solve_checked(&program, &Settings::default()).unwrap();
            model.inscribed(&solution.x).unwrap().volume()
        };
        let (mean, noisy) = (at(Determinant::AtTheMean), at(Determinant::WithNoise));
        assert!((mean - noisy).abs() < 1e-6 * mean);
    }
}

#[test]
fn volumes_are_those_of_balls_and_determinants() {
    use std::f64::consts::PI;
    let model = |n: usize| {
        let mut normals = Vec::new();
        for j in 0..n {
            for sign in [1.0, -1.0] {
                let mut a = vec![0.0; n];
                a[j] = sign;
                normals.push(a);
            }
        }
        Ellipsoid::inside(normals).build().unwrap()
    };
    for (n, ball) in [(1, 2.0), (2, PI), (3, 4.0 / 3.0 * PI), (4, PI * PI / 2.0)] {
        let model = model(n);
        let mut answer = vec![0.0; model.answer_len()];
        for j in 0..n {
            answer[n + j * (j + 3) / 2] = 2.0;
        }
        let found = model.inscribed(&answer).unwrap();
        assert!((found.volume() - ball * 2f64.powi(n as i32)).abs() < 1e-12 * ball * 16.0);
        assert_eq!(found.indefinite_by(), 0.0);
    }
    // det [1 2; 2 1] = −3, λ_min = −1.
    let found = model(2).inscribed(&[0.0, 0.0, 1.0, 2.0, 1.0]).unwrap();
    assert!((found.determinant() + 3.0).abs() < 1e-12);
    assert!((found.indefinite_by() - 1.0).abs() < 1e-12);
    assert!(model(2).inscribed(&[0.0; 4]).is_err());
}

/// A facet counts whatever units it is written in: the square with one facet as 1e-10·x ≤ 1e-10, and as 1e10·x ≤ 1e10.
#[test]
fn a_facet_counts_in_any_units() {
    let square = vec![
        vec![1.0, 0.0],
        vec![-1.0, 0.0],
        vec![0.0, 1.0],
        vec![0.0, -1.0],
    ];
    let plain = solved(&square, &[1.0; 4], Form::Tower);
    for unit in [1e-10, 1e10] {
        let mut rows = square.clone();
        rows[0][0] = unit;
        let other = solved(&rows, &[unit, 1.0, 1.0, 1.0], Form::Tower);
        assert_close(other.centre(), plain.centre(), "centre");
        let flat = |m: &[Vec<f64>]| m.concat();
        assert_close(&flat(other.shape()), &flat(plain.shape()), "shape");
    }
}
