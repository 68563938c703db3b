//! Choices of the library by the names that it gives them.

use std::borrow::Cow;

use consonant::map::problem::Format;
use consonant::map::solver::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One of several things that have names.
#[derive(Debug, Clone, Copy)]
pub struct Choice<T>(pub T);

/// Things that have names.
pub trait Named: Copy + PartialEq + 'static {
    /// What the choice is called in the description of the API.
    const TITLE: &'static str;
    /// Each with its name.
    const NAMES: &'static [(&'static str, Self)];
}

impl Named for Method {
    const TITLE: &'static str = "Method";
    const NAMES: &'static [(&'static str, Self)] = &Self::NAMES;
}

impl Named for Format {
    const TITLE: &'static str = "ProblemFormat";
    const NAMES: &'static [(&'static str, Self)] = &Self::NAMES;
}

impl<T: Named> Serialize for Choice<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let found = T::NAMES.iter().find(|(_, value)| *value == self.0);
        serializer.serialize_str(found.map_or("", |(name, _)| name))
    }
}

impl<'de, T: Named> Deserialize<'de> for Choice<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Cow::<str>::deserialize(deserializer)?;
        let found = T::NAMES.iter().find(|(name, _)| *name == given);
        found.map(|&(_, value)| Choice(value)).ok_or_else(|| {
            let names: Vec<&str> = T::NAMES.iter().map(|&(name, _)| name).collect();
            serde::de::Error::custom(format!("`{given}` is none of {}", names.join(", ")))
        })
    }
}

impl<T: Named> JsonSchema for Choice<T> {
    fn schema_name() -> Cow<'static, str> {
        T::TITLE.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = T::NAMES.iter().map(|&(name, _)| name).collect();
        schemars::json_schema!({"type": "string", "enum": names})
    }
}
