//! Basis functions φ: each depends on one feature, and knows its first and second derivative.

use conveil::program::Term;
use conveil::{Error, Result};

/// A group of basis functions of one feature.
#[derive(Clone, Debug, PartialEq)]
pub enum Basis {
    /// 1: the intercept.
    Constant,
    /// x itself.
    Linear {
        /// The feature.
        feature: String,
    },
    /// (x − centre), (x − centre)², … up to a degree: a function for each power.
    Polynomial {
        /// The feature.
        feature: String,
        /// The highest power, at least 1.
        degree: u32,
        /// Around this point.
        centre: f64,
    },
    /// scale·(x − centre)^degree: one power alone.
    Power {
        /// The feature.
        feature: String,
        /// The power, at least 1.
        degree: u32,
        /// Around this point.
        centre: f64,
        /// Times this number.
        scale: f64,
    },
    /// √(1 + ((x − μ)/width)²), a function for each centre μ: the paper's radial functions at width 1.
    Radial {
        /// The feature.
        feature: String,
        /// The centres.
        centres: Vec<f64>,
        /// The width.
        width: f64,
    },
}

/// The highest power: beyond, numbers lose all meaning.
const HIGHEST: u32 = 32;

impl Basis {
    /// x itself.
    pub fn linear(feature: &str) -> Self {
        Basis::Linear {
            feature: feature.into(),
        }
    }

    /// Powers of x up to a degree.
    pub fn polynomial(feature: &str, degree: u32) -> Self {
        Basis::Polynomial {
            feature: feature.into(),
            degree,
            centre: 0.0,
        }
    }

    /// The paper's radial functions: width 1.
    pub fn radial(feature: &str, centres: &[f64]) -> Self {
        Basis::Radial {
            feature: feature.into(),
            centres: centres.to_vec(),
            width: 1.0,
        }
    }

    /// The feature, unless constant.
    pub fn feature(&self) -> Option<&str> {
        match self {
            Basis::Constant => None,
            Basis::Linear { feature }
            | Basis::Polynomial { feature, .. }
            | Basis::Power { feature, .. }
            | Basis::Radial { feature, .. } => Some(feature),
        }
    }

    /// The functions of the group, the feature as the column `column`.
    pub(super) fn functions(&self, column: usize) -> Result<Vec<Function>> {
        let degree_of = |degree: u32| match degree {
            1..=HIGHEST => Ok(()),
            _ => Err(Error::Input(format!(
                "the degree of a basis function must lie between 1 and {HIGHEST}, found {degree}"
            ))),
        };
        let number = |what: &str, value: f64, is_right: bool| match is_right && value.is_finite() {
            true => Ok(()),
            false => Err(Error::Input(format!(
                "the {what} of a basis function must be finite{}, found {value}",
                match what {
                    "width" => " and positive",
                    "scale" => " and not 0",
                    _ => "",
                }
            ))),
        };
        let term = |form: Form| Function { column, form };
        Ok(match self {
            Basis::Constant => vec![term(Form::Constant)],
            Basis::Linear { .. } => vec![term(Form::Power {
                degree: 1,
                centre: 0.0,
                scale: 1.0,
            })],
            Basis::Polynomial { degree, centre, .. } => {
                degree_of(*degree)?;
                number("centre", *centre, true)?;
                let powers = (1..=*degree).map(|degree| {
                    term(Form::Power {
                        degree,
                        centre: *centre,
                        scale: 1.0,
                    })
                });
                powers.collect()
            }
            Basis::Power {
                degree,
                centre,
                scale,
                ..
            } => {
                degree_of(*degree)?;
                number("centre", *centre, true)?;
                number("scale", *scale, *scale != 0.0)?;
                vec![term(Form::Power {
                    degree: *degree,
                    centre: *centre,
                    scale: *scale,
                })]
            }
            Basis::Radial { centres, width, .. } => {
                if centres.is_empty() {
                    return Err(Error::Input(
                        "radial basis functions need at least one centre".into(),
                    ));
                }
                number("width", *width, *width > 0.0)?;
                centres
                    .iter()
                    .try_for_each(|c| number("centre", *c, true))?;
                let each = centres.iter().map(|&centre| {
                    term(Form::Radial {
                        centre,
                        width: *width,
                    })
                });
                each.collect()
            }
        })
    }
}

/// One basis function of one column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Function {
    /// The column of the feature; of a constant it means nothing.
    pub(super) column: usize,
    pub(super) form: Form,
}

/// The function of a single number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    Constant,
    Power {
        degree: u32,
        centre: f64,
        scale: f64,
    },
    Radial {
        centre: f64,
        width: f64,
    },
}

impl Form {
    /// φ(x).
    pub(super) fn value(self, x: f64) -> f64 {
        match self {
            Form::Constant => 1.0,
            Form::Power {
                degree,
                centre,
                scale,
            } => scale * (x - centre).powi(degree as i32),
            Form::Radial { centre, width } => ((x - centre) / width).hypot(1.0),
        }
    }

    /// φ'(x).
    pub(super) fn slope(self, x: f64) -> f64 {
        match self {
            Form::Constant => 0.0,
            Form::Power {
                degree,
                centre,
                scale,
            } => scale * f64::from(degree) * (x - centre).powi(degree as i32 - 1),
            Form::Radial { centre, width } => {
                let u = (x - centre) / width;
                u / (width * u.hypot(1.0))
            }
        }
    }

    /// φ''(x).
    pub(super) fn curvature(self, x: f64) -> f64 {
        match self {
            Form::Constant => 0.0,
            Form::Power { degree: 1, .. } => 0.0,
            Form::Power {
                degree,
                centre,
                scale,
            } => {
                let d = f64::from(degree);
                scale * d * (d - 1.0) * (x - centre).powi(degree as i32 - 2)
            }
            Form::Radial { centre, width } => {
                let u = (x - centre) / width;
                (width * width * u.hypot(1.0).powi(3)).recip()
            }
        }
    }

    /// What its weight is called.
    pub(super) fn name(self, feature: &str) -> String {
        match self {
            Form::Constant => "constant".into(),
            Form::Power {
                degree,
                centre,
                scale,
            } => {
                let argument = match centre {
                    0.0 => feature.to_string(),
                    c if c > 0.0 => format!("({feature} − {c})"),
                    c => format!("({feature} + {})", -c),
                };
                let power = match degree {
                    1 => argument,
                    d => format!("{argument}^{d}"),
                };
                match scale {
                    1.0 => power,
                    s => format!("{s}·{power}"),
                }
            }
            Form::Radial { centre, width: 1.0 } => format!("radial({feature}, {centre})"),
            Form::Radial { centre, width } => format!("radial({feature}, {centre}, {width})"),
        }
    }

    /// The function written out.
    fn formula(self, feature: &str) -> String {
        let Form::Radial { centre, width } = self else {
            return match self {
                Form::Constant => "1".into(),
                power => power.name(feature),
            };
        };
        let argument = Form::Power {
            degree: 1,
            centre,
            scale: 1.0,
        };
        match (width, argument.name(feature)) {
            (1.0, argument) => format!("√(1 + {argument}^2)"),
            (width, argument) => format!("√(1 + ({argument}/{width})^2)"),
        }
    }

    /// The function of this feature with everything it takes to evaluate it, for whoever has its weight.
    pub(super) fn term(self, weight: &str, feature: &str) -> Term {
        let (kind, numbers) = match self {
            Form::Constant => ("constant", vec![]),
            Form::Power {
                degree,
                centre,
                scale,
            } => (
                "power",
                vec![
                    ("degree", f64::from(degree)),
                    ("center", centre),
                    ("scale", scale),
                ],
            ),
            Form::Radial { centre, width } => {
                ("radial", vec![("center", centre), ("width", width)])
            }
        };
        Term {
            weight: weight.into(),
            kind,
            input: (self != Form::Constant).then(|| feature.into()),
            numbers: numbers.into_iter().collect(),
            formula: self.formula(feature),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_differences() {
        let forms = [
            Form::Constant,
            Form::Power {
                degree: 1,
                centre: 2.0,
                scale: 3.0,
            },
            Form::Power {
                degree: 3,
                centre: 5.0,
                scale: 0.5,
            },
            Form::Radial {
                centre: 7.0,
                width: 1.0,
            },
            Form::Radial {
                centre: -1.0,
                width: 2.5,
            },
        ];
        let h = 1e-4;
        for form in forms {
            for x in [-3.0, 0.0, 1.7, 5.0, 9.0] {
                let slope = (form.value(x + h) - form.value(x - h)) / (2.0 * h);
                assert!((form.slope(x) - slope).abs() < 1e-6, "{form:?} at {x}");
                let curvature = (form.slope(x + h) - form.slope(x - h)) / (2.0 * h);
                assert!(
                    (form.curvature(x) - curvature).abs() < 1e-6,
                    "{form:?} at {x}"
                );
            }
        }
    }

    #[test]
    fn the_paper_functions_have_the_slopes_of_its_formula() {
        // M14: the slopes of x and ½(x − 5)³ at 1 and at 9 are (1, 24).
        let cubic = Form::Power {
            degree: 3,
            centre: 5.0,
            scale: 0.5,
        };
        for u in [1.0, 9.0] {
            assert_eq!(cubic.slope(u), 24.0);
        }
    }
}
