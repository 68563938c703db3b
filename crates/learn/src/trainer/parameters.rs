use std::fmt;

use crate::LearnError;

/// One parameter of a training method, as `--algorithm list` prints it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParameterInfo {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its value when none is given.
    pub default: f64,
    /// The smallest value allowed.
    pub least: f64,
    /// The largest value allowed.
    pub most: f64,
    /// What it does.
    pub help: &'static str,
}

/// Whether an online method gives the average of all weights on the way.
pub(super) const AVERAGE: ParameterInfo = ParameterInfo {
    name: "average",
    default: 1.0,
    least: 0.0,
    most: 1.0,
    help: "1: averaged weights, 0: the last ones",
};

/// A training method or objective, as `--algorithm list` prints it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlgorithmInfo {
    /// Its name on the command line.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// What can be set.
    pub parameters: &'static [ParameterInfo],
}

impl fmt::Display for AlgorithmInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n    {}\n    [{}]", self.name, self.summary, self.citation)?;
        self.parameters.iter().try_for_each(|p| writeln!(f, "    {} = {}  {}", p.name, p.default, p.help))
    }
}

/// The checked parameters of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    info: &'static AlgorithmInfo,
    values: Vec<f64>,
}

impl Parameters {
    /// The defaults.
    pub fn defaults(info: &'static AlgorithmInfo) -> Self {
        Self { info, values: info.parameters.iter().map(|parameter| parameter.default).collect() }
    }

    /// The defaults with some values replaced; unknown names and values out of range are errors.
    pub fn new<'a>(
        info: &'static AlgorithmInfo,
        given: impl IntoIterator<Item = (&'a str, f64)>,
    ) -> Result<Self, LearnError> {
        let mut parameters = Self::defaults(info);
        for (name, value) in given {
            let Some(at) = info.parameters.iter().position(|parameter| parameter.name == name) else {
                let known =
                    info.parameters.iter().map(|parameter| parameter.name).collect::<Vec<_>>().join(", ");
                return Err(LearnError::UnknownParameter {
                    algorithm: info.name.into(),
                    name: name.into(),
                    known,
                });
            };
            let ParameterInfo { least, most, .. } = info.parameters[at];
            if !(least..=most).contains(&value) {
                let expected = format!("a value from {least} to {most}");
                return Err(LearnError::BadParameter {
                    algorithm: info.name.into(),
                    name: name.into(),
                    value,
                    expected,
                });
            }
            parameters.values[at] = value;
        }
        Ok(parameters)
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// If the algorithm declares no parameter of this name.
    pub fn get(&self, name: &str) -> f64 {
        let at = self.info.parameters.iter().position(|parameter| parameter.name == name);
        self.values[at.unwrap_or_else(|| panic!("`{}` declares no parameter `{name}`", self.info.name))]
    }

    /// Whether a switch is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name) != 0.0
    }

    /// The algorithm these belong to.
    pub fn info(&self) -> &'static AlgorithmInfo {
        self.info
    }

    /// Names and values, for metadata.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.info.parameters.iter().map(|parameter| parameter.name).zip(self.values.iter().copied())
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info.name)?;
        self.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}
