//! What must hold of a program's parts: dimensions, names, numbers, and a convex objective.

use super::{Cone, Holds, NO_BOUND, Program, definite, readable};
use crate::error::{Error, Result};
use conveil_text::spelling::quoted;
use std::collections::HashSet;

impl Program {
    pub(super) fn validate(&self, columns: usize, rows: usize) -> Result<()> {
        if columns == 0 {
            return Err(Error::input("the program has no variables"));
        }
        let dims = [
            ("q", self.q.len(), columns, "variables"),
            ("P, in rows,", self.p.rows(), columns, "variables"),
            ("P, in columns,", self.p.columns(), columns, "variables"),
            ("A, in columns,", self.a.columns(), columns, "variables"),
            ("b", self.b.len(), rows, "constraint rows"),
            ("A, in rows,", self.a.rows(), rows, "constraint rows"),
        ];
        for (what, found, right, of) in dims {
            if found != right {
                return Err(Error::input(format!(
                    "{what} has {found} entries, but there are {right} {of}"
                )));
            }
        }
        self.validate_names()?;
        self.validate_numbers()?;
        self.validate_curvature()
    }

    fn validate_names(&self) -> Result<()> {
        let mut seen = HashSet::new();
        for v in &self.variables {
            check_name("variable", &v.name)?;
            if !seen.insert(v.name.as_str()) {
                return Err(Error::input(format!(
                    "two variables are named `{}`",
                    v.name
                )));
            }
        }
        for v in &self.variables {
            if !v.entries.is_empty() && v.entries.len() != v.len {
                return Err(Error::input(format!(
                    "variable `{}` has {} entries, but {} names for them",
                    v.name,
                    v.len,
                    v.entries.len()
                )));
            }
            for entry in &v.entries {
                check_name("variable", entry)?;
                if !seen.insert(entry.as_str()) {
                    return Err(Error::input(format!(
                        "an entry of the variable `{}` is named `{entry}`, and so is another variable or entry",
                        v.name
                    )));
                }
            }
        }
        seen.clear();
        for c in &self.constraints {
            check_name("constraint", &c.name)?;
            if !seen.insert(c.name.as_str()) {
                return Err(Error::input(format!(
                    "two constraints are named `{}`",
                    c.name
                )));
            }
            for row in &c.rows {
                readable("row", row)?;
            }
            if !c.rows.is_empty() && c.rows.len() != c.cone.dim() {
                return Err(Error::input(format!(
                    "constraint `{}` has {} rows, but {} row names",
                    c.name,
                    c.cone.dim(),
                    c.rows.len()
                )));
            }
            if c.holds == Holds::AtTheMean && matches!(c.cone, Cone::Zero(_)) {
                return Err(Error::input(format!(
                    "constraint `{}` is an equality and cannot hold at the mean only",
                    c.name
                )));
            }
        }
        Ok(())
    }

    /// Checks every number: the part of validation that data can fail.
    pub(super) fn validate_numbers(&self) -> Result<()> {
        for (j, v) in self.q.iter().enumerate() {
            if !v.is_finite() {
                return Err(Error::input(format!(
                    "the cost of `{}` is {v}: it must be a finite number",
                    self.variable_name(j)
                )));
            }
        }
        for (i, v) in self.b.iter().enumerate() {
            if !v.is_finite() || v.abs() >= NO_BOUND {
                return Err(Error::input(format!(
                    "the right-hand side of `{}` is {}: it must be a finite number below 1e20 (leave the row out for no bound)",
                    self.row_name(i),
                    crate::digits::short(*v, 9)
                )));
            }
        }
        for (i, j, v) in self.a.entries() {
            if !v.is_finite() {
                return Err(Error::input(format!(
                    "the coefficient of `{}` in `{}` is {v}: it must be a finite number",
                    self.variable_name(j),
                    self.row_name(i)
                )));
            }
        }
        for (i, j, v) in self.p.entries() {
            let pair = || (self.variable_name(i), self.variable_name(j));
            if !v.is_finite() {
                let (x, y) = pair();
                return Err(Error::input(format!(
                    "P at (`{x}`, `{y}`) is {v}: it must be a finite number"
                )));
            }
            if i > j {
                let (x, y) = pair();
                return Err(Error::input(format!(
                    "P has an entry below the diagonal at (`{x}`, `{y}`): give the upper triangle only"
                )));
            }
        }
        Ok(())
    }

    /// P is positive semidefinite, which no change of other numbers can undo.
    pub(super) fn validate_curvature(&self) -> Result<()> {
        if let Some(direction) = definite::indefinite_part(&self.p) {
            let names: Vec<String> = direction
                .iter()
                .take(4)
                .map(|&j| format!("`{}`", self.variable_name(j)))
                .collect();
            return Err(Error::input(format!(
                "P is not positive semidefinite: the objective is not convex in {}",
                names.join(", ")
            )));
        }
        Ok(())
    }
}

fn check_name(what: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.contains(['[', ']']) {
        return Err(Error::input(format!(
            "{} cannot name a {what}: names are not empty and hold no brackets",
            quoted(name)
        )));
    }
    readable(what, name)
}
