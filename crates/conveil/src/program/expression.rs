//! Affine expressions in variables and parameters: what the builder's arithmetic makes.

use std::ops::{Add, AddAssign, Mul, Neg, Range, Sub};

/// A block of variables of a [`Builder`](super::Builder).
#[derive(Clone, Debug)]
pub struct VariableHandle {
    pub(super) range: Range<usize>,
}

impl VariableHandle {
    /// Entry `i` as an expression; an entry that does not exist is refused when the program is built.
    pub fn at(&self, i: usize) -> Affine {
        let column = if i < self.range.len() {
            self.range.start + i
        } else {
            usize::MAX
        };
        Affine {
            terms: vec![(column, 1.0)],
            ..Affine::default()
        }
    }

    /// The sum of all entries.
    pub fn sum(&self) -> Affine {
        self.dot(&vec![1.0; self.range.len()])
    }

    /// Σ weightᵢ·entryᵢ; weights past the block are refused when the program is built.
    pub fn dot(&self, weights: &[f64]) -> Affine {
        (0..weights.len()).fold(Affine::default(), |sum, i| sum + weights[i] * self.at(i))
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether the block has no entries.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// All entries as expressions.
    pub fn entries(&self) -> Vec<Affine> {
        (0..self.len()).map(|i| self.at(i)).collect()
    }
}

/// A private parameter of a [`Builder`](super::Builder).
#[derive(Clone, Copy, Debug)]
pub struct ParameterHandle(pub(super) usize);

/// Σ aⱼxⱼ + Σ aₚθₚ + Σ aθₚxⱼ + constant.
#[derive(Clone, Debug, Default)]
pub struct Affine {
    pub(super) terms: Vec<(usize, f64)>,
    pub(super) parameters: Vec<(usize, f64)>,
    pub(super) products: Vec<(usize, usize, f64)>,
    pub(super) constant: f64,
}

impl Affine {
    /// A constant.
    pub fn constant(value: f64) -> Self {
        Affine {
            constant: value,
            ..Affine::default()
        }
    }

    fn scaled(mut self, factor: f64) -> Self {
        self.terms.iter_mut().for_each(|t| t.1 *= factor);
        self.parameters.iter_mut().for_each(|t| t.1 *= factor);
        self.products.iter_mut().for_each(|t| t.2 *= factor);
        self.constant *= factor;
        self
    }
}

impl From<f64> for Affine {
    fn from(value: f64) -> Self {
        Affine::constant(value)
    }
}

impl From<ParameterHandle> for Affine {
    fn from(parameter: ParameterHandle) -> Self {
        Affine {
            parameters: vec![(parameter.0, 1.0)],
            ..Affine::default()
        }
    }
}

impl<R: Into<Affine>> Add<R> for Affine {
    type Output = Affine;
    fn add(mut self, right: R) -> Affine {
        self += right.into();
        self
    }
}

impl AddAssign for Affine {
    fn add_assign(&mut self, right: Affine) {
        self.terms.extend(right.terms);
        self.parameters.extend(right.parameters);
        self.products.extend(right.products);
        self.constant += right.constant;
    }
}

impl<R: Into<Affine>> Sub<R> for Affine {
    type Output = Affine;
    fn sub(self, right: R) -> Affine {
        self + right.into().scaled(-1.0)
    }
}

impl Neg for Affine {
    type Output = Affine;
    fn neg(self) -> Affine {
        self.scaled(-1.0)
    }
}

impl Add<Affine> for f64 {
    type Output = Affine;
    fn add(self, right: Affine) -> Affine {
        Affine::constant(self) + right
    }
}

impl Sub<Affine> for f64 {
    type Output = Affine;
    fn sub(self, right: Affine) -> Affine {
        Affine::constant(self) - right
    }
}

impl<R: Into<Affine>> Add<R> for ParameterHandle {
    type Output = Affine;
    fn add(self, right: R) -> Affine {
        Affine::from(self) + right
    }
}

impl<R: Into<Affine>> Sub<R> for ParameterHandle {
    type Output = Affine;
    fn sub(self, right: R) -> Affine {
        Affine::from(self) - right
    }
}

impl Mul<Affine> for f64 {
    type Output = Affine;
    fn mul(self, right: Affine) -> Affine {
        right.scaled(self)
    }
}

impl Mul<ParameterHandle> for f64 {
    type Output = Affine;
    fn mul(self, right: ParameterHandle) -> Affine {
        Affine::from(right).scaled(self)
    }
}

/// θₚ times an expression without parameters; parameters inside are dropped into a product with an impossible
/// variable, which the builder refuses.
impl Mul<Affine> for ParameterHandle {
    type Output = Affine;
    fn mul(self, right: Affine) -> Affine {
        let mut product = Affine::default();
        // No constant, no term of the parameter alone: the builder would take it for a private constant.
        if right.constant != 0.0 {
            product.parameters.push((self.0, right.constant));
        }
        product
            .products
            .extend(right.terms.iter().map(|&(j, v)| (self.0, j, v)));
        if !right.parameters.is_empty() || !right.products.is_empty() {
            product.products.push((self.0, usize::MAX, 1.0));
        }
        product
    }
}

#[cfg(test)]
mod tests {
    use crate::program::{Builder, DataMap};

    #[test]
    fn a_parameter_times_a_variable_is_a_private_coefficient_and_nothing_else() {
        let mut m = Builder::new();
        let x = m.variable("x", 1);
        let (price, share) = (m.parameter("price"), m.parameter("share"));
        m.minimize(price * x.at(0));
        m.at_most("cap", share * (x.at(0) + 2.0), 6.0);
        m.at_most("own", share * x.at(0), 5.0);
        let program = m.build_map().unwrap().at(&[3.0, 0.5]).unwrap();
        assert_eq!(program.q(), &[3.0]);
        // 0.5·(x + 2) ≤ 6 and 0.5·x ≤ 5.
        assert_eq!((program.a().get(0, 0), program.a().get(1, 0)), (0.5, 0.5));
        assert_eq!(program.b(), &[5.0, 5.0]);
    }
}
