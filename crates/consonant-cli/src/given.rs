//! Flags that come from a task's own settings: the library knows them, the program only shows and reads them.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use consonant::learn::settings::{Arity, Field};
use consonant::registry::{Given, fields};
use consonant::task::Settings;
use serde_json::{Map, Value};

use crate::context::Context;

/// The heading of what only those who study a method change.
const RESEARCH: &str = "Research";

/// A setting and its default.
pub type Setting = (&'static Field, Option<String>);

/// Adds a flag for each setting. The seed is a flag of every command.
pub fn augment(command: Command, settings: &[Setting]) -> Command {
    let settings = settings.iter().filter(|(field, _)| field.name != "seed");
    settings.fold(command, |command, (field, default)| {
        let is_on = field.arity == Arity::Switch && default.as_deref() == Some("on");
        let mut arg = Arg::new(field.name).long(field.flag()).help(help(field, default.as_deref()));
        arg = match field.arity {
            Arity::Switch if is_on => arg.value_name("on|off").value_parser(switch()),
            Arity::Switch => arg.action(ArgAction::SetTrue),
            // `[-]` in the name of a value says that it may begin with a dash.
            Arity::One if field.value.starts_with("[-]") => {
                arg.value_name(field.value).allow_hyphen_values(true)
            }
            Arity::One => arg.value_name(field.value).allow_negative_numbers(true),
            Arity::Many => arg.value_name(field.value).action(ArgAction::Append),
        };
        if field.flag() == "parameter" {
            arg = arg.short('P');
        }
        if field.research {
            arg = arg.hide_short_help(true).help_heading(RESEARCH);
        }
        let command = command.arg(arg);
        if !is_on {
            return command;
        }
        let off = Arg::new(off(field)).long(format!("no-{}", field.flag())).action(ArgAction::SetTrue);
        command.arg(off.hide(true).conflicts_with(field.name))
    })
}

fn switch() -> PossibleValuesParser {
    PossibleValuesParser::new(["on", "off", "true", "false"])
}

fn off(field: &Field) -> String {
    format!("no_{}", field.name)
}

/// The documentation of a field in one paragraph, with its default where it does not tell of it.
fn help(field: &Field, default: Option<&str>) -> String {
    let text = field.help.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.strip_suffix('.').unwrap_or(&text);
    match default.filter(|default| !default.is_empty() && *default != "off" && !text.contains("(default:")) {
        Some(default) => format!("{text} [default: {default}]"),
        None => text.to_owned(),
    }
}

/// The values of a settings file.
pub fn read_file(path: &Path, context: &Context) -> Result<Map<String, Value>> {
    let text = context.open_whole(path)?.into_text()?;
    toml::from_str(&text).with_context(|| format!("in {}", path.display()))
}

/// What was given, by the flags of these settings.
pub fn flags(matches: &ArgMatches, settings: &[Setting]) -> Given {
    let mut given = Given::default();
    for (field, default) in settings.iter().filter(|(field, _)| field.name != "seed") {
        let is_on = default.as_deref() == Some("on");
        let values = || matches.get_many::<String>(field.name).map(|values| values.cloned().collect());
        let texts: Option<Vec<String>> = match field.arity {
            Arity::Switch if is_on && matches.get_flag(&off(field)) => Some(vec!["off".to_owned()]),
            Arity::Switch if !is_on => matches.get_flag(field.name).then(Vec::new),
            _ => values(),
        };
        given.flags.extend(texts.map(|texts| (field.name.to_owned(), texts)));
    }
    given
}

/// A flag for a file.
pub fn file(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help).value_parser(value_parser!(PathBuf))
}

/// The flags of one settings struct, for commands that know which.
pub struct Flags<S>(Given, PhantomData<S>);

impl<S: Settings> Flags<S> {
    /// The settings that were given, checked.
    pub fn settings(&self) -> Result<S> {
        Ok(self.0.settings()?)
    }
}

impl<S: Settings> FromArgMatches for Flags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(flags(matches, &fields::<S>()), PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<S: Settings> Args for Flags<S> {
    fn augment_args(command: Command) -> Command {
        augment(command, &fields::<S>())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
