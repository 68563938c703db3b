//! Every trainer on small generated problems: it learns, its bits do not depend on threads, it resumes where
//! it stopped.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use consonant_learn::LearnError;
use consonant_learn::parts::{PartList, PartProblem, Parts};
use consonant_learn::trainer::{Method, Outcome, Run, Stop, Training, TrainingAlgorithm, Visit, train};

use self::classes::{CLASSES, Classes, INPUTS, errors, run_with};

mod classes;

#[test]
fn every_method_learns() {
    let task = Classes::generate(300, false);
    for &method in Method::ALL {
        let trained =
            run_with(&task, method, &[], Run { epochs: 30, shuffle: true, ..Run::default() }).unwrap();
        let wrong = errors(&task, &trained.weights);
        assert!(wrong <= 15, "{}: {wrong} of 300 wrong", method.name());
    }
}

#[test]
fn an_epoch_tells_how_far_it_is() {
    let task = Classes::generate(100, false);
    for (shards, batch) in [(1, 1), (1, 7), (3, 2)] {
        let heard = Mutex::new(Vec::new());
        let follow = |visit: Visit| heard.lock().unwrap().push(visit);
        let run = Run {
            epochs: 2,
            shards,
            batch,
            threads: 2,
            follower: Some(&follow),
            stage: Some("classes"),
            ..Run::default()
        };
        run_with(&task, Method::AveragedPerceptron, &[], run).unwrap();
        let heard = heard.into_inner().unwrap();
        for epoch in [1, 2] {
            let mut visited: Vec<usize> =
                heard.iter().filter(|visit| visit.epoch == epoch).map(|visit| visit.visited).collect();
            visited.sort_unstable();
            assert!(
                visited.len() >= 4 && visited.last().is_some_and(|&last| last > 90 && last <= 100),
                "{visited:?}"
            );
            assert!(visited.windows(2).all(|pair| pair[0] < pair[1]), "{visited:?}");
        }
        assert!(heard.iter().all(|visit| (visit.stage, visit.examples) == (Some("classes"), 100)));
    }
}

/// A decoder that takes no score but those that training begins with.
struct Refusing(Classes);

impl Parts for Refusing {
    type Workspace = ();

    fn workspace(&self) {}

    fn examples(&self) -> usize {
        self.0.examples()
    }

    fn parameters(&self) -> usize {
        self.0.parameters()
    }

    fn list(&self, example: usize, _: &mut (), parts: &mut PartList) -> Result<(), LearnError> {
        self.0.list(example, &mut (), parts)
    }

    fn decode(&self, at: usize, scores: &[f32], _: &mut (), predicted: &mut [f32]) -> Result<(), LearnError> {
        match scores.iter().all(|score| score.abs() <= 1.0) {
            true => self.0.decode(at, scores, &mut (), predicted),
            false => Err(LearnError::task(std::io::Error::other("these scores are refused"))),
        }
    }
}

#[test]
fn a_decoder_that_refuses_scores_ends_the_training() {
    let task = Refusing(Classes::generate(300, false));
    let run = Run { epochs: 10, ..Run::default() };
    let refused = train(&PartProblem::new(&task), &Training::new(Method::AveragedPerceptron), run);
    assert!(refused.is_err_and(|error| error.to_string().contains("these scores are refused")));
}

#[test]
fn bits_do_not_depend_on_threads() {
    let task = Classes::generate(200, true);
    for &method in Method::ALL {
        let weights = |threads| {
            run_with(
                &task,
                method,
                &[],
                Run { epochs: 5, threads, batch: 7, shuffle: true, ..Run::default() },
            )
            .unwrap()
            .weights
        };
        let one = weights(1);
        assert!(one.iter().any(|&weight| weight != 0.0));
        assert_eq!(one, weights(2), "{}", method.name());
        assert_eq!(one, weights(5), "{}", method.name());
    }
}

#[test]
fn interrupted_training_resumes_with_the_same_bits() {
    let task = Classes::generate(200, true);
    let folder = tempfile::tempdir().unwrap();
    for &method in Method::ALL {
        let path = folder.path().join(method.name());
        let dev = |weights: &[f32]| Ok(-(errors(&task, weights) as f64));
        let straight = run_with(
            &task,
            method,
            &[],
            Run { epochs: 8, shuffle: true, dev: Some(Box::new(dev)), ..Run::default() },
        )
        .unwrap();

        let interrupt = AtomicBool::new(false);
        let stop_at_three = |report: &consonant_learn::trainer::EpochReport| {
            interrupt.store(report.epoch == 3, Ordering::Relaxed)
        };
        let dev = |weights: &[f32]| Ok(-(errors(&task, weights) as f64));
        let run = Run {
            epochs: 8,
            shuffle: true,
            dev: Some(Box::new(dev)),
            checkpoint: Some(path.clone()),
            progress: Some(Box::new(stop_at_three)),
            interrupt: Some(&interrupt),
            ..Run::default()
        };
        assert_eq!(run_with(&task, method, &[], run).unwrap().stop, Stop::Interrupted);
        assert!(path.exists());

        let dev = |weights: &[f32]| Ok(-(errors(&task, weights) as f64));
        let run = Run {
            epochs: 8,
            shuffle: true,
            dev: Some(Box::new(dev)),
            checkpoint: Some(path.clone()),
            ..Run::default()
        };
        let resumed = run_with(&task, method, &[], run).unwrap();
        assert_eq!(resumed.weights, straight.weights, "{}", method.name());
        assert_eq!((resumed.epoch, resumed.history.len()), (straight.epoch, straight.history.len()));
        assert!(!path.exists(), "a finished run leaves no checkpoint");

        // A checkpoint of another run is not taken silently.
        let interrupt = AtomicBool::new(false);
        let stop_now = |_: &consonant_learn::trainer::EpochReport| interrupt.store(true, Ordering::Relaxed);
        let run = Run {
            epochs: 3,
            checkpoint: Some(path.clone()),
            progress: Some(Box::new(stop_now)),
            interrupt: Some(&interrupt),
            ..Run::default()
        };
        run_with(&task, method, &[], run).unwrap();
        let other = Classes { examples: task.examples.clone() };
        let name = method.info().parameters[0].parameter.name();
        let changed = if method.info().parameters[0].default == 1.0 { 0.5 } else { 1.0 };
        let run = Run { epochs: 3, checkpoint: Some(path.clone()), ..Run::default() };
        assert!(
            matches!(run_with(&other, method, &[(name, changed)], run), Err(LearnError::OtherRun { .. })),
            "{}",
            method.name()
        );
        // Nor is one of the same examples in another order.
        let mut turned = Classes { examples: task.examples.clone() };
        turned.examples.reverse();
        let run = Run { epochs: 3, checkpoint: Some(path.clone()), ..Run::default() };
        assert!(
            matches!(run_with(&turned, method, &[], run), Err(LearnError::OtherRun { .. })),
            "{}",
            method.name()
        );
    }
}

#[test]
fn early_stopping_keeps_the_best_weights() {
    let task = Classes::generate(100, true);
    let mut call = 0;
    let scores = [0.5, 0.7, 0.6, 0.65, 0.69, 0.9];
    let mut seen: Vec<Vec<f32>> = Vec::new();
    let dev = |weights: &[f32]| {
        seen.push(weights.to_vec());
        call += 1;
        Ok(scores[call - 1])
    };
    let run = Run { epochs: 6, patience: Some(3), dev: Some(Box::new(dev)), ..Run::default() };
    let trained = run_with(&task, Method::AveragedPerceptron, &[], run).unwrap();
    assert_eq!(
        (trained.stop, trained.epoch, trained.best, trained.history.len()),
        (Stop::Patience, 2, Some(0.7), 5)
    );
    assert_eq!(trained.weights, seen[1]);
}

/// At a minimum of loss + c2·w² the gradient vanishes; with c1 it lies within c1 at zeros and balances c1
/// elsewhere.
#[test]
fn batch_minima_satisfy_their_conditions() {
    let task = Classes::generate(200, true);
    for (c1, c2) in [(0.0, 0.5), (2.0, 0.0), (1.0, 0.1)] {
        let given = [("c1", c1), ("c2", c2), ("epsilon", 1e-7), ("delta", 0.0)];
        let trained = run_with(&task, Method::Lbfgs, &given, Run { epochs: 500, ..Run::default() }).unwrap();
        let problem = PartProblem::new(&task);
        let mut gradient = vec![0.0; CLASSES * INPUTS];
        let mut workspace = consonant_learn::problem::Problem::workspace(&problem);
        for example in 0..task.examples.len() {
            let weights = consonant_learn::problem::Weights::new(&trained.weights);
            consonant_learn::problem::Differentiate::differentiate(
                &problem,
                example,
                weights,
                &mut workspace,
                gradient.as_mut_slice(),
            )
            .unwrap();
        }
        let mut zeros = 0;
        for (&weight, gradient) in trained.weights.iter().zip(&gradient) {
            let smooth = gradient + 2.0 * c2 * f64::from(weight);
            if weight == 0.0 && c1 > 0.0 {
                zeros += 1;
                assert!(smooth.abs() <= c1 + 1e-2, "{smooth} at a zero");
            } else {
                assert!((smooth + c1 * f64::from(weight.signum())).abs() < 1e-2, "{smooth} at {weight}");
            }
        }
        assert!(c1 == 0.0 || zeros > 3, "L1 gives exact zeros");
    }
}

#[test]
fn wrong_settings_are_refused_with_what_would_be_right() {
    let task = Classes::generate(10, false);
    let message = |result: Result<Outcome, LearnError>| result.unwrap_err().to_string();
    assert!(
        message(run_with(&task, Method::Arow, &[("colour", 1.0)], Run::default()))
            .contains("variance, gamma")
    );
    assert!(
        message(run_with(&task, Method::Arow, &[("gamma", f64::NAN)], Run::default()))
            .contains("expected a value from")
    );
    assert!(
        message(run_with(&Classes { examples: Vec::new() }, Method::Pegasos, &[], Run::default()))
            .contains("no examples")
    );
    let run = Run { initial: Some(vec![0.0; 5]), ..Run::default() };
    assert!(message(run_with(&task, Method::Lbfgs, &[], run)).contains("36"));
    assert!(Method::from_name("magic").unwrap_err().to_string().contains("averaged-perceptron"));
}

#[test]
fn initial_weights_are_where_training_begins() {
    let task = Classes::generate(300, false);
    let first =
        run_with(&task, Method::PassiveAggressive, &[], Run { epochs: 20, ..Run::default() }).unwrap();
    let mut errors_at_start = usize::MAX;
    let note = |report: &consonant_learn::trainer::EpochReport| errors_at_start = report.errors;
    let run =
        Run { epochs: 1, initial: Some(first.weights), progress: Some(Box::new(note)), ..Run::default() };
    run_with(&task, Method::PassiveAggressive, &[], run).unwrap();
    assert!(errors_at_start < 15, "{errors_at_start}");
}
