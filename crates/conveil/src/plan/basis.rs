//! What a privacy claim rests on.

use super::auto::Considered;
use crate::ask::{Adjacency, Sampled};
use crate::certify::{Calibrated, Certificate, Declared};
use crate::digits::short;
use serde::Serialize;

/// The kinds of basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BasisKind {
    /// A theorem about the released map.
    Certificate,
    /// A bound that the user vouches for.
    Declared,
    /// Sampled pairs.
    Sampled,
    /// The paper's calibration, which claims nothing.
    #[serde(rename = "paper mode")]
    PaperMode,
}

impl BasisKind {
    /// certificate, declared, sampled or paper mode.
    pub fn name(self) -> &'static str {
        match self {
            BasisKind::Certificate => "certificate",
            BasisKind::Declared => "declared",
            BasisKind::Sampled => "sampled",
            BasisKind::PaperMode => "paper mode",
        }
    }
}

/// What a privacy claim rests on. Made only by the plan, from checked parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Basis {
    pub(super) kind: Kind,
    statement: String,
    /// The map has a value for every dataset: a sentence about mathematics, whatever a solver does.
    pub(super) defined_everywhere: bool,
    /// What is asked of a solve: a sentence about arithmetic, whatever the map is.
    pub(super) solves: Solves,
    /// What `auto` looked at, where it chose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    considered: Vec<Considered>,
}

/// What is asked of every solve before its answer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Solves {
    /// Nothing: no solve comes before the noise.
    NoneBeforeTheNoise,
    /// Residuals and gap are checked, and nothing is proven.
    Checked,
    /// Proven to lie within the public tolerance, over public bounds on every variable.
    Proven,
    /// The same, but some variable has no public bounds: a proof may be out of reach on some data, however good the
    /// arithmetic is.
    ProvenWhereBounded,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Certificate {
        name: String,
    },
    Declared,
    Sampled {
        gamma: f64,
        beta: f64,
        pairs: u64,
        seed: u64,
    },
    PaperMode,
}

impl Basis {
    pub(super) fn certificate(certificate: &dyn Certificate) -> Self {
        Basis {
            kind: Kind::Certificate {
                name: certificate.name().into(),
            },
            statement: certificate.statement(),
            defined_everywhere: certificate.defined_everywhere(),
            solves: match certificate.tolerance() {
                Some(_) => Solves::Proven,
                None => Solves::Checked,
            },
            considered: Vec::new(),
        }
    }

    /// A bound that holds by what neighbours are, on numbers that no solve comes before.
    pub(super) fn by_definition(name: &str, statement: String) -> Self {
        Basis {
            kind: Kind::Certificate { name: name.into() },
            statement,
            defined_everywhere: true,
            solves: Solves::NoneBeforeTheNoise,
            considered: Vec::new(),
        }
    }

    pub(super) fn declared(declared: &Declared) -> Self {
        Basis {
            kind: Kind::Declared,
            statement: declared.statement(),
            defined_everywhere: false,
            solves: Solves::Checked,
            considered: Vec::new(),
        }
    }

    pub(super) fn sampled(
        request: &Sampled,
        adjacency: &Adjacency,
        calibrated: &Calibrated,
    ) -> Self {
        Basis {
            defined_everywhere: false,
            solves: Solves::Checked,
            considered: Vec::new(),
            kind: Kind::Sampled {
                gamma: request.gamma,
                beta: request.beta,
                pairs: calibrated.pairs,
                seed: request.seed,
            },
            statement: format!(
                "holds for a share {} of adjacent pairs, with confidence {}: the released map was checked at this noise scale on {} fresh pairs (public seed {}); they are from {}; one member of a pair is drawn uniformly; {}; a pair chosen by an adversary may be among the rest",
                short(1.0 - request.gamma, 9),
                short(1.0 - request.beta, 9),
                calibrated.pairs,
                request.seed,
                request.universe,
                adjacency.second_member()
            ),
        }
    }

    pub(super) fn paper(calibrated_to: String) -> Self {
        Basis {
            defined_everywhere: false,
            solves: Solves::Checked,
            considered: Vec::new(),
            kind: Kind::PaperMode,
            statement: format!(
                "calibrated to {calibrated_to}, not to the map that is released; the real ε can be many times larger"
            ),
        }
    }

    /// Whether the released map has a value for every dataset: a theorem about the program, not about the solver.
    ///
    /// # Guarantee
    /// Where this holds the bound on the sensitivity holds along every path between two datasets, so a claim about
    /// neighbours gives one about datasets farther apart (M16). Each certificate says why it holds for its map. Test:
    /// `what_is_defined_everywhere_moves_by_m_times_the_bound_over_m_steps`.
    pub fn is_defined_everywhere(&self) -> bool {
        self.defined_everywhere
    }

    /// Whether every solve must be proven to lie within a public tolerance. One that is not makes no answer, whatever
    /// the map's value is; that this happens on no dataset is assumed.
    pub fn solves_are_proven(&self) -> bool {
        self.solves != Solves::Checked
    }

    pub(super) fn with_unbounded_variables(&mut self) {
        self.solves = Solves::ProvenWhereBounded;
    }

    /// This certificate was chosen among others, by public facts.
    pub(super) fn chosen_among(&mut self, considered: Vec<Considered>, why: &str) {
        self.statement = format!("{}; `auto` chose it: {why}", self.statement);
        self.considered = considered;
    }

    /// The certificates that `auto` looked at, with what they prove or why they do not apply; empty where one was named.
    pub fn considered(&self) -> &[Considered] {
        &self.considered
    }

    /// What an audit found, beside a claim that nothing supports.
    pub(super) fn audited(&mut self, found: &str) {
        self.statement = format!("{}; {found}", self.statement);
    }

    /// What kind of basis it is.
    pub fn kind(&self) -> BasisKind {
        match self.kind {
            Kind::Certificate { .. } => BasisKind::Certificate,
            Kind::Declared => BasisKind::Declared,
            Kind::Sampled { .. } => BasisKind::Sampled,
            Kind::PaperMode => BasisKind::PaperMode,
        }
    }

    /// certificate, declared, sampled or paper mode.
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// Whether a release on this basis may be called private.
    pub fn is_private(&self) -> bool {
        !matches!(self.kind, Kind::PaperMode)
    }

    /// The claim and its assumptions.
    pub fn statement(&self) -> &str {
        &self.statement
    }

    /// γ: the share of pairs for which a sampled claim may fail.
    pub fn gamma(&self) -> Option<f64> {
        match self.kind {
            Kind::Sampled { gamma, .. } => Some(gamma),
            _ => None,
        }
    }

    /// β: the risk that a sampled claim is wrong.
    pub fn beta(&self) -> Option<f64> {
        match self.kind {
            Kind::Sampled { beta, .. } => Some(beta),
            _ => None,
        }
    }

    /// What is claimed, by the name that the field has for it.
    pub fn notion(&self) -> &'static str {
        match self.kind {
            Kind::Certificate { .. } | Kind::Declared => "differential privacy",
            Kind::Sampled { .. } => "random differential privacy",
            Kind::PaperMode => "none",
        }
    }
}
