//! The training algorithms by name: which diagram, which trainer, which parameters.

use std::fmt;

use consonant_learn::trainer::{Method, ParameterInfo, Parameters};

use crate::SequenceError;
use crate::diagram::{Decoding, Diagram, Nota};

/// A training algorithm for chains: an objective and the method that follows it.
#[derive(Debug)]
pub struct Algorithm {
    /// Its name on the command line.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    pub(crate) method: Method,
    pub(crate) objective: Objective,
    /// Parameters of the objective; those of the method come on top.
    own: &'static [ParameterInfo],
    /// Defaults of the method's parameters that differ here.
    defaults: &'static [(&'static str, f64)],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Objective {
    Likelihood,
    Memm,
    PseudoLikelihood,
    Bidirectional,
    Nota,
    PiecewisePseudoLikelihood,
    EarlyUpdate,
}

const fn parameter(
    name: &'static str,
    default: f64,
    least: f64,
    most: f64,
    help: &'static str,
) -> ParameterInfo {
    ParameterInfo { name, default, least, most, help }
}

const NODES: ParameterInfo = parameter(
    "all-nodes",
    1.0,
    0.0,
    1.0,
    "1: every label of a piece is predicted with its own features, 0: only the last label of a piece",
);

/// Every algorithm, in the order in which they are listed.
pub static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "likelihood",
        summary: "Conditional random field: maximum likelihood of whole sentences with L2 regularization, by L-BFGS.",
        citation: "Lafferty, McCallum & Pereira 2001, Conditional random fields, ICML; Nocedal 1980",
        method: Method::Lbfgs,
        objective: Objective::Likelihood,
        own: &[],
        defaults: &[],
    },
    Algorithm {
        name: "l1-likelihood",
        summary: "Conditional random field with L1 regularization, by OWL-QN: most weights become exactly zero.",
        citation: "Andrew & Gao 2007, Scalable training of L1-regularized log-linear models, ICML",
        method: Method::Lbfgs,
        objective: Objective::Likelihood,
        own: &[],
        defaults: &[("c1", 1.0), ("c2", 0.0)],
    },
    Algorithm {
        name: "sgd",
        summary: "Conditional random field by stochastic gradient descent with L2 regularization.",
        citation: "Bottou 2010; Vishwanathan, Schraudolph, Schmidt & Murphy 2006, Accelerated training of CRFs, ICML",
        method: Method::Sgd,
        objective: Objective::Likelihood,
        own: &[],
        defaults: &[],
    },
    Algorithm {
        name: "averaged-perceptron",
        summary: "Perceptron on whole sentences, decoded exactly, with averaged weights.",
        citation: "Collins 2002, Discriminative training methods for hidden Markov models, EMNLP",
        method: Method::AveragedPerceptron,
        objective: Objective::Likelihood,
        own: &[],
        defaults: &[],
    },
    Algorithm {
        name: "passive-aggressive",
        summary: "Passive-aggressive updates on whole sentences, decoded exactly.",
        citation: "Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, Online passive-aggressive algorithms, JMLR 7",
        method: Method::PassiveAggressive,
        objective: Objective::Likelihood,
        own: &[],
        defaults: &[],
    },
    Algorithm {
        name: "arow",
        summary: "Adaptive regularization of weights on whole sentences, decoded exactly.",
        citation: "Crammer, Kulesza & Dredze 2009, NIPS; Mejer & Crammer 2010, Confidence in structured prediction, EMNLP",
        method: Method::Arow,
        objective: Objective::Likelihood,
        own: &[],
        defaults: &[],
    },
    Algorithm {
        name: "pegasos",
        summary: "Structured support vector machine on whole sentences by stochastic subgradient.",
        citation: "Shalev-Shwartz, Singer, Srebro & Cotter 2011, Pegasos, Mathematical Programming 127",
        method: Method::Pegasos,
        objective: Objective::Likelihood,
        own: &[],
        defaults: &[],
    },
    Algorithm {
        name: "pseudo-likelihood",
        summary: "Each label given the gold labels around it, by L-BFGS; decoded globally.",
        citation: "Besag 1975, Statistical analysis of non-lattice data, The Statistician 24",
        method: Method::Lbfgs,
        objective: Objective::PseudoLikelihood,
        own: &[],
        defaults: &[],
    },
    Algorithm {
        name: "memm",
        summary: "Maximum entropy Markov model: each label given the one before, by L-BFGS; decoded with local normalization.",
        citation: "McCallum, Freitag & Pereira 2000, Maximum entropy Markov models, ICML",
        method: Method::Lbfgs,
        objective: Objective::Memm,
        own: &[],
        defaults: &[],
    },
    Algorithm {
        name: "bidirectional-cmm",
        summary: "Two conditional models, given the label before and given the label after, multiplied in decoding.",
        citation: "Kudo & Matsumoto 2001, Chunking with support vector machines, NAACL; as a diagram: McCallum & Sutton 2004",
        method: Method::Lbfgs,
        objective: Objective::Bidirectional,
        own: &[],
        defaults: &[],
    },
    Algorithm {
        name: "piecewise-nota",
        summary: "Piecewise training where wrong previous labels must predict none of the above.",
        citation: "McCallum & Sutton 2004, Piecewise training with parameter independence diagrams",
        method: Method::Lbfgs,
        objective: Objective::Nota,
        own: &[
            parameter(
                "negatives",
                2.0,
                0.0,
                2.0,
                "0: every wrong label, 1: random samples, 2: those above the threshold after some iterations",
            ),
            parameter("samples", 3.0, 1.0, 1e6, "wrong labels for each position, when sampled"),
            parameter(
                "threshold",
                0.2,
                0.0,
                1.0,
                "the least probability of a wrong label, when chosen by threshold",
            ),
            parameter("after", 20.0, 0.0, 1e6, "iterations before the choice by threshold"),
            parameter(
                "decode",
                0.0,
                0.0,
                2.0,
                "0: local normalization, 1: global with a learned scale for each previous label, 2: global",
            ),
        ],
        defaults: &[],
    },
    Algorithm {
        name: "piecewise-pseudo-likelihood",
        summary: "Pseudo-likelihood within each factor: each label of a piece given the others of the piece.",
        citation: "Sutton & McCallum 2007, Piecewise pseudolikelihood for efficient training of CRFs, ICML",
        method: Method::Lbfgs,
        objective: Objective::PiecewisePseudoLikelihood,
        own: &[NODES],
        defaults: &[],
    },
    Algorithm {
        name: "pseudo-perceptron",
        summary: "Averaged perceptron on single labels, given the gold labels around them: linear in the number of labels.",
        citation: "Ruokolainen, Silfverberg, Kurimo & Lindén 2014, Accelerated estimation of CRFs, EACL",
        method: Method::AveragedPerceptron,
        objective: Objective::PseudoLikelihood,
        own: &[],
        defaults: &[],
    },
    Algorithm {
        name: "piecewise-pseudo-perceptron",
        summary: "Averaged perceptron on single labels of each factor, given the gold labels of the factor: linear in the number of labels.",
        citation: "Ruokolainen, Silfverberg, Kurimo & Lindén 2014, Accelerated estimation of CRFs, EACL",
        method: Method::AveragedPerceptron,
        objective: Objective::PiecewisePseudoLikelihood,
        own: &[NODES],
        defaults: &[],
    },
    Algorithm {
        name: "beam-early-update",
        summary: "Averaged perceptron on prefixes: decoded by a beam, updated where the gold prefix leaves it.",
        citation: "Collins & Roark 2004, Incremental parsing with the perceptron algorithm, ACL; Huang, Fayong & Guo 2012, NAACL",
        method: Method::AveragedPerceptron,
        objective: Objective::EarlyUpdate,
        own: &[parameter("width", 1.0, 1.0, 1e6, "the width of the beam")],
        defaults: &[],
    },
];

/// The algorithm of this name.
pub fn algorithm(name: &str) -> Result<&'static Algorithm, SequenceError> {
    ALGORITHMS.iter().find(|algorithm| algorithm.name == name).ok_or_else(|| {
        SequenceError::UnknownAlgorithm {
            name: name.to_string(),
            known: ALGORITHMS.iter().map(|algorithm| algorithm.name).collect::<Vec<_>>().join(", "),
        }
    })
}

impl Algorithm {
    /// What can be set, with defaults.
    pub fn parameters(&self) -> Vec<ParameterInfo> {
        let changed =
            |name: &str| self.defaults.iter().find(|(other, _)| *other == name).map(|&(_, value)| value);
        let of_method = self.method.info().parameters.iter();
        let of_method = of_method
            .map(|info| ParameterInfo { default: changed(info.name).unwrap_or(info.default), ..*info });
        self.own.iter().copied().chain(of_method).collect()
    }

    /// Whether it follows a gradient: its epochs are then iterations over the whole data, and usually need to be more.
    pub fn is_batch(&self) -> bool {
        self.method == Method::Lbfgs
    }

    /// Checks given parameters; returns the values of the objective's own and those of the method.
    pub(crate) fn check(
        &self,
        given: &[(String, f64)],
    ) -> Result<(OwnParameters, Parameters), SequenceError> {
        let mut own: Vec<f64> = self.own.iter().map(|info| info.default).collect();
        let mut of_method: Vec<(&str, f64)> = self.defaults.to_vec();
        for (name, value) in given {
            let Some(at) = self.own.iter().position(|info| info.name == name) else {
                if !self.method.info().parameters.iter().any(|info| info.name == name) {
                    let known = self.parameters().iter().map(|info| info.name).collect::<Vec<_>>().join(", ");
                    let error = consonant_learn::LearnError::UnknownParameter {
                        algorithm: self.name.into(),
                        name: name.clone(),
                        known,
                    };
                    return Err(error.into());
                }
                of_method.push((name, *value));
                continue;
            };
            let ParameterInfo { least, most, .. } = self.own[at];
            if !(least..=most).contains(value) {
                let expected = format!("a value from {least} to {most}");
                let error = consonant_learn::LearnError::BadParameter {
                    algorithm: self.name.into(),
                    name: name.clone(),
                    value: *value,
                    expected,
                };
                return Err(error.into());
            }
            own[at] = *value;
        }
        Ok((OwnParameters { infos: self.own, values: own }, Parameters::new(self.method.info(), of_method)?))
    }

    /// The diagram that the algorithm trains, for chains of some order.
    pub fn diagram(&self, order: usize, given: &[(String, f64)]) -> Result<Diagram, SequenceError> {
        let (own, _) = self.check(given)?;
        Ok(match self.objective {
            Objective::Likelihood | Objective::EarlyUpdate => Diagram::likelihood(order),
            Objective::Memm => Diagram::memm(order),
            Objective::PseudoLikelihood => Diagram::pseudo_likelihood(order),
            Objective::Bidirectional => Diagram::bidirectional(order),
            Objective::PiecewisePseudoLikelihood => {
                Diagram::piecewise_pseudo_likelihood(order, own.get("all-nodes") != 0.0)
            }
            Objective::Nota => {
                let nota = match own.get("negatives").round() as usize {
                    0 => Nota::Exhaustive,
                    1 => Nota::Sampled(own.get("samples") as usize),
                    _ => Nota::Threshold {
                        probability: own.get("threshold"),
                        after: own.get("after") as usize,
                    },
                };
                let decoding = match own.get("decode").round() as usize {
                    0 => Decoding::Local,
                    1 => Decoding::Scaled,
                    _ => Decoding::Global,
                };
                Diagram::nota(nota, decoding)
            }
        })
    }
}

/// The checked parameters of an objective.
pub(crate) struct OwnParameters {
    infos: &'static [ParameterInfo],
    values: Vec<f64>,
}

impl OwnParameters {
    pub(crate) fn get(&self, name: &str) -> f64 {
        let at = self.infos.iter().position(|info| info.name == name);
        at.map_or(0.0, |at| self.values[at])
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n    {}\n    [{}]", self.name, self.summary, self.citation)?;
        self.parameters()
            .iter()
            .try_for_each(|info| writeln!(f, "    {} = {}  {}", info.name, info.default, info.help))
    }
}
