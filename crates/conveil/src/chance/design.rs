//! From what is asked of feasibility to methods with shares: decided on public structure alone, once, in the Plan.

use super::budget::{Budget, BudgetLine};
use super::hinge::not_local;
use super::sorting::{NoiseFree, Pending, Reached, Sorted, sort_rows};
use super::vertices::BoxSet;
use super::{Feasibility, Kind, Method, Reach, Ready, Room, Scope, Setting, Site, Task, methods};
use crate::error::{Error, Result};
use crate::noise::LatticeLaw;
use crate::program::{Cone, ConstraintBlock, Program};
use crate::rule::{Lift, Rule};
use std::sync::Arc;

/// Rows of one block and the method that serves them.
#[derive(Clone, Debug)]
pub struct BlockDesign {
    block: usize,
    rows: Vec<usize>,
    etas: Vec<f64>,
    kind: &'static dyn Kind,
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

    /// The kind of its method.
    pub fn kind(&self) -> &'static dyn Kind {
        self.kind
    }
}

/// The chance constraint's design.
///
/// # Guarantee
/// A point of the lifted program that meets all constraints written by `Design::enforce` is feasible with
/// probability at least 1 − [`Budget::certified`], and that is at most η (M5, one budget). Where
/// `Budget::is_for_each_row`, the same is said of every row by itself, and nothing of all of them together. Where noise
/// is on the answer ([`Budget::is_promised`] tells), the constraints are met at the mean, and what is promised of the
/// answer is not the design's to keep.
#[derive(Clone, Debug)]
pub struct Design {
    noise: LatticeLaw,
    served: Vec<BlockDesign>,
    noise_free: Vec<NoiseFree>,
    budget: Budget,
    boxes: Vec<BoxSet>,
    at_the_mean: bool,
}

impl Design {
    /// Chooses methods and shares.
    pub fn new(
        program: &Program,
        rule: &Rule,
        noise: &LatticeLaw,
        asked: &Feasibility,
    ) -> Result<Self> {
        asked.validate()?;
        let Sorted {
            pending,
            noise_free,
        } = sort_rows(program, rule, noise.law(), asked)?;
        let mut design = Design {
            noise: *noise,
            served: Vec::new(),
            noise_free,
            budget: Budget {
                eta: asked.eta,
                each: asked.each,
                promised: true,
                lines: Vec::new(),
                assumes_one_optimum: false,
            },
            boxes: Vec::new(),
            at_the_mean: false,
        };
        match asked.each {
            true => design.allot_each(program, rule, asked, pending)?,
            false => design.allot(program, rule, asked, pending)?,
        }
        let methods = || design.served.iter().map(|served| &served.method);
        let is_about_one = methods().any(|method| method.assumes_one_optimum());
        let interval = |method: &Arc<dyn Method>| -> Option<Vec<BoxSet>> {
            let noises = 0..rule.noises();
            noises.map(|noise| method.interval(0, noise)).collect()
        };
        let boxes = methods().rev().find_map(interval);
        design.budget.assumes_one_optimum = is_about_one;
        design.boxes = boxes.unwrap_or_default();
        design.check(program, rule)?;
        Ok(design)
    }

    /// Every constraint at the mean alone, as without noise: what stands behind noise on the answer (M13). Nothing is
    /// `promised` of a decision, unless the answer is corrected afterwards.
    pub(crate) fn at_the_mean(program: &Program, noise: &LatticeLaw, promised: bool) -> Self {
        let blocks = program.constraints().iter().enumerate();
        let noise_free = blocks.map(|(block, b)| NoiseFree {
            block,
            rows: b.range().collect(),
        });
        Design {
            noise: *noise,
            served: Vec::new(),
            noise_free: noise_free.collect(),
            budget: Budget {
                eta: if promised { 0.0 } else { 1.0 },
                each: false,
                promised,
                lines: Vec::new(),
                assumes_one_optimum: false,
            },
            boxes: Vec::new(),
            at_the_mean: true,
        }
    }

    /// Every method looks at its site: what it cannot serve is refused here, before any data is touched.
    fn check(&self, program: &Program, rule: &Rule) -> Result<()> {
        let reached = Reached::of(program, rule);
        for served in &self.served {
            let block = &program.constraints()[served.block];
            let mut rows: Vec<Reach> = Vec::new();
            for (place, &i) in served.rows.iter().enumerate() {
                let (noises, fixed) = (reached.noises(i), reached.is_fixed(i));
                let eta = served.etas.get(place).copied();
                // Each row by itself: one that is as the row before it asks nothing new of the method.
                let is_as = |last: &Reach| {
                    eta.is_some() && last.eta == eta && last.fixed == fixed && last.noises == noises
                };
                if !rows.last().is_some_and(is_as) {
                    rows.push(Reach {
                        row: i,
                        eta,
                        noises,
                        fixed,
                    });
                }
            }
            served.method.check(&Site {
                cone: &cone_of(block, served.rows.len()),
                name: block.name(),
                law: self.noise.law(),
                program,
                rows,
            })?;
        }
        Ok(())
    }

    /// One budget: what blocks state for themselves, then a share for each event and one for all other rows.
    fn allot(
        &mut self,
        program: &Program,
        rule: &Rule,
        asked: &Feasibility,
        pending: Vec<Pending>,
    ) -> Result<()> {
        let stated = pending.iter().filter_map(|p| p.etas.as_ref());
        let explicit: f64 = stated.flatten().sum();
        let left = asked.eta - explicit;
        if left < -1e-12 * asked.eta {
            return Err(Error::input(format!(
                "the rows' own η add up to {explicit}, more than the whole η = {}",
                asked.eta
            )));
        }
        let (by_row, mut by_event): (Vec<Pending>, Vec<Pending>) =
            (pending.into_iter()).partition(|p| p.kind.scope() == Scope::EachRow);
        let mut events: Vec<Event> = Vec::new();
        for kind in methods() {
            let scope = kind.scope();
            let mine = by_event.iter().filter(|p| p.kind.scope() == scope);
            let weight = mine.clone().map(|p| p.weight).fold(0.0f64, f64::max);
            let is_new = events.iter().all(|e| e.scope != scope);
            if matches!(scope, Scope::Event(_)) && mine.count() > 0 && is_new {
                events.push(Event {
                    scope,
                    weight,
                    is_sampled: kind.is_sampled(),
                });
            }
        }
        // Equal shares per group, unless a block's weight raises or lowers the event that serves it.
        let open_rows = by_row.iter().any(|p| p.etas.is_none());
        let weights: f64 = events.iter().map(|event| event.weight).sum();
        let total = weights + f64::from(u8::from(open_rows));
        let unit = if total > 0.0 { left / total } else { 0.0 };
        if total > 0.0 && !(unit > 0.0) {
            return Err(Error::input(format!(
                "the rows' own η add up to {explicit} and leave nothing of η = {} for the other constraints",
                asked.eta
            )));
        }
        let sampled = events.iter().filter(|event| event.is_sampled).count();
        let support = Event {
            scope: Scope::Support,
            weight: 0.0,
            is_sampled: false,
        };
        for event in events.iter().chain([&support]) {
            let share = event.weight * unit;
            let setting = Setting::new(self.noise, rule, asked, sampled, share);
            self.serve_event(program, event, &setting, &mut by_event)?;
        }
        self.allot_rows(program, rule, asked, by_row, unit)
    }

    /// η for every row by itself: no share is divided, and nothing is promised of all rows together.
    fn allot_each(
        &mut self,
        program: &Program,
        rule: &Rule,
        asked: &Feasibility,
        pending: Vec<Pending>,
    ) -> Result<()> {
        let together = pending.iter().find(|p| p.kind.scope() != Scope::EachRow);
        if let Some(p) = together {
            return Err(Error::refused(
                format!(
                    "an η for each row of `{}`",
                    program.constraints()[p.block].name()
                ),
                format!("{} serves rows together, not each by itself", p.kind.name()),
                "a joint η; or row by row, for linear rows",
            ));
        }
        let each = pending.into_iter().map(|p| Pending {
            etas: Some(p.etas.unwrap_or_else(|| vec![asked.eta; p.rows.len()])),
            ..p
        });
        self.allot_rows(program, rule, asked, each.collect(), 0.0)?;
        for (line, served) in self.budget.lines.iter_mut().zip(&self.served) {
            let largest = served.etas.iter().fold(0.0f64, |m, e| m.max(*e));
            line.share = largest;
            line.certified = largest;
        }
        Ok(())
    }

    /// Everything that shares one event: the share is counted once, in the line of the first kind.
    fn serve_event(
        &mut self,
        program: &Program,
        event: &Event,
        setting: &Setting,
        pending: &mut Vec<Pending>,
    ) -> Result<()> {
        let mut counted: Option<String> = None;
        for kind in methods().iter().filter(|kind| kind.scope() == event.scope) {
            let is_mine = |p: &mut Pending| p.kind.word() == kind.word();
            let mine: Vec<Pending> = pending.extract_if(.., is_mine).collect();
            if mine.is_empty() {
                continue;
            }
            let ready = kind.ready(setting)?;
            let mut line = match &counted {
                Some(detail) => new_line(*kind, 0.0, format!("the same event: {detail}")),
                None => ready.line(*kind, setting.share),
            };
            counted = counted.or(Some(ready.detail));
            line.rows = mine.iter().map(|p| p.rows.len()).sum();
            line.serves = names(program, &mine);
            self.budget.lines.push(line);
            self.served.extend(mine.into_iter().map(|p| BlockDesign {
                block: p.block,
                etas: Vec::new(),
                rows: p.rows,
                kind: *kind,
                method: ready.method.clone(),
            }));
        }
        Ok(())
    }

    fn allot_rows(
        &mut self,
        program: &Program,
        rule: &Rule,
        asked: &Feasibility,
        rows: Vec<Pending>,
        share: f64,
    ) -> Result<()> {
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
            let sum: f64 = etas.iter().sum();
            let ready = p.kind.ready(&Setting {
                factor: p.factor,
                ..Setting::new(self.noise, rule, asked, 0, sum)
            })?;
            let same = etas.iter().all(|e| *e == etas[0]);
            let text = if same {
                format!("η = {:.3e} for each row", etas[0])
            } else {
                "η of each row as given".into()
            };
            let mut line = new_line(p.kind, sum, text);
            line.rows = p.rows.len();
            line.serves = names(program, std::slice::from_ref(&p));
            self.budget.lines.push(line);
            self.served.push(BlockDesign {
                block: p.block,
                rows: p.rows,
                etas,
                kind: p.kind,
                method: ready.method,
            });
        }
        Ok(())
    }

    /// Writes every constraint of the program into the lift, under the given box split.
    pub(crate) fn enforce(&self, lift: &mut Lift<'_>, split: usize) -> Result<()> {
        let program = lift.program();
        for NoiseFree { block, rows } in &self.noise_free {
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
                    noise: &self.noise,
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
        noise: &LatticeLaw,
    ) -> Result<Option<Vec<Room>>> {
        let mut rooms = vec![None; rows];
        for served in &self.served {
            let mut last = None;
            for (&row, &eta) in served.rows.iter().zip(&served.etas) {
                // Rows of a block mostly have one η.
                rooms[row] = match last {
                    Some((of, room)) if of == eta => room,
                    _ => served.method.room(noise, noises, eta)?,
                };
                last = Some((eta, rooms[row]));
            }
        }
        Ok(rooms.into_iter().collect())
    }

    /// Refuses a method that serves local recourse alone.
    pub(crate) fn without_local_recourse(&self, program: &Program) -> Result<()> {
        let mut served = self.served.iter();
        match served.find(|served| served.kind.needs_local_recourse()) {
            Some(served) => Err(not_local(
                served.kind,
                program.constraints()[served.block].name(),
            )),
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
        let methods = self.served.iter().map(|served| served.method.splits());
        methods.fold(1, usize::max)
    }

    /// The kinds of methods in use, in the order of the table.
    pub fn kinds(&self) -> Vec<&'static dyn Kind> {
        let mut kinds: Vec<&'static dyn Kind> = Vec::new();
        for served in &self.served {
            if kinds.iter().all(|kind| kind.word() != served.kind.word()) {
                kinds.push(served.kind);
            }
        }
        kinds
    }

    /// The box, one interval per noise, of the first split; empty when no method uses a box.
    pub fn boxes(&self) -> &[BoxSet] {
        &self.boxes
    }

    /// The one interval of a single noise that serves every row under a split, if one does.
    pub(crate) fn sole_box(&self, split: usize) -> Option<BoxSet> {
        let is_sole = self.boxes.len() == 1 && self.one_box_for_all();
        self.served
            .first()?
            .method
            .interval(split, 0)
            .filter(|_| is_sole)
    }

    /// Whether a decision rule that meets the constraints has a mean that does: not so for sampled points, among which
    /// zero need not lie.
    pub(crate) fn holds_at_the_mean(&self) -> bool {
        let mut methods = self.served.iter().map(|served| &served.method);
        methods.all(|method| method.holds_at_the_mean())
    }

    /// Whether every constraint is met at the mean alone.
    pub(crate) fn is_at_the_mean(&self) -> bool {
        self.at_the_mean
    }

    /// Whether one box serves every row that noise reaches: M5a's equality c'x̄ = c'x* − l needs it.
    pub(crate) fn one_box_for_all(&self) -> bool {
        let first = self.served.first();
        self.budget.lines.len() == 1 && first.is_some_and(|served| served.method.is_exact_box())
    }
}

/// An event that has a share of η, and what decides how large it is.
struct Event {
    scope: Scope,
    weight: f64,
    is_sampled: bool,
}

impl Ready {
    fn line(&self, kind: &dyn Kind, share: f64) -> BudgetLine {
        BudgetLine {
            certified: self.certified.unwrap_or(share),
            confidence: self.confidence,
            ..new_line(kind, share, self.detail.clone())
        }
    }
}

fn new_line(kind: &dyn Kind, share: f64, detail: String) -> BudgetLine {
    BudgetLine {
        method: kind.name().into(),
        serves: String::new(),
        rows: 0,
        share,
        certified: share,
        confidence: None,
        detail,
    }
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
