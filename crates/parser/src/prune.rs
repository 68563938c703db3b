//! Which arcs are candidates: a first-order probabilistic model looks at all of them.
//!
//! It is trained by itself, by gradient descent on the likelihood of trees. A word keeps its most probable
//! heads (Martins, Almeida & Smith 2013, footnote 10), and always the head that it has in the model's own
//! best tree, so that the candidates hold a tree.

pub(crate) mod long;

use consonant_learn::LearnError;
use consonant_learn::model::{Model, ModelWriter};
use consonant_learn::parts::{PartList, PartMarginals, PartProblem, Parts};
use consonant_learn::table::{HashKernel, Precision};
use consonant_learn::trainer::{Method, Parameter, Run, Training, train_differentiable};
use consonant_map::oracle::Oracle;
use consonant_map::oracle::arborescence::{self, Arborescence, RootChildren};

use crate::features::{Encoded, Features};
use crate::matrix_tree::MatrixTree;
use crate::{ParserError, TrainingSentence};

/// How many heads a word keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PruningLimits {
    /// At most this many.
    pub heads: usize,
    /// None that is less probable than this share of the most probable one.
    pub share: f32,
    /// At most so many words keep one and the same word as a candidate head, the most probable ones.
    pub modifiers: Option<usize>,
}

/// The weights of the pruning model.
#[derive(Debug, Clone)]
pub struct Pruner {
    weights: HashKernel,
    root_children: RootChildren,
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub struct PruningWorkspace {
    sums: MatrixTree,
    features: Features,
    numbers: Vec<u32>,
    /// Where the features of each head end.
    ends: Vec<(usize, usize)>,
    weights: Vec<f32>,
    /// By modifier, then head, the word itself included.
    scores: Vec<f32>,
    marginals: Vec<f32>,
    /// Heads of each row, the root among them.
    width: usize,
    order: Vec<usize>,
    complete: Option<Arborescence>,
    tree_scores: Vec<f64>,
    tree: arborescence::Workspace,
    links: Vec<u32>,
}

impl PruningWorkspace {
    /// The probability of an arc of the sentence pruned last.
    pub(crate) fn probability(&self, head: usize, modifier: usize) -> f32 {
        self.marginals[(modifier - 1) * self.width + head].clamp(0.0, 1.0)
    }
}

const SECTION: &str = "pruner";
impl Pruner {
    /// Reads the pruner of a model.
    pub fn open(model: &Model, root_children: RootChildren) -> Result<Self, ParserError> {
        Ok(Self { weights: HashKernel::open(model, SECTION)?, root_children })
    }

    /// Writes weights as they came from training.
    pub fn store(writer: &mut ModelWriter, weights: &[f32]) {
        HashKernel::store(writer, SECTION, weights, Precision::Half);
    }

    /// All of them, to be stored with another model.
    pub(crate) fn weights(&self) -> Vec<f32> {
        self.weights.to_vec()
    }

    /// Writes the candidate arcs (head, modifier), sorted by modifier and head.
    pub fn prune(
        &self,
        sentence: &Encoded,
        limits: PruningLimits,
        workspace: &mut PruningWorkspace,
        arcs: &mut Vec<(usize, usize)>,
    ) -> Result<(), ParserError> {
        let words = sentence.words();
        let width = words + 1;
        let PruningWorkspace { features, numbers, weights, scores, ends, .. } = workspace;
        features.load_for_pruning(sentence);
        scores.clear();
        scores.resize(words * width, 0.0);
        for modifier in 1..=words {
            for head in (0..=words).filter(|&head| head != modifier) {
                features.pruning(sentence, head, modifier, numbers);
                ends.push((head, numbers.len()));
            }
            weights.clear();
            self.weights.gather(numbers, weights);
            let mut start = 0;
            for (head, end) in ends.drain(..) {
                scores[(modifier - 1) * width + head] = weights[start..end].iter().sum();
                start = end;
            }
            numbers.clear();
        }
        self.select(words, limits, workspace, arcs)
    }

    fn select(
        &self,
        words: usize,
        limits: PruningLimits,
        workspace: &mut PruningWorkspace,
        arcs: &mut Vec<(usize, usize)>,
    ) -> Result<(), ParserError> {
        let width = words + 1;
        workspace.width = width;
        let PruningWorkspace { sums, scores, marginals, order, complete, tree_scores, tree, links, .. } =
            workspace;
        marginals.clear();
        marginals.resize(words * width, 0.0);
        let found = sums.marginals(words, scores, self.root_children, marginals);
        for m in 0..words {
            let row = m * width..(m + 1) * width;
            let (row, scores) = (&mut marginals[row.clone()], &scores[row]);
            let total: f32 = row.iter().sum();
            if found.is_none() || !(0.9..1.1).contains(&total) {
                // Beyond double precision; each word by itself then.
                let others = (0..width).filter(|&h| h != m + 1);
                let best = others.clone().map(|h| scores[h]).fold(f32::NEG_INFINITY, f32::max);
                others.for_each(|h| row[h] = (scores[h] - best).exp());
            }
        }
        let complete = match complete {
            Some(complete) => {
                complete.rebuild_complete(width, self.root_children)?;
                complete
            }
            None => complete.insert(Arborescence::complete(width, self.root_children)?),
        };
        tree_scores.clear();
        tree_scores.extend(
            complete.arcs().iter().map(|&(h, m)| f64::from(scores[(m as usize - 1) * width + h as usize])),
        );
        complete.maximize(tree_scores, tree, links);
        arcs.clear();
        for (m, own) in complete.heads(links).enumerate() {
            let row = &marginals[m * width..(m + 1) * width];
            order.clear();
            order.extend((0..width).filter(|&h| h != m + 1));
            let most = limits.heads.max(1);
            let better = |&a: &usize, &b: &usize| row[b].total_cmp(&row[a]).then(a.cmp(&b));
            if order.len() > most {
                order.select_nth_unstable_by(most - 1, better);
                order.truncate(most);
            }
            let best = order.iter().map(|&h| row[h]).fold(0.0, f32::max);
            order.retain(|&h| row[h] >= limits.share * best);
            if !order.contains(&own) {
                order.push(own);
            }
            order.sort_unstable();
            arcs.extend(order.iter().map(|&h| (h, m + 1)));
        }
        if let Some(most) = limits.modifiers {
            let best: Vec<usize> = complete.heads(links).collect();
            let probability = |&(h, m): &(usize, usize)| marginals[(m - 1) * width + h];
            // The root may be the head of any word, and what the best tree has stays.
            let stays = |&(h, m): &(usize, usize)| h == 0 || best[m - 1] == h;
            arcs.sort_unstable_by(|a, b| {
                a.0.cmp(&b.0).then(probability(b).total_cmp(&probability(a))).then(a.1.cmp(&b.1))
            });
            let (mut head, mut count) = (0, 0);
            arcs.retain(|arc| {
                count = if arc.0 == head { count + 1 } else { 1 };
                head = arc.0;
                count <= most || stays(arc)
            });
            arcs.sort_unstable_by_key(|&(h, m)| (m, h));
        }
        Ok(())
    }
}

/// The training of the pruning model: trees as sets of arcs, with their probabilities.
struct PruningProblem<'a> {
    sentences: &'a [TrainingSentence],
    root_children: RootChildren,
    bits: u32,
}

#[derive(Default)]
struct TaskWorkspace {
    sums: MatrixTree,
    features: Features,
    numbers: Vec<u32>,
    scores: Vec<f32>,
    marginals: Vec<f32>,
}

impl Parts for PruningProblem<'_> {
    type Workspace = TaskWorkspace;

    fn workspace(&self) -> TaskWorkspace {
        TaskWorkspace::default()
    }

    fn examples(&self) -> usize {
        self.sentences.len()
    }

    fn parameters(&self) -> usize {
        1 << self.bits
    }

    fn list(
        &self,
        example: usize,
        workspace: &mut TaskWorkspace,
        parts: &mut PartList,
    ) -> Result<(), LearnError> {
        let TrainingSentence { encoded, heads, .. } = &self.sentences[example];
        let TaskWorkspace { features, numbers, .. } = workspace;
        features.load_for_pruning(encoded);
        for modifier in 1..=encoded.words() {
            for head in (0..=encoded.words()).filter(|&head| head != modifier) {
                let is_gold = heads[modifier - 1] == head;
                parts.push(f32::from(is_gold), f32::from(!is_gold));
                numbers.clear();
                features.pruning(encoded, head, modifier, numbers);
                numbers.iter().for_each(|&number| parts.feature(HashKernel::index(number.into(), self.bits)));
            }
        }
        Ok(())
    }

    fn weight(&self, example: usize) -> f32 {
        self.sentences[example].weight
    }

    /// The most probable head of each word; trainers that only decode are not used here.
    fn decode(
        &self,
        example: usize,
        scores: &[f32],
        _: &mut TaskWorkspace,
        predicted: &mut [f32],
    ) -> Result<(), LearnError> {
        let words = self.sentences[example].encoded.words();
        for (row, chosen) in scores.chunks_exact(words).zip(predicted.chunks_exact_mut(words)) {
            let best = (0..words).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0);
            chosen[best] = 1.0;
        }
        Ok(())
    }
}

/// Probabilities below this are no reason to move a weight.
const NEGLIGIBLE: f32 = 1e-5;

impl PartMarginals for PruningProblem<'_> {
    fn marginals(
        &self,
        example: usize,
        scores: &[f32],
        workspace: &mut TaskWorkspace,
        marginals: &mut [f32],
    ) -> Result<f64, LearnError> {
        let sentence = &self.sentences[example];
        let words = sentence.encoded.words();
        let width = words + 1;
        // Arcs as they are listed leave the word itself out; the sums have a place for it.
        let place = |arc: usize| {
            let (m, h) = (arc / words, arc % words);
            m * width + h + usize::from(h > m)
        };
        workspace.scores.clear();
        workspace.scores.resize(words * width, 0.0);
        workspace.marginals.clear();
        workspace.marginals.resize(words * width, 0.0);
        for (arc, &score) in scores.iter().enumerate() {
            workspace.scores[place(arc)] = score;
        }
        let TaskWorkspace { sums, scores: all, marginals: found, .. } = workspace;
        Ok(match sums.marginals(words, all, self.root_children, found) {
            Some(log_sum) => {
                for (arc, marginal) in marginals.iter_mut().enumerate() {
                    let probability = found[place(arc)];
                    *marginal = if probability < NEGLIGIBLE { 0.0 } else { probability };
                }
                log_sum
            }
            None => {
                // No gradient from a sentence whose sum is beyond double precision.
                let gold = (0..words)
                    .map(|m| m * words + sentence.heads[m] - usize::from(sentence.heads[m] > m + 1));
                gold.map(|arc| {
                    marginals[arc] = 1.0;
                    f64::from(scores[arc])
                })
                .sum()
            }
        })
    }
}

/// Trains the weights of a pruner.
pub(crate) fn train(
    sentences: &[TrainingSentence],
    root_children: RootChildren,
    bits: u32,
    run: Run<'_>,
) -> Result<Vec<f32>, ParserError> {
    let task = PruningProblem { sentences, root_children, bits };
    let training = Training::new(Method::Sgd)
        .with(Parameter::C2, 0.01)?
        .with(Parameter::RATE, 0.2)?
        .with(Parameter::AVERAGE, 1.0)?;
    Ok(train_differentiable(&PartProblem::new(&task), &training, run)?.weights)
}

/// A pruner with weights that were just trained, as it will be after it was stored.
pub(crate) fn with_weights(weights: &[f32], root_children: RootChildren) -> Result<Pruner, ParserError> {
    let mut writer = ModelWriter::new("pruner", serde_json::Value::Null);
    Pruner::store(&mut writer, weights);
    Pruner::open(&Model::from_bytes(&writer.to_bytes())?, root_children)
}
