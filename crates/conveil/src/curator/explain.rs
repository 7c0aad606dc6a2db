//! Why it is infeasible, and what would make it feasible (M11). All of it explores private data.

use super::{About, Lever, levers, widest};
use crate::ask::{Ask, Bound, MapKind, Request, Strategy};
use crate::chance::Kind;
use crate::digits::{decimals, short};
use crate::error::{Error, Result};
use crate::plan::{Plan, ReleasedMap};
use crate::program::DataMap;
use crate::solve::Infeasibility;
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::RangeInclusive;

/// The edge of feasibility in one number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Threshold {
    /// ε, η, α, noise scale, or the universe as a multiple of the stated one.
    pub what: &'static str,
    /// Its value now.
    pub now: f64,
    /// The last feasible value, found by bisection to a relative 1e-4 (the universe: by a scan, see its note); none when
    /// no value in range is feasible.
    pub edge: Option<f64>,
    /// Whether the range ended before an edge was met: everything tried up to `edge` is feasible.
    pub everything_tried: bool,
    /// Whether feasible values lie above the edge (ε, η) or below it (α, scale).
    pub feasible_above: bool,
    /// What to know about it.
    pub note: Option<String>,
    /// Whether the edge is where the solver gives up, and none of the data.
    #[serde(skip)]
    pub is_the_solvers: bool,
}

/// The answer to "why, and what then?". Private.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Whether it depends on private data: then it must not be published.
    pub private: bool,
    /// Which data it is about, where they are public.
    #[serde(rename = "at", skip_serializing_if = "About::is_private")]
    pub about: About,
    /// Feasible as asked.
    pub feasible: bool,
    /// What holds it back, when infeasible.
    pub obstacle: Option<Infeasibility>,
    /// Why no noise scale meets the stated privacy, where none does.
    pub unattainable: Option<String>,
    /// The constraints with the largest prices, when feasible: what makes privacy cost.
    pub binding: Vec<(String, f64)>,
    /// The edges.
    pub thresholds: Vec<Threshold>,
    /// The public numbers that make the noise smaller, where a certificate is stated with some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levers: Vec<Lever>,
    /// Whether losses absorb the noise (M9), so that every ε and η is feasible and there are no edges.
    #[serde(rename = "gives_way")]
    pub has_elastic_losses: bool,
}

/// Which plan an ask is for.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mode {
    /// One that could be released.
    Ordinary,
    /// Noise calibrated to the deterministic map, as in the paper: for studies.
    Paper,
}

impl Mode {
    /// A sensitivity sampled on the deterministic map is paper mode's alone.
    pub(super) fn of(ask: &Ask) -> Self {
        match &ask.sensitivity {
            Some(Request::Sampled(s))
                if s.on == MapKind::Deterministic && ask.strategy == Strategy::Program =>
            {
                Mode::Paper
            }
            _ => Mode::Ordinary,
        }
    }

    fn plan<'m>(self, map: &'m dyn DataMap, ask: Ask, theta: &[f64]) -> Result<Plan<'m>> {
        match self {
            Mode::Ordinary => Plan::new(map, ask),
            Mode::Paper => Plan::paper_mode_unaudited(map, ask, theta),
        }
    }
}

/// Explains an ask on a dataset; one whose sensitivity is sampled on the deterministic map as paper mode. Values found
/// this way depend on the data: a plan built from them is not covered by its guarantee unless they were going to be
/// chosen anyway.
pub fn explain(map: &dyn DataMap, ask: &Ask, theta: &[f64]) -> Result<Explanation> {
    ask.strategy.only_program("an explanation")?;
    // A certificate may find in public that the noise fits no dataset; sampled pairs, that no scale is enough.
    let mut unattainable = None;
    let mode = Mode::of(ask);
    let plan = match mode.plan(map, ask.clone(), theta) {
        Ok(plan) => Ok(plan),
        Err(Error::NoiseDoesNotFit(obstacle)) => Err(obstacle),
        Err(Error::NotAttainable(why)) if widest::applies(ask) => {
            unattainable = Some(why);
            Err(Infeasibility::default())
        }
        Err(other) => return Err(other),
    };
    let decided = match &plan {
        Ok(plan) => plan
            .released()
            .at(theta)
            .and_then(|decided| plan.released().in_users_variables(decided, theta)),
        Err(obstacle) => Err(Error::NoiseDoesNotFit(obstacle.clone())),
    };
    let (feasible, obstacle, binding) = match decided {
        Ok(decided) => {
            let mut prices = decided.named_prices();
            prices.truncate(10);
            (true, None, prices)
        }
        Err(Error::NoiseDoesNotFit(obstacle)) => (false, Some(obstacle), Vec::new()),
        Err(other) => return Err(other),
    };
    let obstacle = obstacle.filter(|o| !o.rows.is_empty() || unattainable.is_none());
    let has_elastic_losses =
        feasible && (plan.as_ref()).is_ok_and(|p| p.released().has_local_recourse());
    let mut explanation = Explanation {
        private: true,
        about: About::Private,
        feasible,
        obstacle,
        unattainable,
        // The margin of every loss that counts has the same price, its cost: they tell nothing.
        binding: if has_elastic_losses {
            Vec::new()
        } else {
            binding
        },
        thresholds: Vec::new(),
        levers: match &plan {
            // Where one was chosen, it is the one in use.
            Ok(plan) => levers::levers(map, &ask.clone().sensitivity(plan.sensitivity().clone()))?,
            Err(_) => levers::levers(map, ask)?,
        },
        has_elastic_losses,
    };
    let thresholds = &mut explanation.thresholds;
    if explanation.has_elastic_losses {
        // A search would find where the solver gives up, and call it an edge.
        return Ok(explanation);
    }
    if !feasible {
        thresholds.extend(widest::universe(map, ask, theta, mode)?);
    }
    if explanation.unattainable.is_some() {
        // Without a scale there is nothing to hold fixed while something else moves.
        return Ok(explanation);
    }
    let stated = ask.stated()?;
    let epsilon = stated.privacy.epsilon();
    let declared = match &stated.sensitivity {
        Request::Declared { bound, .. } => Some(*bound),
        _ => None,
    };
    let method = ask.feasibility.method.kind();
    let note = method.is_some_and(Kind::is_sampled).then(|| {
        "the sampled method is not exactly monotone: the edge is one of the seed's".to_string()
    });
    let is_certified = stated.sensitivity.is_certificate();
    let guess = Guess::new(plan.as_ref().ok(), theta);
    if declared.is_some() || is_certified {
        let fits = |e: f64| fits(map, ask.clone().with_epsilon(e), theta, mode);
        let at = |e: f64| guess.at(&ask.clone().with_epsilon(e), 1.0);
        let found = guess.edge(epsilon, feasible, 1e-9..=1e9, true, &at, &fits)?;
        thresholds.push(found.threshold("ε", epsilon, true, &note));
    }
    let follows_alpha = is_certified || matches!(declared, Some(Bound::PerAlpha(_)));
    if let Some(alpha) = stated.adjacency.alpha()
        && follows_alpha
    {
        let fits = |a: f64| fits(map, ask.clone().with_alpha(a), theta, mode);
        let at = |a: f64| guess.at(&ask.clone().with_alpha(a), a / alpha);
        let found = guess.edge(alpha, feasible, 1e-12..=1e12, false, &at, &fits)?;
        thresholds.push(found.threshold("α", alpha, false, &note));
    }
    // The scale is fixed while η moves, so that one thing changes at a time; a certificate's does not depend on η.
    let delta = plan.as_ref().map_or(0.0, |p| p.guarantee().sensitivity());
    let fixed = if is_certified {
        ask.clone()
    } else {
        ask.clone().sensitivity(Request::Declared {
            bound: Bound::Total(delta),
            reason: "the plan's own sensitivity, held fixed".into(),
        })
    };
    let fits_eta = |eta: f64| fits(map, fixed.clone().with_eta(eta), theta, mode);
    let eta = ask.feasibility.eta;
    let at = |eta: f64| guess.at(&fixed.clone().with_eta(eta), 1.0);
    let range = 1e-12..=0.499_999;
    let found = guess.edge(eta, feasible, range, true, &at, &fits_eta)?;
    thresholds.push(found.threshold("η", eta, true, &note));
    if !is_certified {
        let fits_scale = |factor: f64| {
            let larger = fixed.clone().sensitivity(Request::Declared {
                bound: Bound::Total(delta * factor),
                reason: "a multiple of the plan's sensitivity".into(),
            });
            fits(map, larger, theta, mode)
        };
        let mut found = edge(1.0, feasible, 1e-9..=1e9, false, &fits_scale)?;
        found.last = found.last.map(|factor| factor * delta);
        thresholds.push(found.threshold("sensitivity", delta, false, &note));
    }
    Ok(explanation)
}

/// What became of one value.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Tried {
    Yes,
    No,
    /// No solve was certified: that proves nothing.
    Unsolved,
    /// The value itself is refused: the range ends before it.
    Outside,
}

/// Whether the noise of this ask fits the data.
pub(super) fn fits(map: &dyn DataMap, ask: Ask, theta: &[f64], mode: Mode) -> Result<Tried> {
    let plan = match mode.plan(map, ask, theta) {
        Ok(plan) => plan,
        Err(Error::Refused { .. } | Error::Input(_)) => return Ok(Tried::Outside),
        // A certificate solves on public data: the noise may fit none, or leave no room for a proof.
        Err(Error::NoiseDoesNotFit(_)) => return Ok(Tried::No),
        Err(Error::Inaccurate { .. } | Error::Numerical(_)) => return Ok(Tried::Unsolved),
        Err(other) => return Err(other),
    };
    match plan.released().at(theta) {
        Ok(_) => Ok(Tried::Yes),
        Err(Error::NoiseDoesNotFit(_)) => Ok(Tried::No),
        // At the very edge the lifted program has no interior, and the solver may stop short: not certified, not feasible.
        Err(Error::Inaccurate { .. } | Error::Numerical(_)) => Ok(Tried::Unsolved),
        Err(other) => Err(other),
    }
}

/// What one solve tells of another ask, under an envelope: there noise fits all data or none, and the sensitivity is the
/// price times α up to the solver's part. A plan of that ask would prove much more, at ten times the cost.
struct Guess<'p, 'm> {
    plan: Option<&'p Plan<'m>>,
    theta: &'p [f64],
    /// The ends of boxes that all rows share, and whether a decision was found for them.
    boxes: RefCell<Vec<(f64, f64, bool)>>,
    /// Plans have agreed with guesses before.
    agreed: Cell<bool>,
}

impl<'p, 'm> Guess<'p, 'm> {
    fn new(plan: Option<&'p Plan<'m>>, theta: &'p [f64]) -> Self {
        let enveloped = plan.filter(|plan| plan.released().plain().is_some());
        Guess {
            plan: enveloped,
            theta,
            boxes: RefCell::default(),
            agreed: Cell::default(),
        }
    }

    /// What fits a box fits every box inside it, and what does not fit it fits none around it.
    fn known(&self, lower: f64, upper: f64) -> Option<bool> {
        let boxes = self.boxes.borrow();
        let is_known = |&&(low, high, fits): &&(f64, f64, bool)| match fits {
            true => low <= lower && upper <= high,
            false => lower <= low && high <= upper,
        };
        boxes.iter().find(is_known).map(|found| found.2)
    }

    /// Whether this noise fits, by what is known of other boxes or by a solve.
    fn tried(&self, released: &ReleasedMap<'_>) -> Result<Option<bool>> {
        let design = released.design();
        let shared = (design.splits() == 1 && design.one_box_for_all())
            .then(|| design.sole_box(0))
            .flatten();
        let Some(set) = shared else {
            return released.seems_to_fit(self.theta);
        };
        if let Some(known) = self.known(set.lower, set.upper) {
            return Ok(Some(known));
        }
        let found = released.seems_to_fit(self.theta)?;
        if let Some(fits) = found {
            let mut boxes = self.boxes.borrow_mut();
            boxes.push((set.lower, set.upper, fits));
        }
        Ok(found)
    }

    /// None where nothing can be said without a plan.
    fn at(&self, ask: &Ask, factor: f64) -> Result<Option<Tried>> {
        let Some(plan) = self.plan else {
            return Ok(None);
        };
        let noise = || {
            let privacy = ask.stated()?.privacy;
            privacy.validate()?;
            ask.feasibility.validate()?;
            let sensitivity = factor * plan.guarantee().sensitivity();
            privacy.lattice_law(sensitivity, plan.released().shape().noises(), ask.lattice)
        };
        let tried = || self.tried(&plan.released().under(ask, noise()?)?);
        match tried() {
            Ok(Some(true)) => Ok(Some(Tried::Yes)),
            Ok(Some(false)) => Ok(Some(Tried::No)),
            Ok(None) => Ok(Some(Tried::Unsolved)),
            Err(Error::Refused { .. } | Error::Input(_)) => Ok(Some(Tried::Outside)),
            Err(Error::Inaccurate { .. } | Error::Numerical(_)) => Ok(Some(Tried::Unsolved)),
            Err(other) => Err(other),
        }
    }
}

impl Guess<'_, '_> {
    /// [`edge`] by guesses, where plans agree with them on both sides of what was found; by plans alone where they do not. Once
    /// they agreed, the guesses of other quantities are taken as they are: they ask about the same boxes.
    fn edge(
        &self,
        now: f64,
        feasible_now: bool,
        range: RangeInclusive<f64>,
        feasible_above: bool,
        at: &dyn Fn(f64) -> Result<Option<Tried>>,
        fits: &dyn Fn(f64) -> Result<Tried>,
    ) -> Result<Edge> {
        let tried: RefCell<Vec<(f64, Tried)>> = RefCell::default();
        let guessed = |value: f64| {
            let found = at(value)?.unwrap_or(Tried::Unsolved);
            tried.borrow_mut().push((value, found));
            Ok(found)
        };
        if self.plan.is_some() {
            let found = edge(now, feasible_now, range.clone(), feasible_above, &guessed)?;
            let tried = tried.into_inner();
            let distance = |value: f64| found.last.map_or(0.0, |last| (value / last).ln().abs());
            // The last feasible value, and the nearest one that is not.
            let nearest = |is_feasible: bool| {
                let of_kind = (tried.iter()).filter(|t| (t.1 == Tried::Yes) == is_feasible);
                of_kind.min_by(|a, b| distance(a.0).total_cmp(&distance(b.0)))
            };
            let mut agree = true;
            if !self.agreed.get() {
                for (value, guessed) in [nearest(true), nearest(false)].into_iter().flatten() {
                    agree = agree && fits(*value)? == *guessed;
                }
            }
            self.agreed.set(agree);
            if agree {
                return Ok(found);
            }
        }
        edge(now, feasible_now, range, feasible_above, fits)
    }
}

/// Two values this close on a log scale are the same edge.
const CLOSE: f64 = 1e-4;

/// What a search for an edge found.
struct Edge {
    /// The last feasible value; none when no value in range is feasible.
    last: Option<f64>,
    /// The range ended before infeasibility was met.
    everything_tried: bool,
    /// Some value beyond was proven infeasible, or none failed: else the edge is where the solver gives up.
    is_proven: bool,
}

impl Edge {
    fn threshold(
        &self,
        what: &'static str,
        now: f64,
        feasible_above: bool,
        note: &Option<String>,
    ) -> Threshold {
        let given_up = (!self.is_proven).then(|| {
            "beyond it no solve was certified and none was proven infeasible: this is where the solver gives up, not an edge of the data".to_string()
        });
        Threshold {
            what,
            now,
            edge: self.last,
            everything_tried: self.everything_tried,
            feasible_above,
            note: given_up.or_else(|| note.clone()),
            is_the_solvers: !self.is_proven,
        }
    }
}

/// The last feasible value between `now` and infeasibility, by doubling and bisection on a log scale.
fn edge(
    now: f64,
    feasible_now: bool,
    range: RangeInclusive<f64>,
    feasible_above: bool,
    fits: &dyn Fn(f64) -> Result<Tried>,
) -> Result<Edge> {
    let (unsolved, refuted) = (Cell::new(false), Cell::new(!feasible_now));
    let counted = |value: f64| {
        let fit = fits(value)?;
        unsolved.set(unsolved.get() || fit == Tried::Unsolved);
        refuted.set(refuted.get() || fit == Tried::No);
        Ok(fit)
    };
    let (last, everything_tried) = walk(now, feasible_now, range, feasible_above, &counted)?;
    Ok(Edge {
        last,
        everything_tried,
        is_proven: !unsolved.get() || (feasible_now && refuted.get()),
    })
}

/// The walk itself; true when the range ended before infeasibility was met.
fn walk(
    now: f64,
    feasible_now: bool,
    range: RangeInclusive<f64>,
    feasible_above: bool,
    fits: &dyn Fn(f64) -> Result<Tried>,
) -> Result<(Option<f64>, bool)> {
    // Walk towards the edge: down if feasible values lie above and now is feasible, and so on.
    let downward = feasible_now == feasible_above;
    let close = |a: f64, b: f64| (a / b).ln().abs() <= CLOSE;
    let ended = |last: f64| (feasible_now.then_some(last), feasible_now);
    let mut value = now;
    let mut factor: f64 = 2.0;
    let (mut inside, mut outside) = loop {
        let far = if downward {
            value / factor
        } else {
            value * factor
        };
        let mut next = far.clamp(*range.start(), *range.end());
        if next == value {
            // The range ends: feasible (or not) all the way.
            return Ok(ended(value));
        }
        factor = (factor * factor).min(64.0);
        let mut fit = fits(next)?;
        let mut last = value;
        if fit == Tried::Outside {
            // The last value that is not refused stands for the end of the range.
            fit = if feasible_now { Tried::Yes } else { Tried::No };
            while !close(last, next) {
                let mid = (last * next).sqrt();
                match fits(mid)? {
                    Tried::Outside => next = mid,
                    known => {
                        fit = known;
                        if (fit == Tried::Yes) != feasible_now {
                            next = mid;
                            break;
                        }
                        last = mid;
                    }
                }
            }
            if (fit == Tried::Yes) == feasible_now {
                return Ok(ended(last));
            }
        }
        if (fit == Tried::Yes) != feasible_now {
            break if feasible_now {
                (last, next)
            } else {
                (next, last)
            };
        }
        value = next;
    };
    while !close(inside, outside) {
        let mid = (inside * outside).sqrt();
        if fits(mid)? == Tried::Yes {
            inside = mid;
        } else {
            outside = mid;
        }
    }
    Ok((Some(inside), false))
}

impl Explanation {
    /// The same about these data.
    #[must_use]
    pub fn about(mut self, about: About) -> Self {
        (self.private, self.about) = (about.is_private(), about);
        self
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "EXPLANATION: {}", self.about.exploring())?;
        if let Some(why) = &self.unattainable {
            writeln!(f, "not attainable: {why}")?;
        }
        match (&self.obstacle, self.feasible) {
            (None, false) if self.unattainable.is_some() => {}
            (Some(obstacle), _) => writeln!(f, "infeasible with this noise: {obstacle}")?,
            (None, true) => writeln!(f, "feasible as asked")?,
            (None, false) => writeln!(f, "infeasible with this noise")?,
        }
        if !self.binding.is_empty() {
            writeln!(
                f,
                "what makes privacy cost (prices of binding constraints):"
            )?;
            for (name, price) in &self.binding {
                writeln!(f, "  {name:<28} {:>13}", decimals(*price, 0.0))?;
            }
        }
        if self.has_elastic_losses {
            writeln!(f, "feasible at any ε and η: losses give way to the noise")?;
        }
        for t in &self.thresholds {
            let word = if t.feasible_above {
                "smallest feasible"
            } else {
                "largest feasible"
            };
            match t.edge {
                Some(edge) if t.everything_tried => writeln!(
                    f,
                    "{word:<17} {:<12} {:>13}   (everything tried is feasible; now {})",
                    t.what,
                    format!(
                        "{} {}",
                        if t.feasible_above { "≤" } else { "≥" },
                        short(edge, 6)
                    ),
                    short(t.now, 9)
                )?,
                Some(edge) => writeln!(
                    f,
                    "{word:<17} {:<12} {:>13}   (now {})",
                    t.what,
                    short(edge, 6),
                    short(t.now, 9)
                )?,
                None => writeln!(
                    f,
                    "no feasible       {:<12} {:>13}   (now {})",
                    t.what,
                    "",
                    short(t.now, 9)
                )?,
            }
            if let Some(note) = &t.note {
                writeln!(f, "  {note}")?;
            }
        }
        levers::write(&self.levers, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(feasible_now: bool, fits: impl Fn(f64) -> Tried) -> Threshold {
        let edge = edge(1.0, feasible_now, 1e-9..=1e9, true, &|v| Ok(fits(v))).unwrap();
        edge.threshold("ε", 1.0, true, &None)
    }

    #[test]
    fn where_the_solver_gives_up_is_not_called_an_edge_of_the_data() {
        let given_up = found(true, |v| {
            if v > 1e-4 {
                Tried::Yes
            } else {
                Tried::Unsolved
            }
        });
        assert!((given_up.edge.unwrap() / 1e-4 - 1.0).abs() < 1e-3);
        let note = "beyond it no solve was certified and none was proven infeasible: this is where the solver gives up, not an edge of the data";
        assert_eq!(given_up.note.as_deref(), Some(note));
        // Solves that fail beside a proven edge say nothing against it.
        let proven = found(true, |v| match v {
            v if v > 1e-4 => Tried::Yes,
            v if v > 0.999e-4 => Tried::Unsolved,
            _ => Tried::No,
        });
        assert_eq!(proven.note, None);
        let open = found(true, |_| Tried::Yes);
        assert!(open.everything_tried && open.note.is_none());
    }
}
