//! From the wish to methods with shares: decided on public structure alone, once, in the Plan.

use super::ball::Ball;
use super::bounded::Bounded;
use super::budget::{Budget, BudgetLine};
use super::fixed::FixedRecourse;
use super::hinge::{NoiseAwareHinge, not_local};
use super::mass_box::MassBox;
use super::row_by_row::RowByRow;
use super::safe_box::SafeBox;
use super::sampled_box::SampledBox;
use super::scenario::Scenario;
use super::sorting::{Pending, reach, sort_rows};
use super::vertices::BoxSet;
use super::{Choice, Feasibility, Method, Reach, Room, Site, Split, Task};
use crate::error::{Error, Result};
use crate::noise::Law;
use crate::program::{Cone, ConstraintBlock, Program};
use crate::rule::{Lift, Rule};
use std::sync::Arc;

/// Rows of one block and the method that serves them.
#[derive(Clone, Debug)]
pub struct BlockDesign {
    block: usize,
    rows: Vec<usize>,
    etas: Vec<f64>,
    method: Arc<dyn Method>,
}

impl BlockDesign {
    /// The index of the constraint block.
    pub fn block(&self) -> usize {
        self.block
    }

    /// The rows.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// η of each row, for methods that work row by row.
    pub fn etas(&self) -> &[f64] {
        &self.etas
    }

    /// The method's name.
    pub fn method(&self) -> &'static str {
        self.method.name()
    }
}

/// The chance constraint's design.
///
/// # Guarantee
/// A point of the lifted program that meets all constraints written by [`Design::enforce`] is feasible with
/// probability at least 1 − [`Budget::certified`], and that is at most η (M5, one budget). Where
/// [`Budget::is_for_each_row`], the same is said of every row by itself, and nothing of all of them together. Where noise
/// is on the answer ([`Budget::is_promised`] tells), the constraints are met at the mean, and what is promised of the
/// answer is not the design's to keep.
#[derive(Clone, Debug)]
pub struct Design {
    law: Law,
    step: f64,
    served: Vec<BlockDesign>,
    /// Blocks and rows that no noise reaches, or that hold always or at the mean.
    silent: Vec<(usize, Vec<usize>)>,
    budget: Budget,
    splits: usize,
    boxes: Vec<BoxSet>,
    /// The mass box's interval by split.
    split_boxes: Vec<BoxSet>,
    at_the_mean: bool,
}

impl Design {
    /// Chooses methods and shares.
    pub fn new(
        program: &Program,
        rule: &Rule,
        law: &Law,
        wish: &Feasibility,
        step: f64,
    ) -> Result<Self> {
        wish.validate()?;
        let (pending, silent) = sort_rows(program, rule, law, wish)?;
        let mut design = Design {
            law: *law,
            step,
            served: Vec::new(),
            silent,
            budget: Budget {
                eta: wish.eta,
                each: wish.each,
                promised: true,
                lines: Vec::new(),
            },
            splits: 1,
            boxes: Vec::new(),
            split_boxes: Vec::new(),
            at_the_mean: false,
        };
        design.allot(program, rule, wish, pending)?;
        design.check(program, rule)?;
        Ok(design)
    }

    /// Every constraint at the mean alone, as without noise: what stands behind noise on the answer (M13). Nothing is
    /// `promised` of a decision, unless the answer is mended afterwards.
    pub(crate) fn at_the_mean(program: &Program, law: &Law, step: f64, promised: bool) -> Self {
        let blocks = program.constraints().iter().enumerate();
        Design {
            law: *law,
            step,
            served: Vec::new(),
            silent: blocks.map(|(i, b)| (i, b.range().collect())).collect(),
            budget: Budget {
                eta: if promised { 0.0 } else { 1.0 },
                each: false,
                promised,
                lines: Vec::new(),
            },
            splits: 1,
            boxes: Vec::new(),
            split_boxes: Vec::new(),
            at_the_mean: true,
        }
    }

    /// Every method looks at its site: what it cannot serve is refused here, before any data is touched.
    fn check(&self, program: &Program, rule: &Rule) -> Result<()> {
        let by_rows = program.a().by_rows();
        for served in &self.served {
            let block = &program.constraints()[served.block];
            let rows = served
                .rows
                .iter()
                .enumerate()
                .map(|(place, &i)| {
                    let (noises, fixed) = reach(by_rows.row(i), rule);
                    Reach {
                        name: program.row_name(i),
                        eta: served.etas.get(place).copied(),
                        noises,
                        fixed,
                    }
                })
                .collect();
            served.method.check(&Site {
                cone: &cone_of(block, served.rows.len()),
                name: block.name(),
                law: &self.law,
                rows,
            })?;
        }
        Ok(())
    }

    fn allot(
        &mut self,
        program: &Program,
        rule: &Rule,
        wish: &Feasibility,
        pending: Vec<Pending>,
    ) -> Result<()> {
        if wish.each {
            return self.allot_each(program, wish, pending);
        }
        let explicit: f64 = pending
            .iter()
            .filter_map(|p| p.etas.as_ref())
            .flatten()
            .sum();
        let left = wish.eta - explicit;
        if left < -1e-12 * wish.eta {
            return Err(Error::input(format!(
                "the rows' own η add up to {explicit}, more than the whole η = {}",
                wish.eta
            )));
        }
        let (mut by_event, mut by_row): (Vec<Pending>, Vec<Pending>) = (Vec::new(), Vec::new());
        for p in pending {
            match p.choice {
                Choice::RowByRow(_) | Choice::NoiseAwareHinge | Choice::FixedRecourse => {
                    by_row.push(p)
                }
                _ => by_event.push(p),
            }
        }
        let kinds = [
            Choice::MassBox,
            Choice::SampledBox,
            Choice::Scenario,
            Choice::Ball,
        ];
        let present: Vec<Choice> = kinds
            .into_iter()
            .filter(|kind| by_event.iter().any(|p| event_of(p.choice) == *kind))
            .collect();
        // Equal shares per group, unless a block's weight raises or lowers the event that serves it.
        let open_rows = by_row.iter().any(|p| p.etas.is_none());
        let weight_of = |kind: &Choice| {
            let mine = by_event.iter().filter(|p| event_of(p.choice) == *kind);
            mine.map(|p| p.weight).fold(0.0f64, f64::max)
        };
        let weights: Vec<f64> = present.iter().map(weight_of).collect();
        let total = weights.iter().sum::<f64>() + f64::from(u8::from(open_rows));
        let unit = if total > 0.0 { left / total } else { 0.0 };
        if total > 0.0 && !(unit > 0.0) {
            return Err(Error::input(format!(
                "the rows' own η add up to {explicit} and leave nothing of η = {} for the other constraints",
                wish.eta
            )));
        }
        let sampled = present
            .iter()
            .filter(|c| matches!(c, Choice::SampledBox | Choice::Scenario))
            .count();
        let sampling = (wish.size, wish.beta / sampled.max(1) as f64, wish.seed);
        for (kind, weight) in present.into_iter().zip(weights) {
            let (method, mut line) = self.event(rule, kind, weight * unit, sampling, wish.split)?;
            if kind != Choice::MassBox {
                self.serve(program, &mut by_event, kind, method, Some(line));
                continue;
            }
            // One box for both: it is one event, whether vertices or a safe bound stand in for it.
            let safe = Arc::new(SafeBox::new(&self.split_boxes));
            let is = |choice| move |p: &Pending| p.choice == choice;
            if by_event.iter().any(is(Choice::MassBox)) {
                let detail = line.detail.clone();
                self.serve(program, &mut by_event, kind, method, Some(line));
                line = new_line("safe box", 0.0, format!("the same event: {detail}"));
            } else {
                line.method = safe.name().into();
            }
            if by_event.iter().any(is(Choice::SafeBox)) {
                self.serve(program, &mut by_event, Choice::SafeBox, safe, Some(line));
            }
        }
        if by_event.iter().any(|p| p.choice == Choice::Bounded) {
            let bounded = Bounded::new(&self.law, self.step)?;
            let line = new_line("bounded noise", 0.0, box_text(&bounded.set()));
            self.boxes = vec![bounded.set(); rule.noises()];
            self.serve(
                program,
                &mut by_event,
                Choice::Bounded,
                Arc::new(bounded),
                Some(line),
            );
        }
        self.allot_rows(program, by_row, unit)
    }

    /// η for every row by itself: no share is divided, and nothing is promised of all rows together.
    fn allot_each(
        &mut self,
        program: &Program,
        wish: &Feasibility,
        pending: Vec<Pending>,
    ) -> Result<()> {
        for p in &pending {
            let by_row = matches!(
                p.choice,
                Choice::RowByRow(_) | Choice::NoiseAwareHinge | Choice::FixedRecourse
            );
            if !by_row {
                return Err(Error::refused(
                    format!(
                        "an η for each row of `{}`",
                        program.constraints()[p.block].name()
                    ),
                    format!(
                        "{} serves rows together, not each by itself",
                        p.choice.name()
                    ),
                    "a joint η; or row by row, for linear rows",
                ));
            }
        }
        let each = pending.into_iter().map(|p| Pending {
            etas: Some(p.etas.unwrap_or_else(|| vec![wish.eta; p.rows.len()])),
            ..p
        });
        self.allot_rows(program, each.collect(), 0.0)?;
        for (line, served) in self.budget.lines.iter_mut().zip(&self.served) {
            let largest = served.etas.iter().fold(0.0f64, |m, e| m.max(*e));
            line.share = largest;
            line.certified = largest;
        }
        Ok(())
    }

    /// The one event of a method, and its line in the table.
    fn event(
        &mut self,
        rule: &Rule,
        kind: Choice,
        share: f64,
        sampling: (crate::noise::SampleSize, f64, u64),
        split: Split,
    ) -> Result<(Arc<dyn Method>, BudgetLine)> {
        let k = rule.noises();
        let (law, step) = (self.law, self.step);
        Ok(match kind {
            Choice::SampledBox => {
                let method = SampledBox::new(&law, k, share, sampling, step)?;
                let text = format!("hull of {} samples, seed {}", method.samples(), sampling.2);
                let mut line = new_line("sampled box", share, text);
                line.certified = method.outside();
                self.boxes = method.boxes().to_vec();
                (Arc::new(method), line)
            }
            Choice::Scenario => {
                let decisions = rule.variables() + rule.free_entries();
                let method = Scenario::new(&law, k, decisions, share, sampling)?;
                let text = format!(
                    "{} samples for {decisions} decision variables, seed {}; assumes a unique optimum",
                    method.samples(),
                    sampling.2
                );
                let mut line = new_line("scenario", share, text);
                line.confidence = Some(1.0 - sampling.1);
                (Arc::new(method), line)
            }
            Choice::Ball => {
                let method = Ball::new(&law, k, share, step)?;
                let text = format!("‖ζ‖ ≤ {}", crate::digits::decimals(method.radius(), 0.0));
                (Arc::new(method), new_line("ball", share, text))
            }
            _ => {
                let method = MassBox::new(&law, k, share, split, step)?;
                self.splits = method.boxes().len();
                self.split_boxes = method.boxes().to_vec();
                let text = if self.splits == 1 {
                    box_text(&method.boxes()[0])
                } else {
                    format!("the best of {} public splits", self.splits)
                };
                self.boxes = vec![method.boxes()[0]; k];
                (Arc::new(method), new_line("mass box", share, text))
            }
        })
    }

    fn serve(
        &mut self,
        program: &Program,
        pending: &mut Vec<Pending>,
        kind: Choice,
        method: Arc<dyn Method>,
        line: Option<BudgetLine>,
    ) {
        let mine: Vec<Pending> = pending.extract_if(.., |p| p.choice == kind).collect();
        if let Some(mut line) = line {
            line.rows = mine.iter().map(|p| p.rows.len()).sum();
            line.serves = names(program, &mine);
            self.budget.lines.push(line);
        }
        for p in mine {
            self.served.push(BlockDesign {
                block: p.block,
                etas: Vec::new(),
                rows: p.rows,
                method: method.clone(),
            });
        }
    }

    fn allot_rows(&mut self, program: &Program, rows: Vec<Pending>, share: f64) -> Result<()> {
        let total: f64 = rows
            .iter()
            .filter(|p| p.etas.is_none())
            .map(|p| p.weight * p.rows.len() as f64)
            .sum();
        for p in rows {
            let etas = match &p.etas {
                Some(etas) => etas.clone(),
                None => vec![share * p.weight / total; p.rows.len()],
            };
            if let Some(eta) = etas.iter().find(|e| !(**e > 0.0 && **e < 0.5)) {
                return Err(Error::input(format!(
                    "the η of a row of `{}` is {eta}: it must lie strictly between 0 and 1/2",
                    program.constraints()[p.block].name()
                )));
            }
            let method: Arc<dyn Method> = match p.choice {
                Choice::RowByRow(factor) => Arc::new(RowByRow::new(factor)),
                Choice::NoiseAwareHinge => Arc::new(NoiseAwareHinge),
                _ => Arc::new(FixedRecourse),
            };
            let sum: f64 = etas.iter().sum();
            let same = etas.iter().all(|e| *e == etas[0]);
            let text = if same {
                format!("η = {:.3e} for each row", etas[0])
            } else {
                "η of each row as given".into()
            };
            let mut line = new_line(method.name(), sum, text);
            line.rows = p.rows.len();
            line.serves = names(program, std::slice::from_ref(&p));
            self.budget.lines.push(line);
            self.served.push(BlockDesign {
                block: p.block,
                rows: p.rows,
                etas,
                method,
            });
        }
        Ok(())
    }

    /// Writes every constraint of the program into the lift, under the given box split.
    pub fn enforce(&self, lift: &mut Lift<'_>, split: usize) -> Result<()> {
        let program = lift.program();
        for (block, rows) in &self.silent {
            let origins: Vec<Option<usize>> = rows.iter().map(|&i| Some(i)).collect();
            let at_mean = rows.iter().map(|&i| lift.mean_row(i, 0.0)).collect();
            let cone = cone_of(&program.constraints()[*block], rows.len());
            lift.cone(&cone, at_mean, &origins);
        }
        for served in &self.served {
            let block = &program.constraints()[served.block];
            let cone = cone_of(block, served.rows.len());
            served.method.enforce(
                lift,
                &Task {
                    cone: &cone,
                    rows: &served.rows,
                    etas: &served.etas,
                    law: &self.law,
                    step: self.step,
                    split,
                    name: block.name(),
                },
            )?;
        }
        Ok(())
    }

    /// The room of every row, where each is served by a method whose room follows from its noise alone (M9).
    pub(crate) fn rooms(
        &self,
        rows: usize,
        noises: usize,
        law: &Law,
        step: f64,
    ) -> Result<Option<Vec<Room>>> {
        let mut rooms = vec![None; rows];
        for served in &self.served {
            for (&row, &eta) in served.rows.iter().zip(&served.etas) {
                rooms[row] = served.method.room(law, noises, eta, step)?;
            }
        }
        Ok(rooms.into_iter().collect())
    }

    /// Refuses a method that serves local recourse alone.
    pub(crate) fn without_local_recourse(&self, program: &Program) -> Result<()> {
        let hinge = NoiseAwareHinge.name();
        match self.served.iter().find(|s| s.method.name() == hinge) {
            Some(served) => Err(not_local(program.constraints()[served.block].name())),
            None => Ok(()),
        }
    }

    /// The η table.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What serves which rows.
    pub fn served(&self) -> &[BlockDesign] {
        &self.served
    }

    /// Number of box splits to try; 1 unless the split is optimised.
    pub fn splits(&self) -> usize {
        self.splits
    }

    /// The box, one interval per noise, of the first split; empty when no method uses a box.
    pub fn boxes(&self) -> &[BoxSet] {
        &self.boxes
    }

    /// The one interval of a single noise that serves every row under a split, if one does.
    pub(crate) fn sole_box(&self, split: usize) -> Option<BoxSet> {
        let set = match self.split_boxes.get(split) {
            Some(set) => *set,
            None => *self.boxes.first()?,
        };
        (self.boxes.len() == 1 && self.one_box_for_all()).then_some(set)
    }

    /// Whether a decision rule that meets the constraints has a mean that does: not so for sampled points, among which
    /// zero need not lie.
    pub(crate) fn holds_at_the_mean(&self) -> bool {
        let sampled = |m: &str| m == "sampled box" || m == "scenario";
        !self.budget.lines.iter().any(|line| sampled(&line.method))
    }

    /// Whether every constraint is met at the mean alone.
    pub(crate) fn is_at_the_mean(&self) -> bool {
        self.at_the_mean
    }

    /// Whether one box serves every row that noise reaches: M5a's equality c'x̄ = c'x* − l needs it.
    pub(crate) fn one_box_for_all(&self) -> bool {
        let [line] = self.budget.lines.as_slice() else {
            return false;
        };
        matches!(
            line.method.as_str(),
            "mass box" | "sampled box" | "bounded noise"
        )
    }
}

/// The event that a choice shares with others.
fn event_of(choice: Choice) -> Choice {
    match choice {
        Choice::SafeBox => Choice::MassBox,
        other => other,
    }
}

fn new_line(method: &str, share: f64, detail: String) -> BudgetLine {
    BudgetLine {
        method: method.into(),
        serves: String::new(),
        rows: 0,
        share,
        certified: share,
        confidence: None,
        detail,
    }
}

fn box_text(set: &BoxSet) -> String {
    let end = |value: f64| crate::digits::decimals(value, 0.0);
    format!("every ζ in [{}, {}]", end(set.lower), end(set.upper))
}

fn names(program: &Program, pending: &[Pending]) -> String {
    let mut names: Vec<&str> = pending
        .iter()
        .map(|p| program.constraints()[p.block].name())
        .collect();
    names.dedup();
    crate::program::list_some(&names)
}

fn cone_of(block: &ConstraintBlock, rows: usize) -> Cone {
    match block.cone() {
        Cone::Zero(_) => Cone::Zero(rows),
        Cone::Nonnegative(_) => Cone::Nonnegative(rows),
        other => other.clone(),
    }
}
