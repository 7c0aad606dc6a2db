//! Lifting: the program in (x̄, X) and auxiliary variables, grown row by row by chance methods and risk measures.

use super::{RowRule, Rule};
use crate::program::{Cone, Program, Rows, Sparse};

/// How one row a'x moves with the noise: v = X'a = constant + Σ over free rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowNoise {
    /// Entries (noise, value) that are fixed.
    pub(crate) constant: Vec<(usize, f64)>,
    /// Entries (free row, coefficient): each adds coefficient·X_row.
    pub(crate) free: Vec<(usize, f64)>,
}

impl RowNoise {
    /// v for a row with these terms.
    pub(crate) fn of(terms: &[(usize, f64)], rule: &Rule) -> Self {
        let mut noise = RowNoise::default();
        let mut constant: std::collections::BTreeMap<usize, (f64, f64)> = Default::default();
        for &(j, a) in terms {
            match rule.row(j) {
                RowRule::Free(f) => noise.free.push((*f, a)),
                RowRule::Fixed(entries) => {
                    for &(i, v) in entries {
                        let sum = constant.entry(i).or_insert((0.0, 0.0));
                        sum.0 += a * v;
                        sum.1 += (a * v).abs();
                    }
                }
            }
        }
        // What cancels up to rounding is no noise.
        noise.constant = constant
            .into_iter()
            .filter(|(_, (v, size))| v.abs() > 1e-14 * size)
            .map(|(i, (v, _))| (i, v))
            .collect();
        noise
    }

    /// Whether the row's noise is a constant vector.
    pub(crate) fn is_fixed(&self) -> bool {
        self.free.is_empty()
    }

    /// Whether no noise reaches the row.
    pub(crate) fn is_noise_free(&self) -> bool {
        self.free.is_empty() && self.constant.is_empty()
    }

    /// The noises that can reach the row.
    pub(crate) fn touched(&self, noises: usize) -> Vec<usize> {
        if self.is_fixed() {
            self.constant.iter().map(|c| c.0).collect()
        } else {
            (0..noises).collect()
        }
    }

    /// v as a dense vector, where it is fixed.
    pub(crate) fn fixed_vector(&self, noises: usize) -> Vec<f64> {
        let mut v = vec![0.0; noises];
        self.constant.iter().for_each(|&(j, value)| v[j] = value);
        v
    }

    /// ‖v‖₁ where it is fixed.
    pub(crate) fn fixed_l1(&self) -> f64 {
        self.constant.iter().map(|c| c.1.abs()).sum()
    }

    /// ‖v‖₂ where it is fixed.
    pub(crate) fn fixed_l2(&self) -> f64 {
        let values: Vec<f64> = self.constant.iter().map(|c| c.1).collect();
        crate::program::norm(&values)
    }
}

/// One row of the lifted program: right − Σ terms.
pub(crate) type LiftedRow = (Vec<(usize, f64)>, f64);

#[derive(Default)]
struct Section {
    triplets: Vec<(usize, usize, f64)>,
    b: Vec<f64>,
    origins: Vec<Option<usize>>,
    labels: Vec<Option<&'static str>>,
}

impl Section {
    fn push(
        &mut self,
        (terms, right): LiftedRow,
        origin: Option<usize>,
        label: Option<&'static str>,
    ) {
        let i = self.b.len();
        self.triplets
            .extend(terms.into_iter().map(|(j, v)| (i, j, v)));
        self.b.push(right);
        self.origins.push(origin);
        self.labels.push(label);
    }
}

/// A lifted program under construction. Columns: x̄, then the free entries of X, then auxiliaries.
pub(crate) struct Lift<'a> {
    program: &'a Program,
    rule: &'a Rule,
    by_rows: Rows,
    columns: usize,
    equalities: Section,
    inequalities: Section,
    others: Section,
    other_cones: Vec<Cone>,
    q: Vec<(usize, f64)>,
    p: Vec<(usize, usize, f64)>,
    constant: f64,
    recourse_equations: usize,
    label: Option<&'static str>,
}

impl<'a> Lift<'a> {
    /// Starts with the equalities Ax̄ = b, the equations on X, and the blocks that no noise reaches or that hold at the mean.
    pub(crate) fn new(program: &'a Program, rule: &'a Rule) -> Self {
        let mut lift = Lift {
            program,
            rule,
            by_rows: program.a().by_rows(),
            columns: program.columns() + rule.free_entries(),
            equalities: Section::default(),
            inequalities: Section::default(),
            others: Section::default(),
            other_cones: Vec::new(),
            q: Vec::new(),
            p: Vec::new(),
            constant: program.constant(),
            recourse_equations: 0,
            label: None,
        };
        for (terms, rhs, origin) in rule.binding() {
            for (noise, right) in rhs.iter().enumerate() {
                let row = terms
                    .iter()
                    .map(|&(f, a)| (lift.recourse(f, noise), a))
                    .collect();
                lift.equalities.push((row, *right), origin, None);
            }
        }
        lift.recourse_equations = lift.equalities.b.len();
        lift
    }

    /// What the rows added from now on are called, where they stem from no row of the program.
    pub(crate) fn label(&mut self, label: Option<&'static str>) {
        self.label = label;
    }

    /// The deterministic program's own data.
    pub(crate) fn program(&self) -> &'a Program {
        self.program
    }

    /// The rule.
    pub(crate) fn rule(&self) -> &'a Rule {
        self.rule
    }

    /// Number of noises.
    pub(crate) fn noises(&self) -> usize {
        self.rule.noises()
    }

    /// The column of X at (free row, noise).
    pub(crate) fn recourse(&self, free: usize, noise: usize) -> usize {
        self.program.columns() + free * self.rule.noises() + noise
    }

    /// Adds auxiliary variables; returns the first column.
    pub(crate) fn auxiliaries(&mut self, count: usize) -> usize {
        let first = self.columns;
        self.columns += count;
        first
    }

    /// The noise of row `i` of A.
    pub(crate) fn row_noise(&self, i: usize) -> RowNoise {
        RowNoise::of(self.by_rows.row(i), self.rule)
    }

    /// bᵢ − aᵢ'x̄, moved by a constant: bᵢ − shift − aᵢ'x̄.
    pub(crate) fn mean_row(&self, i: usize, shift: f64) -> LiftedRow {
        (self.by_rows.row(i).to_vec(), self.program.b()[i] - shift)
    }

    /// bᵢ − aᵢ'(x̄ + Xζ) at a given ζ.
    pub(crate) fn row_at(&self, i: usize, noise: &RowNoise, zeta: &[f64]) -> LiftedRow {
        let (mut terms, mut right) = self.mean_row(i, 0.0);
        right -= noise
            .constant
            .iter()
            .map(|&(j, v)| v * zeta[j])
            .sum::<f64>();
        for &(f, a) in &noise.free {
            for (j, z) in zeta.iter().enumerate() {
                if *z != 0.0 {
                    terms.push((self.recourse(f, j), a * z));
                }
            }
        }
        (terms, right)
    }

    /// v_j of a row: terms over X and a constant.
    pub(crate) fn noise_entry(&self, noise: &RowNoise, j: usize) -> (Vec<(usize, f64)>, f64) {
        let terms = noise
            .free
            .iter()
            .map(|&(f, a)| (self.recourse(f, j), a))
            .collect();
        let constant = noise
            .constant
            .iter()
            .find(|c| c.0 == j)
            .map_or(0.0, |c| c.1);
        (terms, constant)
    }

    /// Adds rows right − terms = 0.
    pub(crate) fn equality(&mut self, row: LiftedRow, origin: Option<usize>) {
        self.equalities.push(row, origin, self.label);
    }

    /// Adds a row right − terms ≥ 0.
    pub(crate) fn inequality(&mut self, row: LiftedRow, origin: Option<usize>) {
        self.inequalities.push(row, origin, self.label);
    }

    /// Adds rows in any cone; linear cones join the common ones.
    pub(crate) fn cone(&mut self, cone: &Cone, rows: Vec<LiftedRow>, origins: &[Option<usize>]) {
        debug_assert_eq!(cone.dim(), rows.len());
        for (row, origin) in rows.into_iter().zip(origins) {
            match cone {
                Cone::Zero(_) => self.equalities.push(row, *origin, self.label),
                Cone::Nonnegative(_) => self.inequalities.push(row, *origin, self.label),
                _ => self.others.push(row, *origin, self.label),
            }
        }
        if !cone.is_linear() {
            self.other_cones.push(cone.clone());
        }
    }

    /// An epigraph e ≥ |Σ terms + constant|; returns its column.
    pub(crate) fn absolute_value(
        &mut self,
        terms: &[(usize, f64)],
        constant: f64,
        origin: Option<usize>,
    ) -> usize {
        let e = self.auxiliaries(1);
        for sign in [1.0, -1.0] {
            // e − sign·(terms + constant) ≥ 0
            let mut row: Vec<(usize, f64)> = terms.iter().map(|&(j, v)| (j, sign * v)).collect();
            row.push((e, -1.0));
            self.inequality((row, -sign * constant), origin);
        }
        e
    }

    /// Adds to the linear objective.
    pub(crate) fn add_cost(&mut self, column: usize, value: f64) {
        self.q.push((column, value));
    }

    /// Adds ½·value·(x_i x_j + x_j x_i) for i ≠ j, ½·value·x_i² for i = j.
    pub(crate) fn add_quadratic(&mut self, i: usize, j: usize, value: f64) {
        self.p.push((i.min(j), i.max(j), value));
    }

    /// Adds to the objective's constant.
    pub(crate) fn add_constant(&mut self, value: f64) {
        self.constant += value;
    }

    /// The finished program.
    pub(crate) fn finish(self) -> Lifted {
        let mut triplets = self.equalities.triplets;
        let mut b = self.equalities.b;
        let mut origins = self.equalities.origins;
        let mut labels = self.equalities.labels;
        let mut cones = Vec::new();
        let equalities = b.len();
        if !b.is_empty() {
            cones.push(Cone::Zero(b.len()));
        }
        if !self.inequalities.b.is_empty() {
            cones.push(Cone::Nonnegative(self.inequalities.b.len()));
        }
        for section in [self.inequalities, self.others] {
            let offset = b.len();
            triplets.extend(
                section
                    .triplets
                    .into_iter()
                    .map(|(i, j, v)| (i + offset, j, v)),
            );
            b.extend(section.b);
            origins.extend(section.origins);
            labels.extend(section.labels);
        }
        cones.extend(self.other_cones);
        let mut q = vec![0.0; self.columns];
        self.q.into_iter().for_each(|(j, v)| q[j] += v);
        let p = Sparse::assemble(self.columns, self.columns, &self.p);
        let a = Sparse::assemble(b.len(), self.columns, &triplets);
        let recourse = self.rule.free_entries();
        let auxiliaries = self.columns - self.program.columns() - recourse;
        let frame = self.program.frame();
        let frame = frame.map(|frame| frame.lifted(recourse, auxiliaries));
        Lifted {
            program: Program::assembled(p, q, a, b, self.constant, cones).solved_in(frame),
            origins,
            labels,
            equalities,
            recourse_equations: self.recourse_equations,
        }
    }
}

/// A lifted program and where its rows come from.
#[derive(Clone, Debug)]
pub struct Lifted {
    program: Program,
    origins: Vec<Option<usize>>,
    labels: Vec<Option<&'static str>>,
    equalities: usize,
    recourse_equations: usize,
}

impl Lifted {
    /// The conic program in (x̄, X, auxiliaries).
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The same rows with other numbers.
    pub(crate) fn with_program(&self, program: Program) -> Lifted {
        Lifted {
            program,
            ..self.clone()
        }
    }

    /// For each lifted row, the row of the deterministic program it stems from.
    pub fn origins(&self) -> &[Option<usize>] {
        &self.origins
    }

    /// What a lifted row is called: the row of the deterministic program it stems from, or the bound that made it.
    pub(crate) fn row_name(&self, program: &Program, i: usize) -> Option<String> {
        match self.origins[i] {
            Some(row) => Some(program.row_name(row)),
            None => self.labels[i].map(str::to_string),
        }
    }

    /// Number of equality rows: they come first.
    pub(crate) fn equalities(&self) -> usize {
        self.equalities
    }

    /// Number of equality rows on X alone: they come before all others.
    pub(crate) fn recourse_equations(&self) -> usize {
        self.recourse_equations
    }
}
