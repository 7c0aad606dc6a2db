//! What a classifier takes by default, from public numbers alone: the one place of the rules of docs/defaults.md.

use conveil::ask::{Privacy, Strategy};
use conveil::plan::Choice;
use conveil::program::Setting;

use super::{ClassifierBuilder, Loss};
use crate::words::significant_to;

/// λ of a spec of version 1 that states none.
pub(super) const LAMBDA_OF_VERSION_1: f64 = 1e-3;

/// The λ at which the noise is expected to be half as long as a hyperplane of length 1.
///
/// With p numbers in the hyperplane, features scaled to [−1, 1], and L the largest norm of a record, √p or the stated one,
/// the weights move by at most L/(λN) in the Euclidean norm when one of N records is replaced, and by √p times that in the
/// sum norm (M8d). So the expected length of the noise is about √(2p)·√p·L/(λNε) for Laplace noise, cut off or not, and
/// three quarters of √p·L·√(2 ln(1.25/δ))/(λNε) for Gaussian noise, which is calibrated more closely than by that formula.
pub fn lambda_by_rule(records: usize, numbers: usize, norm: Option<f64>, privacy: &Privacy) -> f64 {
    let p = numbers as f64;
    // √p·L, where L is the certificate's.
    let reach = norm.map_or(p, |norm| p.sqrt() * norm.min(p.sqrt()));
    let spread = match privacy {
        Privacy::Laplace { .. } | Privacy::TruncatedLaplace { .. } => (2.0 * p).sqrt(),
        Privacy::Gaussian { delta, .. } => 0.75 * (2.0 * (1.25 / delta).ln()).sqrt(),
    };
    2.0 * reach * spread / (records as f64 * privacy.epsilon())
}

/// The strategy of a classifier that leaves it open. Every hyperplane is admissible, so that nothing has to be kept feasible.
pub(super) fn strategy(loss: &Loss) -> Choice {
    Choice::new(
        Strategy::Output,
        match loss.trains_for_noise {
            true => "every hyperplane may be released, and where λ suits the noise, training for it does no better than noise on the trained weights".into(),
            false => format!("every hyperplane may be released, and {}", loss.why_not),
        },
    )
}

/// How a card says which λ the rule chose, and from what.
pub(super) fn setting(classifier: &ClassifierBuilder, privacy: &Privacy) -> Setting {
    let (lambda, records) = (classifier.lambda, classifier.records);
    let features = match classifier.features.len() {
        1 => "1 feature".into(),
        count => format!("{count} features"),
    };
    let norm = (classifier.norm).map_or(String::new(), |norm| format!(", norm {norm}"));
    let delta = match privacy.delta() {
        0.0 => String::new(),
        delta => format!(", δ = {delta}"),
    };
    Setting {
        name: "lambda".into(),
        value: lambda,
        text: format!(
            "λ = {}, by the rule for {records} records, {features}{norm}, ε = {}{delta}",
            significant_to(lambda, 3),
            privacy.epsilon()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Classifier, Feature};
    use super::*;

    /// By hand: 2·3·√6/600 and 1.5·3·√(2 ln 12500)/600.
    #[test]
    fn lambda_follows_from_records_numbers_and_privacy() {
        let laplace = lambda_by_rule(600, 3, None, &Privacy::laplace(1.0));
        assert!((laplace - 0.024_494_897_427_831_78).abs() < 1e-15);
        let gaussian = lambda_by_rule(600, 3, None, &Privacy::gaussian(1.0, 1e-4));
        assert!((gaussian - 0.032_577_092_279).abs() < 1e-12, "{gaussian}");
        // Twice the budget or twice the records need half of it.
        assert!(
            (lambda_by_rule(1_200, 3, None, &Privacy::laplace(1.0)) / laplace - 0.5).abs() < 1e-12
        );
        assert!(
            (lambda_by_rule(600, 3, None, &Privacy::laplace(2.0)) / laplace - 0.5).abs() < 1e-12
        );
        let classifier = || {
            let features = ["a", "b"].map(|name| Feature::within(name, 0.0, 1.0));
            Classifier::of(600, features.to_vec())
        };
        let privacy = Privacy::laplace(1.0);
        let said = setting(&classifier().lambda_by_rule(&privacy), &privacy).text;
        assert_eq!(
            said,
            "λ = 0.0245, by the rule for 600 records, 2 features, ε = 1"
        );
        // A norm of 1.5 in the place of √3: less noise, and less λ in proportion.
        let narrow = classifier().norm(1.5).lambda_by_rule(&privacy);
        assert!((narrow.lambda / laplace - 1.5 / 3f64.sqrt()).abs() < 1e-12);
        assert_eq!(
            setting(&narrow, &privacy).text,
            "λ = 0.0212, by the rule for 600 records, 2 features, norm 1.5, ε = 1"
        );
    }
}
