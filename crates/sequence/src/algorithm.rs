//! The training algorithms by name: which diagram, which trainer, which parameters.

use consonant_learn::trainer::{self, AlgorithmInfo, Method, Parameter, ParameterInfo, TrainingAlgorithm};

use crate::SequenceError;
use crate::diagram::{Decoding, Diagram, Nota};

/// An algorithm for chains with its parameters.
pub type Training = trainer::Training<Algorithm>;

/// What an algorithm consists of.
struct Record {
    name: &'static str,
    summary: &'static str,
    citation: &'static str,
    method: Method,
    objective: Objective,
    /// Parameters of the objective; those of the method come on top.
    own: &'static [ParameterInfo],
    /// Defaults of the method's parameters that differ here.
    defaults: &'static [(Parameter, f64)],
}

impl Record {
    const fn new(
        name: &'static str,
        summary: &'static str,
        citation: &'static str,
        method: Method,
        objective: Objective,
    ) -> Self {
        Self { name, summary, citation, method, objective, own: &[], defaults: &[] }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Objective {
    Likelihood,
    Memm,
    PseudoLikelihood,
    Bidirectional,
    Nota,
    PseudoNota,
    PiecewisePseudoLikelihood,
    EarlyUpdate,
}

/// Whether every label of a piece is predicted with its own features, or only the last.
pub const ALL_NODES: Parameter = Parameter::new("all-nodes");
/// Which wrong labels must predict none of the above: 0 every one, 1 random samples, 2 those above a
/// threshold.
pub const NEGATIVES: Parameter = Parameter::new("negatives");
/// Wrong labels for each position, when sampled.
pub const SAMPLES: Parameter = Parameter::new("samples");
/// How many times they are drawn anew.
pub const DRAWS: Parameter = Parameter::new("draws");
/// The least probability of a wrong label, when chosen by threshold.
pub const THRESHOLD: Parameter = Parameter::new("threshold");
/// Iterations before the choice by threshold, half of all at most.
pub const AFTER: Parameter = Parameter::new("after");
/// How pieces are decoded: 0 with local normalization, 1 globally with learned scales, 2 globally.
pub const DECODE: Parameter = Parameter::new("decode");
/// Whether single labels, or sentences for the beam, are visited in a new random order in each epoch.
pub const SHUFFLE: Parameter = Parameter::new("shuffle");
/// The width of the beam.
pub const WIDTH: Parameter = Parameter::new("width");
/// Where a beam is compared with gold: 0 where gold leaves it, 1 as late as possible, 2 where it is most above gold.
pub const UPDATE: Parameter = Parameter::new("update");

const NODES: ParameterInfo = ALL_NODES.info(
    1.0,
    0.0,
    1.0,
    "1: every label of a piece is predicted with its own features, 0: only the last label of a piece",
);

const WHICH: ParameterInfo = NEGATIVES.info(
    2.0,
    0.0,
    2.0,
    "0: every wrong label, 1: random samples, 2: those above the threshold after some iterations",
);
const DRAWN: ParameterInfo = SAMPLES.info(3.0, 1.0, 1e6, "wrong labels for each position, when sampled");
const DRAWN_AGAIN: ParameterInfo =
    DRAWS.info(1.0, 1.0, 1e6, "times that samples are drawn in the training, each for as many iterations");
const PROBABLE: ParameterInfo =
    THRESHOLD.info(0.2, 0.0, 1.0, "the least probability of a wrong label, when chosen by threshold");
const LATER: ParameterInfo =
    AFTER.info(20.0, 0.0, 1e6, "iterations before the choice by threshold; half of all at most");

const LABELS_AT_RANDOM: ParameterInfo = SHUFFLE.info(
    1.0,
    0.0,
    1.0,
    "1: single labels of the whole text in a random order, 0: sentence after sentence as they stand in it, as in the paper",
);

/// The algorithms, each described once: the enumeration, the list of its members and the records follow. What
/// its documentation says of a member is its summary.
macro_rules! algorithms {
    ($(
        #[doc = $summary:literal]
        $algorithm:ident = $name:literal, $method:expr, $objective:expr, $citation:literal
        $(with $($field:ident: $value:expr),+)?;
    )+) => {
        /// A training algorithm for chains: an objective and the method that follows it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Algorithm {
            $(#[doc = $summary] $algorithm,)+
        }

        const ALL: &[Algorithm] = &[$(Algorithm::$algorithm),+];

        /// In the order of the enumeration.
        static RECORDS: &[Record] = &[$(Record {
            $($($field: $value,)+)?
            ..Record::new($name, $summary.trim_ascii(), $citation, $method, $objective)
        }),+];
    };
}

algorithms! {
    /// Conditional random field: maximum likelihood of whole sentences with L2 regularization, by L-BFGS.
    Likelihood = "likelihood", Method::Lbfgs, Objective::Likelihood,
        "Lafferty, McCallum & Pereira 2001, Conditional random fields, ICML; Nocedal 1980";
    /// Conditional random field with L1 regularization, by OWL-QN: most weights become exactly zero.
    L1Likelihood = "l1-likelihood", Method::Lbfgs, Objective::Likelihood,
        "Andrew & Gao 2007, Scalable training of L1-regularized log-linear models, ICML"
        with defaults: &[(Parameter::C1, 1.0), (Parameter::C2, 0.0)];
    /// Conditional random field by stochastic gradient descent with L2 regularization.
    Sgd = "sgd", Method::Sgd, Objective::Likelihood,
        "Bottou 2010; Vishwanathan, Schraudolph, Schmidt & Murphy 2006, Accelerated training of CRFs, ICML";
    /// Perceptron on whole sentences, decoded exactly, with averaged weights.
    AveragedPerceptron = "averaged-perceptron", Method::AveragedPerceptron, Objective::Likelihood,
        "Collins 2002, Discriminative training methods for hidden Markov models, EMNLP";
    /// Passive-aggressive updates on whole sentences, decoded exactly.
    PassiveAggressive = "passive-aggressive", Method::PassiveAggressive, Objective::Likelihood,
        "Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, Online passive-aggressive algorithms, JMLR 7";
    /// Adaptive regularization of weights on whole sentences, decoded exactly.
    Arow = "arow", Method::Arow, Objective::Likelihood,
        "Crammer, Kulesza & Dredze 2009, NIPS; Mejer & Crammer 2010, Confidence in structured prediction, EMNLP";
    /// Structured support vector machine on whole sentences by stochastic subgradient.
    Pegasos = "pegasos", Method::Pegasos, Objective::Likelihood,
        "Shalev-Shwartz, Singer, Srebro & Cotter 2011, Pegasos, Mathematical Programming 127";
    /// Each label given the gold labels around it, by L-BFGS; decoded globally.
    PseudoLikelihood = "pseudo-likelihood", Method::Lbfgs, Objective::PseudoLikelihood,
        "Besag 1975, Statistical analysis of non-lattice data, The Statistician 24";
    /// Maximum entropy Markov model: each label given the one before, by L-BFGS; decoded with local normalization.
    Memm = "memm", Method::Lbfgs, Objective::Memm,
        "McCallum, Freitag & Pereira 2000, Maximum entropy Markov models, ICML";
    /// Two conditional models, given the label before and given the label after, multiplied in decoding.
    BidirectionalCmm = "bidirectional-cmm", Method::Lbfgs, Objective::Bidirectional,
        "Kudo & Matsumoto 2001, Chunking with support vector machines, NAACL; as a diagram: McCallum & Sutton 2004";
    /// Piecewise training where wrong previous labels must predict none of the above.
    PiecewiseNota = "piecewise-nota", Method::Lbfgs, Objective::Nota,
        "McCallum & Sutton 2004, Piecewise training with parameter independence diagrams"
        with own: &[
            WHICH,
            DRAWN,
            DRAWN_AGAIN,
            PROBABLE,
            LATER,
            DECODE.info(
                0.0, 0.0, 2.0,
                "0: local normalization, 1: global with a learned scale for each previous label, 2: global",
            ),
        ];
    /// Pseudo-likelihood where wrong labels on either side must predict none of the above.
    PseudoLikelihoodNota = "pseudo-likelihood-nota", Method::Lbfgs, Objective::PseudoNota,
        "suggested by McCallum & Sutton 2004, Piecewise training with parameter independence diagrams, section 5"
        with own: &[WHICH, DRAWN, DRAWN_AGAIN, PROBABLE, LATER];
    /// Pseudo-likelihood within each factor: each label of a piece given the others of the piece.
    PiecewisePseudoLikelihood = "piecewise-pseudo-likelihood", Method::Lbfgs, Objective::PiecewisePseudoLikelihood,
        "Sutton & McCallum 2007, Piecewise pseudolikelihood for efficient training of CRFs, ICML"
        with own: &[NODES];
    /// Averaged perceptron on single labels, given the gold labels around them: linear in the number of labels.
    PseudoPerceptron = "pseudo-perceptron", Method::AveragedPerceptron, Objective::PseudoLikelihood,
        "Ruokolainen, Silfverberg, Kurimo & Lindén 2014, Accelerated estimation of CRFs, EACL"
        with own: &[LABELS_AT_RANDOM];
    /// Averaged perceptron on single labels of each factor, given the gold labels of the factor: linear in the number of labels.
    PiecewisePseudoPerceptron = "piecewise-pseudo-perceptron", Method::AveragedPerceptron, Objective::PiecewisePseudoLikelihood,
        "Ruokolainen, Silfverberg, Kurimo & Lindén 2014, Accelerated estimation of CRFs, EACL"
        with own: &[NODES, LABELS_AT_RANDOM];
    /// Averaged perceptron on prefixes: decoded by a beam, updated where the gold prefix leaves it, or later.
    BeamEarlyUpdate = "beam-early-update", Method::AveragedPerceptron, Objective::EarlyUpdate,
        "Collins & Roark 2004, Incremental parsing with the perceptron algorithm, ACL; Huang, Fayong & Guo 2012, NAACL"
        with own: &[
            WIDTH.info(1.0, 1.0, 1e6, "the width of the beam"),
            UPDATE.info(
                0.0, 0.0, 2.0,
                "0: where the gold prefix leaves the beam, 1: at the last prefix that scores at least as much as gold, 2: at the one that scores most above it",
            ),
            SHUFFLE.info(1.0, 0.0, 1.0, "1: sentences in a random order, 0: as they stand in the text, as in the paper"),
        ];
}

impl TrainingAlgorithm for Algorithm {
    const ALL: &'static [Self] = ALL;

    fn info(self) -> AlgorithmInfo {
        let &Record { name, summary, citation, method, own, defaults, .. } = self.record();
        let changed = |parameter| defaults.iter().find(|(other, _)| *other == parameter);
        let of_method = method.info().parameters.into_owned().into_iter().map(|info| ParameterInfo {
            default: changed(info.parameter).map_or(info.default, |&(_, value)| value),
            ..info
        });
        let parameters = own.iter().copied().chain(of_method).collect();
        AlgorithmInfo { name, summary, citation, parameters }
    }

    fn name(self) -> &'static str {
        self.record().name
    }
}

impl Algorithm {
    fn record(self) -> &'static Record {
        &RECORDS[self as usize]
    }

    pub(crate) fn method(self) -> Method {
        self.record().method
    }

    pub(crate) fn objective(self) -> Objective {
        self.record().objective
    }

    /// Whether it follows a gradient: its epochs are then iterations over the whole data, and usually need to
    /// be more.
    pub fn is_batch(self) -> bool {
        self.method() == Method::Lbfgs
    }

    /// The method with its share of the parameters.
    pub(crate) fn for_method(training: &Training) -> Result<trainer::Training<Method>, SequenceError> {
        let record = training.algorithm().record();
        let mut of_method = trainer::Training::new(record.method);
        for &(parameter, value) in record.defaults.iter().chain(training.parameters()) {
            if of_method.has(parameter) {
                of_method.set(parameter, value)?;
            }
        }
        Ok(of_method)
    }

    fn nota(training: &Training) -> Nota {
        match training.get(NEGATIVES).round() as usize {
            0 => Nota::Exhaustive,
            1 => Nota::Sampled { count: training.get(SAMPLES) as usize, draws: training.get(DRAWS) as usize },
            _ => {
                Nota::Threshold { probability: training.get(THRESHOLD), after: training.get(AFTER) as usize }
            }
        }
    }

    /// The diagram that a training follows, for chains of some order.
    pub fn diagram(training: &Training, order: usize) -> Diagram {
        match training.algorithm().objective() {
            Objective::Likelihood | Objective::EarlyUpdate => Diagram::likelihood(order),
            Objective::Memm => Diagram::memm(order),
            Objective::PseudoLikelihood => Diagram::pseudo_likelihood(order),
            Objective::Bidirectional => Diagram::bidirectional(order),
            Objective::PiecewisePseudoLikelihood => {
                Diagram::piecewise_pseudo_likelihood(order, training.is_on(ALL_NODES))
            }
            Objective::PseudoNota => Diagram::pseudo_likelihood_nota(Self::nota(training)),
            Objective::Nota => {
                let decoding = match training.get(DECODE).round() as usize {
                    0 => Decoding::Local,
                    1 => Decoding::Scaled,
                    _ => Decoding::Global,
                };
                Diagram::nota(Self::nota(training), decoding)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_records_stand_in_the_order_of_the_enumeration() {
        for &algorithm in Algorithm::ALL {
            let words: String = format!("{algorithm:?}").to_lowercase();
            assert_eq!(algorithm.name().replace('-', ""), words);
        }
        assert_eq!(Algorithm::ALL.len(), RECORDS.len());
    }
}
