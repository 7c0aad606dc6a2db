//! Which public number to change for less noise, and what that does to corrections and costs on public data. Nothing here
//! looks at private data.

use crate::ask::{Ask, Request, Term};
use crate::certify::Need;
use crate::digits::short;
use crate::error::{Error, Result};
use crate::plan::{UnderTerms, under_terms};
use crate::program::DataMap;
use serde::Serialize;
use std::fmt;

/// One public number, and what another value of it would do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lever {
    /// width, curvature, price, α or ε.
    pub what: &'static str,
    /// Its value now; 0 where none is stated.
    pub now: f64,
    /// The value that was tried, half or twice that of now; none where the noise does not depend on it.
    pub instead: Option<f64>,
    /// The noise at that value as a multiple of the present noise.
    pub noise: f64,
    /// The largest correction of public data (nominal, and both ends of the public bounds) now and at that value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correction: Option<[f64; 2]>,
    /// What the certificate's terms cost at the nominal data, now and at that value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<[f64; 2]>,
}

/// A change of the noise below this share is none.
const NONE: f64 = 1e-6;

/// What else there is to try; none where the sensitivity has no public numbers of its own.
pub(super) fn levers(map: &dyn DataMap, ask: &Ask) -> Result<Vec<Lever>> {
    let stated = ask.stated()?;
    let kind = stated.sensitivity.certificate();
    let takes = (kind.filter(|kind| !kind.stands_for_others())).map(|kind| kind.takes());
    let takes = takes.filter(|t| {
        [t.width, t.curvature, t.price]
            .iter()
            .any(|n| *n != Need::None)
    });
    let (Some(_), Some(now)) = (takes, under_terms(map, ask)?) else {
        return Ok(Vec::new());
    };
    let mut levers = Vec::new();
    for term in Term::ALL {
        levers.extend(of_term(map, ask, &stated.sensitivity, term, &now)?);
    }
    if let Some(alpha) = stated.adjacency.alpha() {
        let instead = alpha / 2.0;
        if let Some(then) = tried(map, ask.clone().with_alpha(instead))? {
            levers.push(Lever {
                correction: None,
                cost: None,
                ..lever("α", alpha, instead, &now, &then)
            });
        }
    }
    // Laplace noise is inverse to ε, Gaussian noise nearly: this one is found by the law itself.
    let privacy = stated.privacy;
    let (epsilon, instead) = (privacy.epsilon(), 2.0 * privacy.epsilon());
    let scales = (
        privacy.law(now.bound),
        privacy.with_epsilon(instead).law(now.bound),
    );
    if let (Ok(before), Ok(after)) = scales {
        levers.push(Lever {
            what: "ε",
            now: epsilon,
            instead: Some(instead),
            noise: after.scale() / before.scale(),
            correction: None,
            cost: None,
        });
    }
    Ok(levers)
}

/// The better of half and twice the value; a number that is not stated is tried at a size of the program's own.
fn of_term(
    map: &dyn DataMap,
    ask: &Ask,
    stated: &Request,
    term: Term,
    now: &UnderTerms,
) -> Result<Option<Lever>> {
    let (value, values) = match stated.term(term) {
        Some(value) => (value, vec![2.0 * value, value / 2.0]),
        None if term == Term::Curvature => {
            let p = map.template().p();
            let diagonal = (0..p.columns()).map(|j| p.get(j, j)).filter(|p| *p > 0.0);
            (0.0, diagonal.reduce(f64::min).into_iter().collect())
        }
        None => return Ok(None),
    };
    let mut best: Option<(f64, UnderTerms)> = None;
    for other in values {
        let Ok(request) = stated.with_term(term, other) else {
            return Ok(None);
        };
        let Some(then) = tried(map, ask.clone().sensitivity(request))? else {
            continue;
        };
        if best.as_ref().is_none_or(|best| then.bound < best.1.bound) {
            best = Some((other, then));
        }
    }
    Ok(best.map(|(instead, then)| lever(term.word(), value, instead, now, &then)))
}

fn tried(map: &dyn DataMap, ask: Ask) -> Result<Option<UnderTerms>> {
    match under_terms(map, &ask) {
        Ok(found) => Ok(found),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(_) => Ok(None),
    }
}

fn lever(
    what: &'static str,
    now: f64,
    instead: f64,
    before: &UnderTerms,
    after: &UnderTerms,
) -> Lever {
    let noise = after.bound / before.bound;
    let both = |a: Option<f64>, b: Option<f64>| Some([a?, b?]);
    let matters = noise < 1.0 - NONE;
    Lever {
        what,
        now,
        instead: matters.then_some(instead),
        noise: if matters { noise } else { 1.0 },
        correction: both(before.correction, after.correction).filter(|_| matters),
        cost: both(before.cost, after.cost).filter(|_| matters),
    }
}

/// What a number does, in a few words.
fn meaning(what: &str) -> &'static str {
    match what {
        "width" => "a larger width lets the decision differ further from one for the data",
        "curvature" => "more curvature moves the decision away from its optimum",
        "price" => "a lower price lets it differ more often",
        "α" => "a smaller α protects smaller changes only",
        "ε" => "a larger ε protects less",
        _ => "",
    }
}

pub(super) fn write(levers: &[Lever], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if levers.is_empty() {
        return Ok(());
    }
    writeln!(
        f,
        "for less noise, change a public number (corrections and costs are those of public data, without noise):"
    )?;
    for lever in levers {
        let Some(instead) = lever.instead else {
            writeln!(
                f,
                "  {:<10} {:>9}             the noise does not depend on it",
                lever.what,
                short(lever.now, 4)
            )?;
            continue;
        };
        write!(
            f,
            "  {:<10} {:>9} to {:<9} noise × {:.3}: {}",
            lever.what,
            short(lever.now, 4),
            short(instead, 4),
            lever.noise,
            meaning(lever.what)
        )?;
        if let Some([now, then]) = lever.correction {
            write!(f, "; correction {} to {}", short(now, 4), short(then, 4))?;
        }
        if let Some([now, then]) = lever.cost {
            write!(f, "; cost {} to {}", short(now, 4), short(then, 4))?;
        }
        writeln!(f)?;
    }
    Ok(())
}
