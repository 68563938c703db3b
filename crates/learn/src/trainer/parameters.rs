use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::LearnError;

/// The name of something that can be set in a training algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter(&'static str);

impl Parameter {
    /// Whether the average of all weights on the way is returned.
    pub const AVERAGE: Self = Self("average");
    /// By how much the gold output must win for each wrong part of another.
    pub const MARGIN: Self = Self("margin");
    /// The kind of slack in passive-aggressive updates.
    pub const TYPE: Self = Self("type");
    /// Aggressiveness of passive-aggressive updates; the weight of the loss in Pegasos.
    pub const C: Self = Self("c");
    /// Whether to decode for score plus cost.
    pub const COST_AUGMENTED: Self = Self("cost-augmented");
    /// The margin is the cost to this power.
    pub const COST_POWER: Self = Self("cost-power");
    /// The variance of every weight at the start of AROW.
    pub const VARIANCE: Self = Self("variance");
    /// The trade-off between loss and change in AROW.
    pub const GAMMA: Self = Self("gamma");
    /// L1 regularization.
    pub const C1: Self = Self("c1");
    /// L2 regularization.
    pub const C2: Self = Self("c2");
    /// The learning rate at the start of SGD.
    pub const RATE: Self = Self("rate");
    /// Past steps that shape the direction of L-BFGS.
    pub const MEMORY: Self = Self("memory");
    /// The length of the gradient, against the weights, at which L-BFGS stops.
    pub const EPSILON: Self = Self("epsilon");
    /// Iterations over which L-BFGS measures its improvement.
    pub const PERIOD: Self = Self("period");
    /// The relative improvement below which L-BFGS stops.
    pub const DELTA: Self = Self("delta");

    /// A parameter of an algorithm that is defined elsewhere.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Describes the parameter for one algorithm: its default, the least and the largest value, and what it
    /// does.
    pub const fn info(self, default: f64, least: f64, most: f64, help: &'static str) -> ParameterInfo {
        ParameterInfo { parameter: self, default, least, most, help }
    }

    /// Its name on the command line and in model files.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// One parameter of a training algorithm, as `--algorithm list` prints it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParameterInfo {
    /// Which it is.
    pub parameter: Parameter,
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
pub(super) const AVERAGE: ParameterInfo =
    Parameter::AVERAGE.info(1.0, 0.0, 1.0, "1: averaged weights, 0: the last ones");

/// A training algorithm, as `--algorithm list` prints it.
#[derive(Debug, Clone, PartialEq)]
pub struct AlgorithmInfo {
    /// Its name on the command line and in model files.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// What can be set.
    pub parameters: Cow<'static, [ParameterInfo]>,
}

impl AlgorithmInfo {
    fn find(&self, name: &str) -> Result<&ParameterInfo, LearnError> {
        self.parameters.iter().find(|info| info.parameter.name() == name).ok_or_else(|| {
            let known: Vec<&str> = self.parameters.iter().map(|info| info.parameter.name()).collect();
            LearnError::UnknownParameter {
                algorithm: self.name.into(),
                name: name.into(),
                known: known.join(", "),
            }
        })
    }
}

impl fmt::Display for AlgorithmInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n    {}\n    [{}]", self.name, self.summary, self.citation)?;
        self.parameters.iter().try_for_each(|info| {
            writeln!(f, "    {} = {}  {}", info.parameter.name(), info.default, info.help)
        })
    }
}

/// A closed set of training algorithms: the methods here, or those that a crate builds from them.
pub trait TrainingAlgorithm: Copy + Eq + fmt::Debug + 'static {
    /// All of them, in the order in which they are listed.
    const ALL: &'static [Self];

    /// Name, summary, citation and parameters.
    fn info(self) -> AlgorithmInfo;

    /// The name on the command line and in model files.
    fn name(self) -> &'static str {
        self.info().name
    }

    /// The algorithm of this name.
    fn from_name(name: &str) -> Result<Self, LearnError> {
        let found = Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name);
        found.ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|algorithm| algorithm.name()).collect();
            LearnError::UnknownAlgorithm { name: name.into(), known: known.join(", ") }
        })
    }
}

/// A training algorithm with the parameters that were set; all others have their defaults.
///
/// It is written as two keys, `algorithm` with a name and `parameters` with pairs of name and value.
#[derive(Debug, Clone, PartialEq)]
pub struct Training<A> {
    algorithm: A,
    given: Vec<(Parameter, f64)>,
}

impl<A: TrainingAlgorithm> Training<A> {
    /// The algorithm with its defaults.
    pub fn new(algorithm: A) -> Self {
        Self { algorithm, given: Vec::new() }
    }

    /// Reads names, as they come from a command line or a file.
    pub fn from_names<S: AsRef<str>>(
        algorithm: &str,
        parameters: impl IntoIterator<Item = (S, f64)>,
    ) -> Result<Self, LearnError> {
        let mut training = Self::new(A::from_name(algorithm)?);
        let info = training.algorithm.info();
        for (name, value) in parameters {
            training.set(info.find(name.as_ref())?.parameter, value)?;
        }
        Ok(training)
    }

    /// The algorithm.
    pub fn algorithm(&self) -> A {
        self.algorithm
    }

    /// Whether the algorithm has this parameter.
    pub fn has(&self, parameter: Parameter) -> bool {
        self.algorithm.info().find(parameter.name()).is_ok()
    }

    /// Sets a parameter; one that the algorithm does not have, or a value out of range, is an error.
    pub fn set(&mut self, parameter: Parameter, value: f64) -> Result<(), LearnError> {
        let info = self.algorithm.info();
        let &ParameterInfo { least, most, .. } = info.find(parameter.name())?;
        if !(least..=most).contains(&value) {
            return Err(LearnError::BadParameter {
                algorithm: info.name.into(),
                name: parameter.name().into(),
                value,
                expected: format!("a value from {least} to {most}"),
            });
        }
        self.given.retain(|(other, _)| *other != parameter);
        self.given.push((parameter, value));
        Ok(())
    }

    /// As [`set`](Self::set), for a chain of calls.
    pub fn with(mut self, parameter: Parameter, value: f64) -> Result<Self, LearnError> {
        self.set(parameter, value)?;
        Ok(self)
    }

    /// Sets a parameter that the algorithm has and that was not set: a task's own default.
    pub fn or(self, parameter: Parameter, value: f64) -> Result<Self, LearnError> {
        match self.has(parameter) && self.given(parameter).is_none() {
            true => self.with(parameter, value),
            false => Ok(self),
        }
    }

    /// The value of a parameter that was set.
    pub fn given(&self, parameter: Parameter) -> Option<f64> {
        self.given.iter().find(|(other, _)| *other == parameter).map(|&(_, value)| value)
    }

    /// The parameters that were set.
    pub fn parameters(&self) -> &[(Parameter, f64)] {
        &self.given
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// If the algorithm declares no such parameter.
    pub fn get(&self, parameter: Parameter) -> f64 {
        self.given(parameter).unwrap_or_else(|| match self.algorithm.info().find(parameter.name()) {
            Ok(info) => info.default,
            Err(error) => panic!("{error}"),
        })
    }

    /// Whether a switch is on.
    pub fn is_on(&self, parameter: Parameter) -> bool {
        self.get(parameter) != 0.0
    }
}

impl<A: TrainingAlgorithm> From<A> for Training<A> {
    fn from(algorithm: A) -> Self {
        Self::new(algorithm)
    }
}

/// The algorithm's name and every parameter with its value.
impl<A: TrainingAlgorithm> fmt::Display for Training<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.algorithm.info();
        f.write_str(info.name)?;
        info.parameters.iter().try_for_each(|&ParameterInfo { parameter, .. }| {
            write!(f, " {}={}", parameter.name(), self.get(parameter))
        })
    }
}

/// [`Training`] as it is written.
#[derive(Serialize, Deserialize)]
struct Written<'a> {
    algorithm: Cow<'a, str>,
    #[serde(default)]
    parameters: Vec<(Cow<'a, str>, f64)>,
}

impl<A: TrainingAlgorithm> Serialize for Training<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parameters = self.given.iter().map(|&(parameter, value)| (parameter.name().into(), value));
        Written { algorithm: self.algorithm.name().into(), parameters: parameters.collect() }
            .serialize(serializer)
    }
}

impl<'de, A: TrainingAlgorithm> Deserialize<'de> for Training<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { algorithm, parameters } = Written::deserialize(deserializer)?;
        Self::from_names(&algorithm, parameters).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Method;
    use super::*;

    #[test]
    fn what_was_set_comes_back_from_json_beside_other_keys() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Settings {
            #[serde(flatten)]
            training: Training<Method>,
            epochs: usize,
        }
        let training = Training::new(Method::Pegasos).with(Parameter::C, 0.5).unwrap();
        let settings = Settings { training: training.or(Parameter::C, 2.0).unwrap(), epochs: 3 };
        let json = r#"{"algorithm":"pegasos","parameters":[["c",0.5]],"epochs":3}"#;
        assert_eq!(serde_json::to_string(&settings).unwrap(), json);
        assert_eq!(serde_json::from_str::<Settings>(json).unwrap(), settings);
        for (from, to) in [("pegasos", "magic"), ("\"c\"", "\"d\""), ("0.5", "-1")] {
            assert!(serde_json::from_str::<Settings>(&json.replace(from, to)).is_err(), "{to}");
        }
        assert_eq!(settings.training.to_string(), "pegasos c=0.5 average=1");
    }
}
