//! M11, before any data: does the box of the noise fit into the feasible set, and up to which noise scale would it?
//!
//! One linear program: the largest t such that the t-scaled box, carried by some recourse, fits around some mean. With
//! W = tX the conditions QX = T and AX = 0 read QW = tT and AW = 0, and a row is a'x̄ + Σ_j max(l_j w_j, u_j w_j) ≤ b
//! with w = W'a: all of it linear in (x̄, W, t). A public set is one whose A and b are; else `explain` answers.

use crate::ask::{Query, Strategy};
use crate::chance::{BoxSet, Choice, Design, Feasibility, Kind, Scope, Split};
use crate::error::Result;
use crate::plan::Plan;
use crate::program::{Cone, Holds, Program, Sparse};
use crate::rule::{RowNoise, Rule};
use crate::solve::{self, Outcome};
use serde::Serialize;

/// Whether the noise fits, as far as the public can know.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "feasible_set")]
pub enum Fit {
    /// Noise is put on the answer: none has to fit.
    NotNeeded,
    /// A or b is private: `explain` answers, for the curator.
    Private,
    /// The set is public, but what carries the noise is a private cost: `explain` answers, for the curator.
    PrivateCost,
    /// A constraint that holds with noise is no linear row.
    NotPolyhedral,
    /// There is no feasible point, even without noise: a public fact.
    Empty,
    /// The check itself found no answer.
    Undecided {
        /// Why.
        why: String,
    },
    /// Public and polyhedral.
    Public {
        /// Whether the box of this noise fits.
        fits: bool,
        /// The noise scale of the plan.
        scale: f64,
        /// The largest scale whose box fits; none where every scale does.
        largest_scale: Option<f64>,
        /// η of the box: 0 for the whole support of bounded noise.
        eta: f64,
        /// What the plan itself does, where that is not to enforce this very box.
        other_method: Option<String>,
    },
}

/// A factor this close to 1 still fits: the solver's last digits.
const SLIP: f64 = 1e-6;

/// Compares the mass box of a plan, or the whole support where the plan counts on it (M5g), with the feasible set of its
/// model. No data are looked at.
///
/// # Guarantee
/// The box of a smaller scale fits wherever that of a larger one does; with that box as the plan's only method, the
/// chance-constrained program has a feasible point exactly if the box fits (M5a, M11).
pub fn fit(plan: &Plan<'_>) -> Result<Fit> {
    if plan.ask().strategy != Strategy::Program {
        return Ok(Fit::NotNeeded);
    }
    let map = plan.model();
    let parts = map.private_parts();
    // A private cost that is released makes the query private, though the set is public.
    let is_cost = matches!(plan.ask().query, Query::Cost);
    if parts.a || parts.b {
        return Ok(Fit::Private);
    }
    if parts.q && is_cost {
        return Ok(Fit::PrivateCost);
    }
    let users = plan.released().plain().unwrap_or(plan.released());
    let (program, rule) = (users.map().template(), users.rule());
    let meets_noise = |b: &&crate::program::ConstraintBlock| {
        let by_rows = program.a().by_rows();
        b.holds() == Holds::WithNoise
            && !b.cone().is_linear()
            && b.range()
                .any(|i| !RowNoise::of(by_rows.row(i), rule).is_noise_free())
    };
    if program.constraints().iter().any(|b| meets_noise(&b)) {
        return Ok(Fit::NotPolyhedral);
    }
    let asked = &plan.ask().feasibility;
    let split = match asked.split {
        // The best split depends on the data; the box of the check is one that does not.
        Split::Optimise => Split::Symmetric,
        stated => stated,
    };
    let kinds = users.design().kinds();
    let mass_box = Choice::MASS_BOX.kind().map(Kind::scope);
    // On linear rows the kinds that share the event of the mass box are the mass box.
    let is_mass_box = |kind: &dyn Kind| Some(kind.scope()) == mass_box;
    let (choice, eta, other_method) = match kinds.as_slice() {
        [kind] if kind.scope() == Scope::Support => (Choice::by(*kind), 0.0, None),
        [] => (Choice::MASS_BOX, asked.eta, None),
        [kind] if is_mass_box(*kind) => {
            let best = || "the best of many splits".to_string();
            let other = (split != asked.split).then(best);
            (Choice::MASS_BOX, asked.eta, other)
        }
        others => {
            let names: Vec<&str> = others.iter().map(|kind| kind.name()).collect();
            (Choice::MASS_BOX, asked.eta, Some(names.join(", ")))
        }
    };
    let asked = Feasibility::eta(asked.eta).method(choice).split(split);
    let design = Design::new(program, rule, users.noise(), &asked)?;
    let scale = users.law().scale();
    let found = |fits, largest_scale| Fit::Public {
        fits,
        scale,
        largest_scale,
        eta,
        other_method: other_method.clone(),
    };
    // No row meets noise: no box, and nothing to fit.
    let Some(&set) = design.boxes().first() else {
        return Ok(found(true, None));
    };
    let scaled = Scaled::new(program, rule, set).finish();
    Ok(match solve::solve(&scaled, users.settings()) {
        Outcome::Infeasible(_) => Fit::Empty,
        Outcome::Unbounded(_) => found(true, None),
        outcome => {
            let solution = outcome.into_solution(&scaled, users.settings().tolerance())?;
            let factor = -solution.objective;
            found(factor >= 1.0 - SLIP, Some(factor.max(0.0) * scale))
        }
    })
}

type Row = (Vec<(usize, f64)>, f64);

/// The linear program in (x̄, W, t, epigraphs): maximise t.
struct Scaled<'a> {
    program: &'a Program,
    rule: &'a Rule,
    set: BoxSet,
    columns: usize,
    equalities: Vec<Row>,
    inequalities: Vec<Row>,
    others: Vec<(Cone, Vec<Row>)>,
}

impl<'a> Scaled<'a> {
    fn new(program: &'a Program, rule: &'a Rule, set: BoxSet) -> Self {
        let mut scaled = Scaled {
            columns: program.columns() + rule.free_entries() + 1,
            program,
            rule,
            set,
            equalities: Vec::new(),
            inequalities: Vec::new(),
            others: Vec::new(),
        };
        // Σ aW = t·rhs.
        for (terms, rhs, _) in rule.binding() {
            for (noise, right) in rhs.iter().enumerate() {
                let mut row: Vec<(usize, f64)> = terms
                    .iter()
                    .map(|&(free, a)| (scaled.recourse(free, noise), a))
                    .collect();
                row.push((scaled.factor(), -right));
                scaled.equalities.push((row, 0.0));
            }
        }
        let factor = scaled.factor();
        scaled.inequalities.push((vec![(factor, -1.0)], 0.0));
        let by_rows = program.a().by_rows();
        for block in program.constraints() {
            let rows = block
                .range()
                .map(|i| (by_rows.row(i).to_vec(), program.b()[i]));
            match (block.cone(), block.holds()) {
                (Cone::Zero(_), _) => scaled.equalities.extend(rows),
                (Cone::Nonnegative(_), Holds::WithNoise) => {
                    let rows: Vec<Row> = rows.collect();
                    rows.into_iter().for_each(|row| scaled.noisy(row));
                }
                (Cone::Nonnegative(_), _) => scaled.inequalities.extend(rows),
                (cone, _) => scaled.others.push((cone.clone(), rows.collect())),
            }
        }
        scaled
    }

    /// The column of W at (free row, noise).
    fn recourse(&self, free: usize, noise: usize) -> usize {
        self.program.columns() + free * self.rule.noises() + noise
    }

    /// The column of t.
    fn factor(&self) -> usize {
        self.program.columns() + self.rule.free_entries()
    }

    /// a'x̄ + Σ_j max(l_j w_j, u_j w_j) ≤ b.
    fn noisy(&mut self, (mut terms, right): Row) {
        let noise = RowNoise::of(&terms, self.rule);
        if noise.is_fixed() {
            let worst: f64 = noise
                .constant
                .iter()
                .map(|&(_, v)| (self.set.lower * v).max(self.set.upper * v))
                .sum();
            terms.push((self.factor(), worst));
            self.inequalities.push((terms, right));
            return;
        }
        for j in 0..self.rule.noises() {
            let mut w: Vec<(usize, f64)> = noise
                .free
                .iter()
                .map(|&(free, a)| (self.recourse(free, j), a))
                .collect();
            let constant = noise.constant.iter().filter(|c| c.0 == j);
            w.extend(constant.map(|&(_, v)| (self.factor(), v)));
            let epigraph = self.columns;
            self.columns += 1;
            for end in [self.set.lower, self.set.upper] {
                let mut row: Vec<(usize, f64)> = w.iter().map(|&(c, a)| (c, end * a)).collect();
                row.push((epigraph, -1.0));
                self.inequalities.push((row, 0.0));
            }
            terms.push((epigraph, 1.0));
        }
        self.inequalities.push((terms, right));
    }

    fn finish(self) -> Program {
        let mut q = vec![0.0; self.columns];
        q[self.factor()] = -1.0;
        let mut cones = Vec::new();
        if !self.equalities.is_empty() {
            cones.push(Cone::Zero(self.equalities.len()));
        }
        cones.push(Cone::Nonnegative(self.inequalities.len()));
        let mut rows = self.equalities;
        rows.extend(self.inequalities);
        for (cone, block) in self.others {
            cones.push(cone);
            rows.extend(block);
        }
        let mut triplets = Vec::new();
        let mut b = Vec::new();
        for (i, (terms, right)) in rows.into_iter().enumerate() {
            triplets.extend(terms.into_iter().map(|(j, v)| (i, j, v)));
            b.push(right);
        }
        let p = Sparse::assemble(self.columns, self.columns, &[]);
        let a = Sparse::assemble(b.len(), self.columns, &triplets);
        Program::assembled(p, q, a, b, 0.0, cones)
    }
}

impl std::fmt::Display for Fit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use crate::digits::short;
        match self {
            Fit::NotNeeded => write!(f, "not needed: no decision has to carry the noise"),
            Fit::Private => write!(
                f,
                "the feasible set is private: whether the noise fits is for `explain` to say, to the curator"
            ),
            Fit::PrivateCost => write!(
                f,
                "the feasible set is public, but the released cost is private, and the decision carries the noise through it: whether it fits is for `explain` to say, to the curator"
            ),
            Fit::NotPolyhedral => write!(
                f,
                "the feasible set is not polyhedral: no a-priori check; `explain` says whether the noise fits the data"
            ),
            Fit::Empty => write!(f, "the feasible set is empty, even without noise"),
            Fit::Undecided { why } => write!(f, "not decided: {why}"),
            Fit::Public {
                fits,
                scale,
                largest_scale,
                eta,
                other_method,
            } => {
                match *eta == 0.0 {
                    true => write!(f, "the whole support of the noise")?,
                    false => write!(
                        f,
                        "the mass box that holds {} of the noise",
                        short(1.0 - eta, 9)
                    )?,
                }
                let word = if *fits { "fits" } else { "does not fit" };
                write!(f, " {word} into the feasible set")?;
                match largest_scale {
                    None => write!(f, ", at any scale")?,
                    Some(largest) => write!(
                        f,
                        "; the largest noise scale that does is {}, now {}",
                        short(*largest, 6),
                        short(*scale, 6)
                    )?,
                }
                match other_method {
                    None => Ok(()),
                    Some(method) => write!(
                        f,
                        " (only this box is checked; the plan's own method, {method}, may admit more or less)"
                    ),
                }
            }
        }
    }
}
