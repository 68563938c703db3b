//! Parameter independence diagrams: training objectives as data (McCallum & Sutton, 2004).
//!
//! A diagram lists *pieces*. A piece is a set of label variables around a position, or all of them, with a
//! set of factors; its objective is the log-probability of its variables given the gold labels of every other
//! variable that its factors touch, normalized within the piece. The objective of the diagram is the sum over
//! all pieces at all positions. The conditional random field, MEMM, pseudo-likelihood, the bidirectional
//! model, piecewise training with NOTA and piecewise pseudo-likelihood are all values of [`Diagram`]; users
//! write their own as text:
//!
//! ```text
//! # Anything after # is a comment.
//! diagram my-memm
//! piece next-label              # one such piece at every position
//!     variables 0               # offsets from the position: `0`, `0 1`, … or `all`
//!     factor 0                  # a node: features × the label at this offset
//!     factor -1 0               # an edge: the pair of labels; three or more offsets: label n-grams
//!     nota exhaustive           # or `sampled K`, `sampled K drawn N`, `threshold P after N`; where the piece conditions on the next labels
//! decode local                  # or `global`, `scaled`
//! ```
//!
//! `factor -1 0 in backward` takes the factor's weights from a parameter group of its own, `factor 0 in words of U00 U01` one that has
//! the features of these template lines alone, and `factor 0 locked` uses the weights but does not change them.

mod draw;
mod parse;

use crate::SequenceError;

/// A training objective: pieces and a way to decode with the weights they give.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagram {
    /// Its name.
    pub name: String,
    /// The pieces.
    pub pieces: Vec<Piece>,
    /// How the weights are used for prediction.
    pub decoding: Decoding,
}

/// Variables and factors that are normalized together.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Its name.
    pub name: String,
    /// The variables that are predicted.
    pub variables: Variables,
    /// The factors that score them.
    pub factors: Vec<Factor>,
    /// Whether and for which wrong conditions "none of the above" is learned.
    pub nota: Option<Nota>,
}

/// The variables of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variables {
    /// All labels of the sentence: one piece for each sentence.
    All,
    /// Consecutive offsets: one piece for each position.
    Offsets(Vec<i32>),
}

/// A factor: which labels it sees and where its weights are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    /// Consecutive offsets from the position: one for a node, two for an edge, more for label n-grams.
    pub offsets: Vec<i32>,
    /// The name of the parameter group, empty for the common one.
    pub group: String,
    /// Used but not trained.
    pub locked: bool,
    /// Names of the template lines whose features it has; none for all of them.
    pub lines: Vec<String>,
}

impl Factor {
    fn over(offsets: impl IntoIterator<Item = i32>, group: &str) -> Self {
        Self { offsets: offsets.into_iter().collect(), group: group.into(), locked: false, lines: Vec::new() }
    }
}

/// Which wrong values of the labels conditioned on must predict "none of the above".
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Nota {
    /// Every wrong label.
    Exhaustive,
    /// Wrong conditions drawn at random for each position.
    Sampled {
        /// How many for each position.
        count: usize,
        /// How many times in the training they are drawn, each for as many iterations.
        draws: usize,
    },
    /// Wrong labels that the model gives at least this probability after this many iterations.
    Threshold {
        /// The least probability.
        probability: f64,
        /// Iterations before the choice.
        after: usize,
    },
}

consonant_learn::names! {
    /// How trained weights are used for prediction.
    #[derive(Default)]
    pub enum Decoding {
        /// The best sequence by the sum of all factors.
        #[default]
        Global = "global",
        /// The best sequence by the product of the pieces' own distributions; several directions multiply.
        Local = "local",
        /// As global, with each previous label's scores multiplied by a scale that is learned by global
        /// training.
        Scaled = "scaled",
    }
}

impl Diagram {
    fn new(name: &str, decoding: Decoding, pieces: Vec<Piece>) -> Self {
        Self { name: name.into(), pieces, decoding }
    }

    /// The conditional random field: one piece with everything in it.
    pub fn likelihood(order: usize) -> Self {
        let piece = Piece { variables: Variables::All, ..single("sentence", factors_before(order, "")) };
        Self::new("likelihood", Decoding::Global, vec![piece])
    }

    /// The maximum entropy Markov model: each label given those before it.
    pub fn memm(order: usize) -> Self {
        Self::new("memm", Decoding::Local, vec![single("next-label", factors_before(order, ""))])
    }

    /// Each label given all labels around it.
    pub fn pseudo_likelihood(order: usize) -> Self {
        Self::new(
            "pseudo-likelihood",
            Decoding::Global,
            vec![single("label", factors_within(-(order as i32), order as i32, order))],
        )
    }

    /// Two conditional models with weights of their own: each label given those before it, and given those
    /// after it.
    pub fn bidirectional(order: usize) -> Self {
        let forward = factors_before(order, "forward");
        let backward = (0..=order as i32).map(|reach| Factor::over(0..=reach, "backward")).collect();
        Self::new(
            "bidirectional-cmm",
            Decoding::Local,
            vec![single("from-left", forward), single("from-right", backward)],
        )
    }

    /// Pseudo-likelihood of a first-order chain where wrong labels on either side must predict "none of the above".
    pub fn pseudo_likelihood_nota(nota: Nota) -> Self {
        let piece = Piece { nota: Some(nota), ..single("label", factors_within(-1, 1, 1)) };
        Self::new("pseudo-likelihood-nota", Decoding::Global, vec![piece])
    }

    /// Piecewise training of a first-order chain where wrong previous labels must predict "none of the
    /// above".
    pub fn nota(nota: Nota, decoding: Decoding) -> Self {
        let factors = vec![Factor::over([0], ""), Factor::over([-1, 0], "")];
        let piece = Piece { nota: Some(nota), ..single("next-label", factors) };
        Self::new("piecewise-nota", decoding, vec![piece])
    }

    /// Pseudo-likelihood within each factor: a window of `order` + 1 labels is a piece, and each of its
    /// labels is predicted given the others (Sutton & McCallum, 2007, factor as piece).
    ///
    /// `all_nodes`: each label is predicted with its own node; otherwise the node belongs to the window's
    /// last label alone, and the others are predicted from labels only.
    pub fn piecewise_pseudo_likelihood(order: usize, all_nodes: bool) -> Self {
        let order = order as i32;
        let pieces = (0..=order).map(|after| {
            let mut factors = factors_within(after - order, after, order as usize);
            if after > 0 && !all_nodes {
                factors.retain(|factor| factor.offsets.len() > 1);
            }
            single(&format!("label-{}-of-{}", order - after + 1, order + 1), factors)
        });
        Self::new("piecewise-pseudo-likelihood", Decoding::Global, pieces.collect())
    }

    /// The parameter groups, in the order of their first use.
    pub fn groups(&self) -> Vec<&str> {
        let mut groups = Vec::new();
        for factor in self.pieces.iter().flat_map(|piece| &piece.factors) {
            if !groups.contains(&factor.group.as_str()) {
                groups.push(factor.group.as_str());
            }
        }
        groups
    }

    /// Whether a factor has the features of some template lines alone.
    pub fn has_lines(&self) -> bool {
        self.pieces.iter().flat_map(|piece| &piece.factors).any(|factor| !factor.lines.is_empty())
    }

    /// How many labels back the largest factor looks.
    pub fn order(&self) -> usize {
        self.pieces
            .iter()
            .flat_map(|piece| &piece.factors)
            .map(|factor| factor.offsets.len() - 1)
            .max()
            .unwrap_or(0)
    }

    /// Whether every piece predicts a single label.
    pub fn is_local(&self) -> bool {
        self.pieces
            .iter()
            .all(|piece| matches!(&piece.variables, Variables::Offsets(offsets) if offsets.len() == 1))
    }

    /// Refuses diagrams that have no meaning.
    pub fn check(&self) -> Result<(), SequenceError> {
        let wrong = |problem: String| Err(SequenceError::Diagram { line: 0, problem });
        if self.pieces.is_empty() {
            return wrong(
                "there is no piece; write at least one `piece NAME` with `variables` and `factor` lines"
                    .into(),
            );
        }
        for piece in &self.pieces {
            let name = &piece.name;
            if piece.factors.is_empty() {
                return wrong(format!("piece `{name}` has no factor; write for instance `factor 0`"));
            }
            for factor in &piece.factors {
                if !factor.lines.is_empty() && factor.group.is_empty() {
                    return wrong(format!(
                        "a factor of piece `{name}` has features of its own but no group; write `in NAME` before `of`"
                    ));
                }
                if factor.offsets.is_empty() || factor.offsets.windows(2).any(|pair| pair[1] != pair[0] + 1) {
                    return wrong(format!(
                        "a factor of piece `{name}` is over {:?}; offsets must follow each other, as `-1 0`",
                        factor.offsets
                    ));
                }
            }
            match &piece.variables {
                Variables::All => {
                    if piece.factors.iter().any(|factor| factor.offsets.last() != Some(&0)) {
                        return wrong(format!(
                            "piece `{name}` has all variables, so its factors must end at offset 0: they stand at every position"
                        ));
                    }
                }
                Variables::Offsets(offsets) => {
                    if offsets.is_empty() || offsets.windows(2).any(|pair| pair[1] != pair[0] + 1) {
                        return wrong(format!(
                            "the variables of piece `{name}` are {offsets:?}; they must follow each other, or become two pieces"
                        ));
                    }
                    if let Some(factor) = piece
                        .factors
                        .iter()
                        .find(|factor| !factor.offsets.iter().any(|offset| offsets.contains(offset)))
                    {
                        return wrong(format!(
                            "the factor over {:?} of piece `{name}` touches none of its variables",
                            factor.offsets
                        ));
                    }
                    if offsets.len() > 1 {
                        self.check_window(piece, offsets)?;
                    }
                }
            }
            let offsets: Vec<&[i32]> = piece.factors.iter().map(|factor| &factor.offsets[..]).collect();
            let next: [&[i32]; 3] = [&[0], &[-1, 0], &[0, 1]];
            if piece.nota.is_some()
                && (piece.variables != Variables::Offsets(vec![0])
                    || offsets != next && offsets != next[..2]
                    || piece.factors.iter().any(|factor| factor.group != piece.factors[0].group))
            {
                return wrong(format!(
                    "NOTA in piece `{name}` needs exactly the factors `0` and `-1 0`, and `0 1` after them if there is more, in one group, and the variable `0`"
                ));
            }
        }
        let directed = |piece: &Piece| {
            let one_sided = |sign: i32| {
                piece.factors.iter().all(|factor| factor.offsets.iter().all(|offset| sign * offset <= 0))
            };
            piece.variables == Variables::Offsets(vec![0]) && (one_sided(1) || one_sided(-1))
        };
        if self.decoding == Decoding::Local && (!self.pieces.iter().all(directed) || self.order() > 1) {
            return wrong("`decode local` needs pieces with the variable 0 that condition on one side only, of order 0 or 1".into());
        }
        if self.decoding == Decoding::Scaled && (self.order() != 1 || self.groups().len() != 1) {
            return wrong("`decode scaled` needs a diagram of order 1 with one parameter group".into());
        }
        Ok(())
    }

    fn check_window(&self, piece: &Piece, offsets: &[i32]) -> Result<(), SequenceError> {
        let inner = |pair: &[i32]| piece.factors.iter().any(|factor| factor.offsets == pair);
        let grouped = piece.factors.iter().all(|factor| factor.group == piece.factors[0].group);
        if piece.factors.iter().any(|factor| factor.offsets.len() > 2)
            || !offsets.windows(2).all(inner)
            || !grouped
        {
            let problem = format!(
                "piece `{}` predicts several labels: it needs every edge between them, no longer factor, and one parameter group",
                piece.name
            );
            return Err(SequenceError::Diagram { line: 0, problem });
        }
        Ok(())
    }
}

fn single(name: &str, factors: Vec<Factor>) -> Piece {
    Piece { name: name.into(), variables: Variables::Offsets(vec![0]), factors, nota: None }
}

/// The node at 0 and all n-grams that end there.
fn factors_before(order: usize, group: &str) -> Vec<Factor> {
    (0..=order as i32).map(|back| Factor::over(-back..=0, group)).collect()
}

/// The node at 0 and all n-grams with 0 that lie between two offsets.
fn factors_within(first: i32, last: i32, order: usize) -> Vec<Factor> {
    let mut factors = vec![Factor::over([0], "")];
    for length in 2..=order as i32 + 1 {
        for start in (1 - length).max(first)..=0.min(last - length + 1) {
            factors.push(Factor::over(start..start + length, ""));
        }
    }
    factors
}

#[cfg(test)]
mod tests {
    use consonant_learn::trainer::TrainingAlgorithm as _;

    use super::*;
    use crate::Algorithm;

    #[test]
    fn built_in_diagrams_are_sound_at_every_order() {
        for &algorithm in Algorithm::ALL {
            for order in 0..4 {
                let mut diagram = Algorithm::diagram(&algorithm.into(), order);
                if order > 1 {
                    diagram.decoding = Decoding::Global;
                }
                diagram.check().unwrap_or_else(|error| panic!("{algorithm:?} {order}: {error}"));
            }
        }
        let pseudo = Diagram::pseudo_likelihood(2);
        let spans: Vec<Vec<i32>> =
            pseudo.pieces[0].factors.iter().map(|factor| factor.offsets.clone()).collect();
        assert_eq!(spans, [vec![0], vec![-1, 0], vec![0, 1], vec![-2, -1, 0], vec![-1, 0, 1], vec![0, 1, 2]]);
        assert_eq!(Diagram::bidirectional(1).groups(), ["forward", "backward"]);
        assert_eq!(Diagram::piecewise_pseudo_likelihood(2, true).pieces.len(), 3);
    }
}
