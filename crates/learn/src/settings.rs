//! Settings: one struct that is the Rust API, the flags of a command line and what a model file stores.
//!
//! [`settings!`](crate::settings!) makes such a struct. Each field has its documentation (which is also the help), its default, how help
//! names its value and, where numbers have limits, their range. Fields for who studies the method rather than uses it are
//! marked `research`. [`names!`](crate::names!) makes the enums that stand in them.
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

use std::fmt::{self, Debug, Display};
use std::ops::{Bound, RangeBounds};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::trainer::{Training, TrainingAlgorithm};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

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
pub const ALGORITHM: Field = Field {
    name: "algorithm",
    flag: None,
    value: "NAME",
    help: "The training algorithm, or `list` to see all with their parameters.",
    arity: Arity::One,
    research: false,
};

/// The flag of its parameters.
#[doc(hidden)]
pub const PARAMETERS: Field = Field {
    name: "parameters",
    flag: Some("parameter"),
    value: "NAME=VALUE",
    help: "A parameter of the algorithm.",
    arity: Arity::Many,
    research: false,
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

/// The type of a setting.
pub trait SettingValue: Sized {
    /// How many values its flag takes, given its default.
    const ARITY: Arity = Arity::One;

    /// Reads what stands on a command line.
    fn read(given: &[&str]) -> Result<Self, String>;

    /// What would stand on a command line; `None` where nothing would.
    fn show(&self) -> Option<String>;

    /// The numbers in it, to be compared with the setting's range.
    fn numbers(&self, each: &mut dyn FnMut(f64)) {
        let _ = each;
    }
}

macro_rules! numbers {
    ($($kind:ty: $expected:literal),*) => {$(
        impl SettingValue for $kind {
            fn read(given: &[&str]) -> Result<Self, String> {
                parse(given, $expected)
            }

            fn show(&self) -> Option<String> {
                Some(self.to_string())
            }

            fn numbers(&self, each: &mut dyn FnMut(f64)) {
                each(*self as f64);
            }
        }
    )*};
}

numbers!(
    u8: "a whole number", u16: "a whole number", u32: "a whole number", u64: "a whole number",
    usize: "a whole number", f32: "a number", f64: "a number"
);

fn parse<T: FromStr>(given: &[&str], expected: &str) -> Result<T, String> {
    let text = single(given)?;
    text.parse().map_err(|_| format!("expected {expected}, not `{text}`"))
}

fn single<'a>(given: &[&'a str]) -> Result<&'a str, String> {
    match given {
        [one] => Ok(one),
        _ => Err(format!("expected one value, not {}", given.len())),
    }
}

impl SettingValue for bool {
    const ARITY: Arity = Arity::Switch;

    fn read(given: &[&str]) -> Result<Self, String> {
        match given {
            [] | ["on" | "true"] => Ok(true),
            ["off" | "false"] => Ok(false),
            _ => Err("expected on or off".to_owned()),
        }
    }

    fn show(&self) -> Option<String> {
        Some(if *self { "on" } else { "off" }.to_owned())
    }
}

impl SettingValue for String {
    fn read(given: &[&str]) -> Result<Self, String> {
        single(given).map(str::to_owned)
    }

    fn show(&self) -> Option<String> {
        Some(self.clone())
    }
}

/// A file that a training reads, such as templates or a gazetteer. A model stores its name without the folder: the
/// contents are in the model, and where they lay on one machine is nobody else's business.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(transparent)]
pub struct InputFile(pub PathBuf);

impl InputFile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl<P: Into<PathBuf>> From<P> for InputFile {
    fn from(path: P) -> Self {
        Self(path.into())
    }
}

impl Serialize for InputFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.file_name().unwrap_or_default().to_string_lossy())
    }
}

impl SettingValue for InputFile {
    fn read(given: &[&str]) -> Result<Self, String> {
        single(given).map(Self::from)
    }

    fn show(&self) -> Option<String> {
        Some(self.0.display().to_string())
    }
}

/// `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named<T>(pub String, pub T);

impl<T: SettingValue> SettingValue for Named<T> {
    fn read(given: &[&str]) -> Result<Self, String> {
        // Names of labels may have `=` in them, and so may paths: a number stands behind the last one, a path behind the first.
        let text = single(given)?;
        let halves = [text.rsplit_once('='), text.split_once('=')].into_iter().flatten();
        let mut error = format!("expected NAME=VALUE, not `{text}`");
        for (name, value) in halves.filter(|(name, value)| !name.is_empty() && !value.is_empty()) {
            match T::read(&[value]) {
                Ok(value) => return Ok(Self(name.to_owned(), value)),
                Err(wrong) => error = wrong,
            }
        }
        Err(error)
    }

    fn show(&self) -> Option<String> {
        Some(format!("{}={}", self.0, self.1.show().unwrap_or_default()))
    }

    fn numbers(&self, each: &mut dyn FnMut(f64)) {
        self.1.numbers(each);
    }
}

impl<T: SettingValue> SettingValue for Option<T> {
    fn read(given: &[&str]) -> Result<Self, String> {
        T::read(given).map(Some)
    }

    fn show(&self) -> Option<String> {
        self.as_ref().and_then(T::show)
    }

    fn numbers(&self, each: &mut dyn FnMut(f64)) {
        self.iter().for_each(|value| value.numbers(each));
    }
}

impl<T: SettingValue> SettingValue for Vec<T> {
    const ARITY: Arity = Arity::Many;

    fn read(given: &[&str]) -> Result<Self, String> {
        given.iter().map(|text| T::read(&[text])).collect()
    }

    fn show(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.iter().filter_map(T::show).collect::<Vec<_>>().join(","))
    }

    fn numbers(&self, each: &mut dyn FnMut(f64)) {
        self.iter().for_each(|value| value.numbers(each));
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

/// Makes a struct of settings; see [the module](mod@crate::settings).
#[macro_export]
macro_rules! settings {
    (
        $(#[doc = $about:expr])*
        pub struct $settings:ident {
            $(algorithm $training:ident: $algorithm:ty = $first:expr;)?
            $(
                $(#[doc = $help:expr])+
                $name:ident: $kind:ty = $default:expr, $value:literal
                    $(as $flag:literal)? $(in $range:expr)? $(, $research:ident)?;
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, $crate::settings::serde::Serialize, $crate::settings::serde::Deserialize)]
        #[serde(crate = "consonant_learn::settings::serde", default)]
        #[non_exhaustive]
        pub struct $settings {
            $(
                /// The training algorithm and its parameters.
                #[serde(flatten)]
                pub $training: $algorithm,
            )?
            $($(#[doc = $help])+ pub $name: $kind,)*
        }

        impl Default for $settings {
            fn default() -> Self {
                Self { $($training: $first.into(),)? $($name: $default,)* }
            }
        }

        impl $settings {
            /// The defaults.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            $(
                /// The training algorithm and its parameters.
                #[must_use]
                pub fn $training(mut self, $training: impl Into<$algorithm>) -> Self {
                    self.$training = $training.into();
                    self
                }
            )?

            $(
                $(#[doc = $help])+
                #[must_use]
                pub fn $name(mut self, $name: impl Into<$kind>) -> Self {
                    self.$name = $name.into();
                    self
                }
            )*
        }

        impl $crate::settings::Settings for $settings {
            const FIELDS: &'static [$crate::settings::Field] = &[
                $($crate::settings!(@algorithm $training), $crate::settings::PARAMETERS,)?
                $(
                $crate::settings::Field::new(
                    stringify!($name),
                    $crate::settings!(@flag $($flag)?),
                    $value,
                    concat!($($help),+),
                    <$kind as $crate::settings::SettingValue>::ARITY,
                    $crate::settings!(@research $($research)?),
                ),
                )*
            ];

            fn set(&mut self, name: &str, given: &[&str]) -> Result<(), $crate::settings::Usage> {
                let _ = given;
                match name {
                    $(
                        "algorithm" | "parameters" => {
                            self.$training = $crate::settings::set_training(&self.$training, name, given)?;
                            Ok(())
                        }
                    )?
                    $(stringify!($name) => {
                        self.$name = $crate::settings::read_value(Self::FIELDS, name, given)?;
                        Ok(())
                    })*
                    _ => Err($crate::settings::Usage(format!("there is no setting `{name}`"))),
                }
            }

            fn shown(&self, name: &str) -> Option<String> {
                match name {
                    $(
                        "algorithm" => Some($crate::settings::algorithm_name(&self.$training)),
                        "parameters" => None,
                    )?
                    $(stringify!($name) => $crate::settings::SettingValue::show(&self.$name),)*
                    _ => None,
                }
            }

            fn check(&self) -> Result<(), $crate::settings::Usage> {
                $($($crate::settings::check_range(Self::FIELDS, stringify!($name), &self.$name, $range)?;)?)*
                Ok(())
            }
        }
    };
    (@algorithm $training:ident) => { $crate::settings::ALGORITHM };
    (@flag) => { None };
    (@flag $flag:literal) => { Some($flag) };
    (@research) => { false };
    (@research research) => { true };
}

/// Makes an enum whose variants have names: on the command line, in files and in messages.
#[macro_export]
macro_rules! names {
    (
        $(#[$about:meta])*
        pub enum $names:ident {
            $($(#[$help:meta])+ $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $names {
            $($(#[$help])+ $variant,)+
        }

        impl $names {
            /// All of them, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $names {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $names {
            type Err = $crate::settings::Usage;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                $crate::settings::find_name(Self::ALL, |known| known.name(), name)
            }
        }

        impl $crate::settings::SettingValue for $names {
            fn read(given: &[&str]) -> Result<Self, String> {
                <String as $crate::settings::SettingValue>::read(given)?
                    .parse()
                    .map_err(|error: $crate::settings::Usage| error.0)
            }

            fn show(&self) -> Option<String> {
                Some(self.name().to_owned())
            }
        }

        impl $crate::settings::serde::Serialize for $names {
            fn serialize<S: $crate::settings::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> $crate::settings::serde::Deserialize<'de> for $names {
            fn deserialize<D: $crate::settings::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <String as $crate::settings::serde::Deserialize>::deserialize(deserializer)?;
                name.parse().map_err($crate::settings::serde::de::Error::custom)
            }
        }
    };
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
