//! Names that must differ.

use std::collections::HashSet;

use super::item::Item;
use crate::spelling::quoted;
use crate::{Located, ReadError};

/// Names that must differ from one another.
#[derive(Default)]
pub struct Names(HashSet<String>);

impl Names {
    /// The name that `item` holds, if it is a new one.
    pub fn add(&mut self, item: &Item) -> Result<Located<String>, ReadError> {
        let name = item.name()?;
        if self.0.insert(name.value.clone()) {
            Ok(name)
        } else {
            Err(item.error(format!("the name {} is taken", quoted(&name.value))))
        }
    }
}
