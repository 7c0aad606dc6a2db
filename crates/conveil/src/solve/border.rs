//! The Newton systems of a small linear or quadratic program, with nearly all of it eliminated block by block.
//!
//! ```text
//! [ H   W' ] [x]   [f]        H = P + L'DL,  W: the rows that are left over,
//! [ W  −S  ] [y] = [g]        S = 1/D on inequalities and 0 on equalities.
//! ```
//!
//! Rows of few columns (L) join these to blocks, in which H is dense; the rows W border them. With H = RR' and V = R⁻¹W'
//! a factorisation is that of the blocks and of V'V + S. Which rows are which follows from the pattern alone.

use super::dense::{axpy, dot};
use crate::program::{Cone, Program, Rows};

/// Blocks of at most so many columns are tried, and a single block of all.
const BLOCKS: [usize; 4] = [1, 4, 16, usize::MAX];

/// Multiplications of a factorisation for each number of the program: with more, a sparse factorisation is quicker.
const WORK: f64 = 100.0;

/// Larger programs are not posed so.
const NUMBERS: usize = 20_000;

/// A pivot below this share of its diagonal is rounding: rows that depend on each other.
const DEPENDENT: f64 = 1e-13;

/// The rows of a program, told apart.
pub(super) struct Border {
    pub(super) by_rows: Rows,
    /// Whether a row is an equality.
    pub(super) is_equality: Vec<bool>,
    /// Whether a row is in L.
    is_local: Vec<bool>,
    /// The rows of W.
    wide: Vec<usize>,
    /// Block and place in it, by column.
    place: Vec<(usize, usize)>,
    /// Size, first column in the order of blocks and first entry of H, by block.
    blocks: Vec<Block>,
}

#[derive(Clone, Copy)]
struct Block {
    size: usize,
    columns: usize,
    entries: usize,
}

impl Border {
    /// `None` where a program is large, has other cones than linear ones, has a column that nothing but W holds, or where this is
    /// more work than a sparse factorisation. A rule on its pattern.
    pub(super) fn of(program: &Program) -> Option<Self> {
        let (m, n) = (program.rows(), program.columns());
        let numbers = program.a().nnz() + program.p().nnz() + m + n;
        if numbers > NUMBERS || m == 0 {
            return None;
        }
        let mut is_equality = vec![false; m];
        for block in program.constraints() {
            match block.cone() {
                Cone::Zero(_) => is_equality[block.range()].fill(true),
                Cone::Nonnegative(_) => {}
                _ => return None,
            }
        }
        let by_rows = program.a().by_rows();
        let mut order: Vec<usize> = (0..m).filter(|&i| !is_equality[i]).collect();
        order.sort_by_key(|&i| by_rows.row(i).len());
        let mut best: Option<(f64, Joined)> = None;
        // Without curvature nothing keeps a block far from singular once some of its rows bind and others do not.
        let tried = match program.p().nnz() {
            0 => &BLOCKS[..1],
            _ => &BLOCKS[..],
        };
        for &most in tried {
            let mut joined = Joined::by_costs(program);
            joined.join_rows(&by_rows, &order, most);
            let work = joined.work(&by_rows, m);
            if best.as_ref().is_none_or(|(least, _)| work < *least) {
                best = Some((work, joined));
            }
        }
        let (work, mut joined) = best?;
        if work > WORK * numbers as f64 {
            return None;
        }
        let mut is_held = vec![false; n];
        (program.p().entries()).for_each(|(i, j, _)| is_held[i] |= i == j);
        for (i, _) in joined.is_local.iter().enumerate().filter(|(_, is)| **is) {
            (by_rows.row(i).iter()).for_each(|&(j, _)| is_held[j] = true);
        }
        if !is_held.iter().all(|is| *is) {
            return None;
        }
        let (place, blocks) = joined.blocks();
        let is_local = joined.is_local;
        Some(Border {
            wide: (0..m).filter(|&i| !is_local[i]).collect(),
            by_rows,
            is_equality,
            is_local,
            place,
            blocks,
        })
    }
}

/// Columns joined to blocks: a forest in which the root has the block's size.
struct Joined {
    parent: Vec<usize>,
    size: Vec<usize>,
    is_local: Vec<bool>,
}

impl Joined {
    /// What P joins belongs together.
    fn by_costs(program: &Program) -> Self {
        let mut joined = Joined {
            parent: (0..program.columns()).collect(),
            size: vec![1; program.columns()],
            is_local: vec![false; program.rows()],
        };
        for (i, j, _) in program.p().entries() {
            joined.join(i, j);
        }
        joined
    }

    fn root(&mut self, mut j: usize) -> usize {
        while self.parent[j] != j {
            self.parent[j] = self.parent[self.parent[j]];
            j = self.parent[j];
        }
        j
    }

    fn join(&mut self, i: usize, j: usize) {
        let (i, j) = (self.root(i), self.root(j));
        if i != j {
            self.parent[j] = i;
            self.size[i] += self.size[j];
        }
    }

    /// Rows that make no block larger than this.
    fn join_rows(&mut self, by_rows: &Rows, order: &[usize], most: usize) {
        let mut roots: Vec<usize> = Vec::new();
        for &i in order {
            let row = by_rows.row(i);
            roots.clear();
            for &(j, _) in row {
                let root = self.root(j);
                if !roots.contains(&root) {
                    roots.push(root);
                }
                if most < usize::MAX && roots.len() > most {
                    break;
                }
            }
            let whole: usize = roots.iter().map(|&root| self.size[root]).sum();
            if roots.len() > 1 && whole > most {
                continue;
            }
            self.is_local[i] = true;
            for pair in roots.windows(2) {
                self.join(pair[0], pair[1]);
            }
        }
    }

    /// Multiplications of a factorisation: of L'DL, of the blocks, of V and of V'V + S.
    fn work(&mut self, by_rows: &Rows, rows: usize) -> f64 {
        let columns = self.parent.len();
        let (mut work, mut squares) = (0.0, 0.0);
        for j in 0..columns {
            if self.parent[j] == j {
                let size = self.size[j] as f64;
                work += size.powi(3) / 6.0;
                squares += size * size / 2.0;
            }
        }
        let mut wide = 0.0;
        for i in 0..rows {
            match self.is_local[i] {
                true => work += (by_rows.row(i).len() as f64).powi(2) / 2.0,
                false => wide += 1.0,
            }
        }
        let square = wide * wide / 2.0;
        work + wide * squares + square * columns as f64 + square * wide / 3.0
    }

    /// Block and place by column, and the blocks.
    fn blocks(&mut self) -> (Vec<(usize, usize)>, Vec<Block>) {
        let mut number = vec![usize::MAX; self.parent.len()];
        let mut blocks: Vec<Block> = Vec::new();
        let mut place = Vec::with_capacity(self.parent.len());
        for j in 0..self.parent.len() {
            let root = self.root(j);
            if number[root] == usize::MAX {
                number[root] = blocks.len();
                blocks.push(Block {
                    size: 0,
                    columns: 0,
                    entries: 0,
                });
            }
            let block = number[root];
            place.push((block, blocks[block].size));
            blocks[block].size += 1;
        }
        let (mut columns, mut entries) = (0, 0);
        for block in &mut blocks {
            (block.columns, block.entries) = (columns, entries);
            columns += block.size;
            entries += block.size * block.size;
        }
        (place, blocks)
    }
}

/// A factorisation, whose room is used again and again.
pub(super) struct Factors<'b> {
    border: &'b Border,
    /// R by blocks, dense and by rows; the lower triangles count.
    blocks: Vec<f64>,
    /// V' by rows, in the order of blocks.
    v: Vec<f64>,
    /// The factor of V'V + S, by rows.
    corner: Vec<f64>,
    /// Right-hand sides in the order of blocks.
    first: Vec<f64>,
    second: Vec<f64>,
}

impl<'b> Factors<'b> {
    pub(super) fn new(border: &'b Border) -> Self {
        let (n, k) = (border.place.len(), border.wide.len());
        let last = border.blocks.last();
        Factors {
            border,
            blocks: vec![0.0; last.map_or(0, |last| last.entries + last.size * last.size)],
            v: vec![0.0; n * k],
            corner: vec![0.0; k * k],
            first: vec![0.0; n],
            second: vec![0.0; k],
        }
    }

    /// Factors the system under these weights D of the inequalities; `None` if it is singular as far as rounding tells.
    pub(super) fn factor(&mut self, program: &Program, weight: &[f64]) -> Option<()> {
        let border = self.border;
        self.blocks.fill(0.0);
        let at = |i: usize, j: usize| {
            let ((block, i), (_, j)) = (border.place[i], border.place[j]);
            let Block { size, entries, .. } = border.blocks[block];
            entries + i.max(j) * size + i.min(j)
        };
        for (i, j, p) in program.p().entries() {
            self.blocks[at(i, j)] += p;
        }
        for i in (0..border.is_local.len()).filter(|&i| border.is_local[i]) {
            let row = border.by_rows.row(i);
            for (second, &(j, a)) in row.iter().enumerate() {
                let scaled = weight[i] * a;
                for &(l, b) in &row[..=second] {
                    self.blocks[at(j, l)] += scaled * b;
                }
            }
        }
        for block in &border.blocks {
            let size = block.size;
            factor_in_place(&mut self.blocks[block.entries..][..size * size], size)?;
        }
        let (n, k) = (border.place.len(), border.wide.len());
        self.v.fill(0.0);
        for (v, &i) in self.v.chunks_exact_mut(n.max(1)).zip(&border.wide) {
            let row = border.by_rows.row(i);
            for &(j, a) in row {
                let (block, place) = border.place[j];
                v[border.blocks[block].columns + place] += a;
            }
            // Blocks that the row does not enter stay 0.
            forward_blocks(border, &self.blocks, v);
        }
        for (place, &i) in border.wide.iter().enumerate() {
            let own = &self.v[place * n..(place + 1) * n];
            for other in 0..=place {
                self.corner[place * k + other] = dot(own, &self.v[other * n..(other + 1) * n]);
            }
            if !border.is_equality[i] {
                self.corner[place * k + place] += 1.0 / weight[i];
            }
        }
        factor_in_place(&mut self.corner, k)
    }

    /// Solves for x, in the place of f, and for y, in the place of g (by row; others are not looked at).
    pub(super) fn solve(&mut self, f: &mut [f64], g: &mut [f64]) {
        let border = self.border;
        let (n, k) = (border.place.len(), border.wide.len());
        let spot = |j: usize| {
            let (block, place) = border.place[j];
            border.blocks[block].columns + place
        };
        for j in 0..n {
            self.first[spot(j)] = f[j];
        }
        forward_blocks(border, &self.blocks, &mut self.first);
        for (place, &i) in border.wide.iter().enumerate() {
            self.second[place] = dot(&self.v[place * n..(place + 1) * n], &self.first) - g[i];
        }
        forward(&self.corner, k, &mut self.second);
        backward(&self.corner, k, &mut self.second);
        for (place, &i) in border.wide.iter().enumerate() {
            g[i] = self.second[place];
            axpy(
                &mut self.first,
                -self.second[place],
                &self.v[place * n..(place + 1) * n],
            );
        }
        for block in &border.blocks {
            let size = block.size;
            let factor = &self.blocks[block.entries..][..size * size];
            backward(factor, size, &mut self.first[block.columns..][..size]);
        }
        for j in 0..n {
            f[j] = self.first[spot(j)];
        }
    }

    /// Whether a row's multiplier is part of what is solved for.
    pub(super) fn is_wide(&self, i: usize) -> bool {
        !self.border.is_local[i]
    }
}

/// R⁻¹v, block by block.
fn forward_blocks(border: &Border, factors: &[f64], v: &mut [f64]) {
    for block in &border.blocks {
        let size = block.size;
        if size == 1 {
            v[block.columns] /= factors[block.entries];
            continue;
        }
        let part = &mut v[block.columns..][..size];
        if part.iter().any(|v| *v != 0.0) {
            forward(&factors[block.entries..][..size * size], size, part);
        }
    }
}

/// The Cholesky factor in the place of a lower triangle, by rows.
fn factor_in_place(matrix: &mut [f64], n: usize) -> Option<()> {
    for i in 0..n {
        let (above, rest) = matrix.split_at_mut(i * n);
        let row = &mut rest[..n];
        for j in 0..i {
            let other = &above[j * n..j * n + j + 1];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        if !(pivot > DEPENDENT * row[i] && pivot.is_finite()) {
            return None;
        }
        row[i] = pivot.sqrt();
    }
    Some(())
}

/// R⁻¹v.
fn forward(factor: &[f64], n: usize, v: &mut [f64]) {
    for i in 0..n {
        let row = &factor[i * n..i * n + i + 1];
        v[i] = (v[i] - dot(&row[..i], &v[..i])) / row[i];
    }
}

/// R'⁻¹v.
fn backward(factor: &[f64], n: usize, v: &mut [f64]) {
    for i in (0..n).rev() {
        let row = &factor[i * n..i * n + i + 1];
        v[i] /= row[i];
        let value = v[i];
        axpy(&mut v[..i], -value, &row[..i]);
    }
}
