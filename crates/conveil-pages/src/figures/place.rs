//! Where the nodes of a graph stand in a drawing: distances on paper near those along its edges, by stress majorisation.
//! There is no chance in it: the same graph has the same drawing.

use super::network::hops;

/// A place on paper.
pub(super) type Point = (f64, f64);

/// Nodes whose distances to all others give the start.
const PIVOTS: usize = 40;

/// Graphs up to this size have all their distances fitted; larger ones, those to the pivots and to near nodes.
const EXACT: usize = 700;

/// Rounds of the fit, and of a large graph.
const ROUNDS: (usize, usize) = (140, 60);

/// Rounds that push apart what is too near.
const APART: usize = 60;

/// Nodes are at least so far apart, in lengths of an edge.
const NEAREST: f64 = 0.62;

/// The golden angle: nodes that start at one place are spread around it.
const TURN: f64 = 2.399_963_229_728_653;

/// Places of nodes, the longer side across; an edge is about 1 long.
pub(super) fn placed(nodes: usize, edges: &[(usize, usize)]) -> Vec<Point> {
    if nodes == 0 {
        return Vec::new();
    }
    let mut near = vec![Vec::new(); nodes];
    for &(a, b) in edges.iter().filter(|e| e.0 != e.1) {
        near[a].push(b);
        near[b].push(a);
    }
    for list in &mut near {
        list.sort_unstable();
        list.dedup();
    }
    let pivots = pivots(&near);
    let mut at = start(&pivots, nodes);
    let rounds = if nodes <= EXACT { ROUNDS.0 } else { ROUNDS.1 };
    let goals = goals(&near, &pivots);
    for _ in 0..rounds {
        at = majorised(&at, &goals);
    }
    for _ in 0..APART {
        push_apart(&mut at);
    }
    turned(at)
}

/// Nodes far from each other, with the distances of all nodes to them.
fn pivots(near: &[Vec<usize>]) -> Vec<Vec<f64>> {
    let nodes = near.len();
    let mut nearest = vec![f64::INFINITY; nodes];
    let mut pivots = Vec::new();
    let mut next = 0;
    while pivots.len() < PIVOTS.min(nodes) {
        let far = distances(near, next);
        for (known, d) in nearest.iter_mut().zip(&far) {
            *known = known.min(*d);
        }
        pivots.push(far);
        // The first of the farthest: the order of the buses decides ties.
        let farthest =
            (0..nodes).max_by(|&a, &b| nearest[a].total_cmp(&nearest[b]).then(b.cmp(&a)));
        next = farthest.unwrap_or(0);
    }
    pivots
}

/// Distances along edges; parts of the graph without a way between them stand a little beyond the farthest.
fn distances(near: &[Vec<usize>], from: usize) -> Vec<f64> {
    let far = hops(near, from);
    let most = far.iter().flatten().max().copied().unwrap_or(0);
    let beyond = f64::from(most) + 2.0;
    far.into_iter()
        .map(|d| d.map_or(beyond, f64::from))
        .collect()
}

/// Classical scaling on the pivots: the two directions in which squared distances differ most.
fn start(pivots: &[Vec<f64>], nodes: usize) -> Vec<Point> {
    let k = pivots.len();
    let squared = |i: usize, p: usize| pivots[p][i] * pivots[p][i];
    let column = |p: usize| (0..nodes).map(|i| squared(i, p)).sum::<f64>() / nodes as f64;
    let columns: Vec<f64> = (0..k).map(column).collect();
    let whole = columns.iter().sum::<f64>() / k as f64;
    let rows: Vec<Vec<f64>> = (0..nodes)
        .map(|i| {
            let own = (0..k).map(|p| squared(i, p)).sum::<f64>() / k as f64;
            let centred = |p: usize| -0.5 * (squared(i, p) - columns[p] - own + whole);
            (0..k).map(centred).collect()
        })
        .collect();
    let mut found: Vec<Vec<f64>> = Vec::new();
    for axis in 0..2 {
        let mut v: Vec<f64> = (0..k)
            .map(|p| (TURN * (p + 1 + axis) as f64).sin())
            .collect();
        for _ in 0..60 {
            for known in &found {
                let along = dot(known, &v);
                v.iter_mut().zip(known).for_each(|(v, u)| *v -= along * u);
            }
            let mut image = vec![0.0; k];
            for row in &rows {
                let along = dot(row, &v);
                image.iter_mut().zip(row).for_each(|(m, r)| *m += along * r);
            }
            let length = dot(&image, &image).sqrt();
            if !(length > 0.0) {
                break;
            }
            v = image.into_iter().map(|x| x / length).collect();
        }
        found.push(v);
    }
    let mut at: Vec<Point> = rows
        .iter()
        .map(|row| (dot(row, &found[0]), dot(row, &found[1])))
        .collect();
    let size = at.iter().fold(0.0f64, |m, p| m.max(p.0.hypot(p.1)));
    let reach = pivots.iter().flatten().fold(1.0f64, |m, d| m.max(*d));
    let scale = if size > 0.0 { 0.5 * reach / size } else { 1.0 };
    for (i, point) in at.iter_mut().enumerate() {
        let (sin, cos) = (TURN * i as f64).sin_cos();
        *point = (scale * point.0 + 0.2 * cos, scale * point.1 + 0.2 * sin);
    }
    at
}

/// For each node: others, and how far from it they should be.
fn goals(near: &[Vec<usize>], pivots: &[Vec<f64>]) -> Vec<Vec<(usize, f64)>> {
    let nodes = near.len();
    if nodes <= EXACT {
        return (0..nodes)
            .map(|i| {
                let far = distances(near, i).into_iter().enumerate();
                far.filter(|(j, _)| *j != i).collect()
            })
            .collect();
    }
    let mut goals: Vec<Vec<(usize, f64)>> = (0..nodes)
        .map(|i| {
            let first = near[i].iter().map(|&j| (j, 1.0));
            let second = near[i].iter().flat_map(|&j| &near[j]);
            let second = second.filter(|&&j| j != i && near[i].binary_search(&j).is_err());
            first.chain(second.map(|&j| (j, 2.0))).collect()
        })
        .collect();
    for far in pivots {
        let Some(pivot) = far.iter().position(|d| *d == 0.0) else {
            continue;
        };
        for (i, &d) in far.iter().enumerate().filter(|(_, d)| **d > 2.0) {
            goals[i].push((pivot, d));
        }
    }
    goals
}

/// One round: each node goes to the mean of where its goals want it, weighted by 1/d².
fn majorised(at: &[Point], goals: &[Vec<(usize, f64)>]) -> Vec<Point> {
    let moved = |(i, goals): (usize, &Vec<(usize, f64)>)| {
        let (x, y) = at[i];
        let (mut sum, mut weights) = ((0.0, 0.0), 0.0);
        for &(j, d) in goals {
            let (dx, dy) = (x - at[j].0, y - at[j].1);
            let length = dx.hypot(dy).max(1e-6);
            let weight = 1.0 / (d * d);
            sum.0 += weight * (at[j].0 + d * dx / length);
            sum.1 += weight * (at[j].1 + d * dy / length);
            weights += weight;
        }
        match weights > 0.0 {
            true => (sum.0 / weights, sum.1 / weights),
            false => (x, y),
        }
    };
    goals.iter().enumerate().map(moved).collect()
}

/// Moves pairs that are too near to each other apart, found by their places across.
fn push_apart(at: &mut [Point]) {
    let mut order: Vec<usize> = (0..at.len()).collect();
    order.sort_by(|&a, &b| at[a].0.total_cmp(&at[b].0).then(a.cmp(&b)));
    for (k, &i) in order.iter().enumerate() {
        for &j in &order[k + 1..] {
            let (dx, dy) = (at[j].0 - at[i].0, at[j].1 - at[i].1);
            if dx > NEAREST {
                break;
            }
            let length = dx.hypot(dy);
            if length >= NEAREST {
                continue;
            }
            let (ux, uy) = match length > 1e-9 {
                true => (dx / length, dy / length),
                false => (TURN * (i + j) as f64).sin_cos(),
            };
            let by = 0.5 * (NEAREST - length);
            at[i] = (at[i].0 - by * ux, at[i].1 - by * uy);
            at[j] = (at[j].0 + by * ux, at[j].1 + by * uy);
        }
    }
}

/// Turned so that the direction in which places differ most lies across.
fn turned(at: Vec<Point>) -> Vec<Point> {
    let count = at.len() as f64;
    let sum = at.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
    let middle = (sum.0 / count, sum.1 / count);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for p in &at {
        let (x, y) = (p.0 - middle.0, p.1 - middle.1);
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
    }
    let (sin, cos) = (0.5 * (2.0 * xy).atan2(xx - yy)).sin_cos();
    let turn = |p: Point| {
        let (x, y) = (p.0 - middle.0, p.1 - middle.1);
        (cos * x + sin * y, cos * y - sin * x)
    };
    at.into_iter().map(turn).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A 6 × 4 lattice: all edges near 1 long, no two nodes at one place, and every time the same.
    #[test]
    fn a_lattice_is_laid_out_as_one() {
        let node = |x: usize, y: usize| 6 * y + x;
        let mut edges = Vec::new();
        for y in 0..4 {
            for x in 0..6 {
                edges.extend((x < 5).then(|| (node(x, y), node(x + 1, y))));
                edges.extend((y < 3).then(|| (node(x, y), node(x, y + 1))));
            }
        }
        let at = placed(24, &edges);
        assert_eq!(at, placed(24, &edges));
        let far = |a: usize, b: usize| (at[a].0 - at[b].0).hypot(at[a].1 - at[b].1);
        for &(a, b) in &edges {
            assert!((0.6..1.5).contains(&far(a, b)), "{a}-{b}: {}", far(a, b));
        }
        for a in 0..24 {
            assert!((0..a).all(|b| far(a, b) > 0.55));
        }
    }

    #[test]
    fn parts_without_a_way_between_them_and_lone_nodes_have_places() {
        let at = placed(5, &[(0, 1), (2, 3), (2, 2)]);
        assert!(at.iter().all(|p| p.0.is_finite() && p.1.is_finite()));
        let far = |a: usize, b: usize| (at[a].0 - at[b].0).hypot(at[a].1 - at[b].1);
        assert!(far(0, 2) > 0.5 && far(0, 4) > 0.5);
        assert!(placed(0, &[]).is_empty());
        assert_eq!(placed(1, &[]).len(), 1);
    }
}
