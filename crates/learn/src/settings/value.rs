//! The types that settings may have, and how they stand on a command line.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use super::Arity;

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

pub(super) fn single<'a>(given: &[&'a str]) -> Result<&'a str, String> {
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

/// A file that a training reads, such as templates or a gazetteer. A model stores its name without the
/// folder: the contents are in the model, and where they lay on one machine is nobody else's business.
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
        // Names of labels may have `=` in them, and so may paths: a number stands behind the last one, a path
        // behind the first.
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
