//! The program of M12: max t s.t. Y ⪰ 0, ‖Yaᵢ‖ ≤ bᵢ − aᵢ'z, t ≤ det(Y)^{1/n}.

use super::normals::Normals;
use super::{Determinant, Form, facet_name};
use conveil::Result;
use conveil::program::{
    Affine, AffineMap, Builder, Cone, Location, Parameter, Place, VariableHandle,
};

/// The column of Yᵢⱼ within `shape`.
fn entry(i: usize, j: usize) -> usize {
    let (i, j) = (i.min(j), i.max(j));
    j * (j + 1) / 2 + i
}

pub(super) fn map(
    normals: &Normals,
    parameters: Vec<Parameter>,
    determinant: Determinant,
    form: Form,
) -> Result<AffineMap> {
    let n = normals.dimension();
    let mut m = Builder::new();
    // Real quantities, both: the ellipsoid is what is released and used.
    let centre = m.variable("centre", n);
    let shape = m.variable("shape", n * (n + 1) / 2);
    let mut heads = Vec::new();
    let mut row = 0;
    for (i, a) in normals.rows().iter().enumerate() {
        // ‖Yaᵢ‖ ≤ bᵢ − aᵢ'z, the offset at the head. Checks of a solve and of a decision are absolute, and a facet must
        // count whatever units it is written in.
        let length = unit_of(a);
        let a: Vec<f64> = a.iter().map(|v| v / length).collect();
        let image = (0..n).map(|r| {
            let terms = (0..n).filter(|&c| a[c] != 0.0);
            terms.fold(Affine::constant(0.0), |sum, c| {
                sum + a[c] * shape.at(entry(r, c))
            })
        });
        m.norm_at_most(&facet_name(i), image.collect(), -centre.dot(&a));
        heads.push((row, 1.0 / length));
        row += n + 1;
    }
    let upper = (0..n).flat_map(|j| (0..=j).map(move |i| (i, j)));
    let upper: Vec<Affine> = upper.map(|(i, j)| shape.at(entry(i, j))).collect();
    m.semidefinite("positive", n, upper);
    // Decided before the noise: of the mean ellipsoid, or what is promised of every ellipsoid that counts.
    let t = m.here_and_now("size", 1);
    m.minimize(-t.at(0));
    let size = t.at(0);
    match (n, form) {
        (1, _) => {
            m.at_most("determinant", size, shape.at(0));
            at(&mut m, determinant);
        }
        (_, Form::SecondOrder) => {
            let (y00, y01, y11) = (shape.at(0), shape.at(1), shape.at(2));
            let tail = vec![2.0 * y01, 2.0 * size, y00.clone() - y11.clone()];
            m.norm_at_most("determinant", tail, y00 + y11);
            at(&mut m, determinant);
        }
        (_, form) => factored(&mut m, n, &shape, size, determinant, form),
    }
    let program = m.build()?;
    let places = parameters
        .into_iter()
        .zip(heads)
        .map(|(parameter, (head, unit))| {
            parameter.at_all(vec![Location::new(Place::B(head), unit)])
        });
    AffineMap::new(program, places.collect::<Vec<_>>())
}

/// Normals of a length between this and its inverse stay as they are written.
const ORDINARY: f64 = 16.0;

/// What a facet's row is divided by: 1, or the power of two next to a length that is out of the ordinary, so that no
/// digit is lost.
fn unit_of(normal: &[f64]) -> f64 {
    let length = normal.iter().fold(0.0f64, |m, v| m.hypot(*v));
    match (1.0 / ORDINARY..=ORDINARY).contains(&length) {
        true => 1.0,
        false => length.log2().floor().exp2(),
    }
}

fn at(m: &mut Builder, determinant: Determinant) {
    if determinant == Determinant::AtTheMean {
        m.at_the_mean();
    }
}

/// [Y K; K' D] ⪰ 0 with D = diag K, K lower triangular, t ≤ (Π Kⱼⱼ)^{1/n}: then Y ⪰ KD⁻¹K', so det Y ≥ (det K)²/det D
/// = Π Kⱼⱼ, with equality at K = LD for Y = LDL'.
fn factored(
    m: &mut Builder,
    n: usize,
    shape: &VariableHandle,
    size: Affine,
    determinant: Determinant,
    form: Form,
) {
    // Only that there is such a K matters. One that follows the noise meets all k of them, 2^k vertices; past two
    // dimensions it is decided before: then Y(ζ) ⪰ KD⁻¹K' for all ζ that count, and only the noise on Y matters.
    let k = match determinant {
        Determinant::WithNoise if n <= 2 => m.auxiliary("factor", n * (n + 1) / 2),
        _ => m.here_and_now("factor", n * (n + 1) / 2),
    };
    // K at (i, j), i ≥ j, stands where its mirror image would in the upper triangle.
    let mut upper = Vec::new();
    for column in 0..2 * n {
        for line in 0..=column {
            let value = match (line < n, column < n) {
                (_, true) => shape.at(entry(line, column)),
                (true, false) if line >= column - n => k.at(entry(line, column - n)),
                (false, false) if line == column => k.at(entry(line - n, line - n)),
                _ => Affine::constant(0.0),
            };
            upper.push(value);
        }
    }
    m.semidefinite("determinant", 2 * n, upper);
    at(m, determinant);
    let diagonal: Vec<Affine> = (0..n).map(|j| k.at(entry(j, j))).collect();
    if form == Form::Tower {
        return tower(m, diagonal, size, determinant);
    }
    let mut rows = diagonal;
    rows.push(size);
    m.cone(
        "geometric mean",
        Cone::GeneralizedPower(weights(n), 1),
        rows,
    );
    at(m, determinant);
}

/// t ≤ (Πxⱼ)^{1/n} for t ≥ 0 by a tower of w² ≤ uv: the x are filled up with t to a power of two, and each storey
/// takes geometric means of pairs until t itself lies below the last.
fn tower(m: &mut Builder, x: Vec<Affine>, size: Affine, determinant: Determinant) {
    let mut storey = x;
    storey.resize(storey.len().next_power_of_two(), size.clone());
    let mut floor = 0;
    while storey.len() > 1 {
        let pairs = storey.len() / 2;
        let means = match pairs {
            1 => vec![size.clone()],
            // Of a K that is decided before the noise.
            _ => m.here_and_now(&format!("means {floor}"), pairs).entries(),
        };
        for (i, (pair, mean)) in storey.chunks(2).zip(&means).enumerate() {
            let (u, v) = (pair[0].clone(), pair[1].clone());
            let tail = vec![2.0 * mean.clone(), u.clone() - v.clone()];
            m.norm_at_most(&format!("geometric mean {floor} {i}"), tail, u + v);
            at(m, determinant);
        }
        storey = means;
        floor += 1;
    }
}

/// 1/n, n times, with a sum of exactly 1: the solver insists.
fn weights(n: usize) -> Vec<f64> {
    let mut weights = vec![1.0 / n as f64; n];
    let first: f64 = weights[..n - 1].iter().sum();
    weights[n - 1] = 1.0 - first;
    weights
}
