//! Settings: one struct that is the Rust API, the flags of a command line and what a model file stores.
//!
//! [`settings!`](crate::settings!) makes such a struct. Each field has its documentation (which is also the
//! help), its default, how help names its value and, where numbers have limits, their range. Fields for who
//! studies the method rather than uses it are marked `research`. [`names!`](crate::names!) makes the enums
//! that stand in them.
//!
//! ```
//! use consonant_learn::settings::Settings;
//!
//! consonant_learn::names! {
//!     /// How a text is shouted.
//!     pub enum Voice {
//!         /// In capitals.
//!         Loud = "loud",
//!         /// As it is.
//!         Plain = "plain",
//!     }
//! }
//!
//! consonant_learn::settings! {
//!     /// How to shout.
//!     pub struct ShoutSettings {
//!         /// The voice.
//!         voice: Voice = Voice::Plain, "loud|plain";
//!         /// How often it is shouted.
//!         times: u32 = 1, "N" in 1.0..=9.0, research;
//!     }
//! }
//!
//! let mut settings = ShoutSettings::new().voice(Voice::Loud);
//! settings.set("times", &["3"])?;
//! assert_eq!((settings.voice, settings.times), (Voice::Loud, 3));
//! assert!(ShoutSettings::new().times(10_u32).check().is_err());
//! assert_eq!(serde_json::to_string(&settings)?, r#"{"voice":"loud","times":3}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod macros;
mod value;

use std::fmt::{self, Debug, Display};
use std::ops::{Bound, RangeBounds};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use self::value::single;
pub use self::value::{InputFile, Named, SettingValue};
use crate::trainer::{Training, TrainingAlgorithm};

/// Wrong usage: what was asked for cannot be, whatever the data are. A program exits with 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage(pub String);

impl Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// How many values a flag takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// None: the flag alone switches something on. What is on unless it is switched off takes `on` or `off`.
    Switch,
    /// One.
    One,
    /// One each time, as often as wanted.
    Many,
}

/// One setting, as help shows it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Field {
    /// Its name in Rust, in settings files and in model files; with dashes, the flag.
    pub name: &'static str,
    /// The flag, where it differs from the name.
    pub flag: Option<&'static str>,
    /// How help names its value.
    pub value: &'static str,
    /// What it does.
    pub help: &'static str,
    /// How many values it takes.
    pub arity: Arity,
    /// Whether it is for those who study the method.
    pub research: bool,
}

impl Field {
    /// For [`settings!`](crate::settings!).
    #[doc(hidden)]
    pub const fn new(
        name: &'static str,
        flag: Option<&'static str>,
        value: &'static str,
        help: &'static str,
        arity: Arity,
        research: bool,
    ) -> Self {
        Self { name, flag, value, help, arity, research }
    }

    /// The flag without its dashes in front: `min-count`.
    pub fn flag(&self) -> String {
        self.flag.map_or_else(|| self.name.replace('_', "-"), str::to_owned)
    }
}

/// The flag of a training algorithm.
#[doc(hidden)]
pub const ALGORITHM: Field = {
    let help = "The training algorithm, or `list` to see all with their parameters.";
    Field::new("algorithm", None, "NAME", help, Arity::One, false)
};

/// The flag of its parameters.
#[doc(hidden)]
pub const PARAMETERS: Field = {
    let help = "A parameter of the algorithm.";
    Field::new("parameters", Some("parameter"), "NAME=VALUE", help, Arity::Many, false)
};

/// The name of an algorithm.
#[doc(hidden)]
pub fn algorithm_name<A: TrainingAlgorithm>(training: &Training<A>) -> String {
    training.algorithm().name().to_owned()
}

/// Sets an algorithm by name, or parameters of the one that is set.
#[doc(hidden)]
pub fn set_training<A: TrainingAlgorithm>(
    training: &Training<A>,
    name: &str,
    given: &[&str],
) -> Result<Training<A>, Usage> {
    let (algorithm, mut parameters) = match name {
        "algorithm" => (single(given).map_err(|error| wrong(&[], name, error))?, Vec::new()),
        _ => {
            let set =
                training.parameters().iter().map(|&(parameter, value)| (parameter.name().to_owned(), value));
            (training.algorithm().name(), set.collect())
        }
    };
    if name == "parameters" {
        for Named(name, value) in read_value::<Vec<Named<f64>>>(&[PARAMETERS], name, given)? {
            parameters.push((name, value));
        }
    }
    Training::from_names(algorithm, parameters).map_err(|error| Usage(error.to_string()))
}

/// Reads the value of a flag.
#[doc(hidden)]
pub fn read_value<T: SettingValue>(fields: &[Field], name: &str, given: &[&str]) -> Result<T, Usage> {
    T::read(given).map_err(|error| wrong(fields, name, error))
}

fn wrong(fields: &[Field], name: &str, error: String) -> Usage {
    Usage(format!("--{}: {error}", flag_of(fields, name)))
}

/// A struct made by [`settings!`](crate::settings!).
pub trait Settings: Default + Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// What can be set, in order.
    const FIELDS: &'static [Field];

    /// Sets a field to what a command line gives for it.
    fn set(&mut self, name: &str, given: &[&str]) -> Result<(), Usage>;

    /// A field's value as a command line would give it; `None` if the field is empty.
    fn shown(&self, name: &str) -> Option<String>;

    /// Whether all numbers are within their ranges; called once, before use.
    fn check(&self) -> Result<(), Usage>;

    /// The settings among a model's metadata; what an older version did not store has its default.
    fn stored(metadata: &Value) -> Result<Self, Usage> {
        let stored = metadata.as_object().into_iter().flatten();
        let known = stored.filter(|(key, _)| Self::FIELDS.iter().any(|field| field.name == key.as_str()));
        Self::default().overlaid(known.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    /// The same settings but for the values of an object, as a settings file or another language gives them.
    fn overlaid(&self, values: Map<String, Value>) -> Result<Self, Usage> {
        let mut object = match serde_json::to_value(self) {
            Ok(Value::Object(object)) => object,
            _ => Map::new(),
        };
        for (key, value) in values {
            let name = key.replace('-', "_");
            let field = Self::FIELDS.iter().find(|field| field.name == name || field.flag() == key);
            let Some(field) = field else {
                let known: Vec<&str> = Self::FIELDS.iter().map(|field| field.name).collect();
                return Err(Usage(format!(
                    "there is no setting `{key}`; the settings are {}",
                    known.join(", ")
                )));
            };
            // Pairs of name and value may also be written as a table.
            let value = match value {
                Value::Object(table) => table.into_iter().map(|(name, value)| json!([name, value])).collect(),
                value => value,
            };
            object.insert(field.name.to_owned(), value);
            if field.name == ALGORITHM.name {
                object.remove(PARAMETERS.name);
            }
        }
        let wrong = |error: serde_json::Error| Usage(format!("settings: {error}"));
        serde_json::from_value(Value::Object(object)).map_err(wrong)
    }
}

/// The flag of the field of this name, without its dashes in front.
fn flag_of(fields: &[Field], name: &str) -> String {
    fields.iter().find(|field| field.name == name).map_or_else(|| name.to_owned(), Field::flag)
}

/// Compares the numbers of a setting with its range.
#[doc(hidden)]
pub fn check_range(
    fields: &[Field],
    name: &str,
    value: &impl SettingValue,
    range: impl RangeBounds<f64>,
) -> Result<(), Usage> {
    let mut outside = None;
    value.numbers(&mut |number| {
        // Infinity is a number only where the range ends with it.
        let is_end = matches!(range.end_bound(), Bound::Included(&end) if end == number);
        if !(number.is_finite() || is_end) || !range.contains(&number) {
            outside = Some(number);
        }
    });
    let Some(number) = outside else { return Ok(()) };
    let limits = match (range.start_bound(), range.end_bound()) {
        (Bound::Included(least), Bound::Included(most)) => format!("from {least} to {most}"),
        (Bound::Included(least), _) => format!("from {least} on"),
        (Bound::Excluded(least), _) => format!("above {least}"),
        _ => "that is finite".to_owned(),
    };
    Err(Usage(format!("--{} wants a number {limits}, not {number}", flag_of(fields, name))))
}

/// Looks a name up, or lists those that there are.
#[doc(hidden)]
pub fn find_name<T: Copy>(all: &[T], name_of: impl Fn(T) -> &'static str, name: &str) -> Result<T, Usage> {
    all.iter().copied().find(|&known| name_of(known) == name).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|&known| name_of(known)).collect();
        Usage(format!("expected {}, not `{name}`", known.join(", ")))
    })
}

#[doc(hidden)]
pub use serde;
