//! A small generated problem that every trainer can learn.

use consonant_learn::LearnError;
use consonant_learn::hash::combine;
use consonant_learn::parts::{PartList, PartMarginals, PartProblem, Parts};
use consonant_learn::trainer::{
    Method, Outcome, Run, Training, TrainingAlgorithm, train, train_differentiable,
};

pub const CLASSES: usize = 3;
pub const INPUTS: usize = 12;

/// Classification into three classes: a part is a class, its features are the inputs of the example paired
/// with it.
pub struct Classes {
    pub examples: Vec<(Vec<u32>, usize)>,
}

impl Classes {
    /// Examples that a hidden linear model labels, with some labels wrong on purpose.
    pub fn generate(count: usize, noise: bool) -> Self {
        let mut state = 42;
        let mut next = |bound: usize| {
            state = combine(state, 3);
            ((u128::from(state) * bound as u128) >> 64) as usize
        };
        let examples = (0..count)
            .map(|_| {
                let inputs: Vec<u32> = (0..4).map(|_| next(INPUTS) as u32).collect();
                let vote =
                    |class: usize| inputs.iter().filter(|&&input| input as usize % CLASSES == class).count();
                let best = (0..CLASSES).max_by_key(|&class| (vote(class), class)).unwrap();
                (inputs, if noise && next(10) == 0 { next(CLASSES) } else { best })
            })
            .collect();
        Self { examples }
    }
}

impl Parts for Classes {
    type Workspace = ();

    fn workspace(&self) {}

    fn examples(&self) -> usize {
        self.examples.len()
    }

    fn parameters(&self) -> usize {
        CLASSES * INPUTS
    }

    fn list(&self, example: usize, _: &mut (), parts: &mut PartList) -> Result<(), LearnError> {
        let (inputs, gold) = &self.examples[example];
        for class in 0..CLASSES {
            let right = class == *gold;
            parts.push(if right { 1.0 } else { 0.0 }, if right { 0.0 } else { 1.0 });
            inputs.iter().for_each(|&input| parts.feature(input * CLASSES as u32 + class as u32));
        }
        Ok(())
    }

    fn decode(&self, _: usize, scores: &[f32], _: &mut (), predicted: &mut [f32]) -> Result<(), LearnError> {
        let best = (0..CLASSES).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
        predicted[best] = 1.0;
        Ok(())
    }
}

impl PartMarginals for Classes {
    fn marginals(
        &self,
        _: usize,
        scores: &[f32],
        _: &mut (),
        marginals: &mut [f32],
    ) -> Result<f64, LearnError> {
        let sum: f64 = scores.iter().map(|&score| f64::from(score).exp()).sum();
        marginals.iter_mut().zip(scores).for_each(|(p, &score)| *p = (f64::from(score).exp() / sum) as f32);
        Ok(sum.ln())
    }
}

pub fn run_with(
    task: &Classes,
    method: Method,
    given: &[(&str, f64)],
    run: Run<'_>,
) -> Result<Outcome, LearnError> {
    let training = Training::from_names(method.name(), given.iter().copied())?;
    match method.needs_gradient() {
        true => train_differentiable(&PartProblem::new(task), &training, run),
        false => train(&PartProblem::new(task), &training, run),
    }
}

pub fn errors(task: &Classes, weights: &[f32]) -> usize {
    let score = |inputs: &[u32], class: usize| {
        inputs.iter().map(|&input| weights[input as usize * CLASSES + class]).sum::<f32>()
    };
    let wrong = |(inputs, gold): &&(Vec<u32>, usize)| {
        (0..CLASSES).max_by(|&a, &b| score(inputs, a).total_cmp(&score(inputs, b))) != Some(*gold)
    };
    task.examples.iter().filter(wrong).count()
}
