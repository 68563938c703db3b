//! Settings and names, made by macros.

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

/// Makes an enum whose variants have names: on the command line, in files and in messages. A name that older
/// files have stands behind a bar.
#[macro_export]
macro_rules! names {
    (
        $(#[$about:meta])*
        pub enum $names:ident {
            $($(#[$help:meta])+ $variant:ident = $name:literal $(| $older:literal)*,)+
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
                match name {
                    $($($older => Ok(Self::$variant),)*)+
                    _ => $crate::settings::find_name(Self::ALL, |known| known.name(), name),
                }
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
