//! Training in shards: the mean that it should be, and the same bits wherever the shares are worked on.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use consonant_learn::LearnError;
use consonant_learn::trainer::{
    Courier, EpochReport, Method, Outcome, Place, Run, Stop, TrainingAlgorithm, Trip, Worker,
};

use self::classes::{CLASSES, Classes, INPUTS, errors, run_with};

#[allow(dead_code)]
mod classes;

fn run<'a>(shards: usize) -> Run<'a> {
    Run { epochs: 6, shuffle: true, batch: 3, shards, ..Run::default() }
}

/// A worker whose training has two stages: a perceptron, then `method`.
fn worker(task: &Classes, method: Method, shards: usize) -> Worker {
    let task = Classes { examples: task.examples.clone() };
    Worker::start(move |desk| {
        let place = Place::Worker(desk);
        run_with(&task, Method::AveragedPerceptron, &[], Run { place, ..run(shards) })?;
        run_with(&task, method, &[], Run { place, ..run(shards) })
    })
}

/// The same training with its shares at workers; with `fragile`, every fourth share kills its worker, and another
/// begins anew.
fn elsewhere(task: &Classes, method: Method, shards: usize, workers: usize, fragile: bool) -> Outcome {
    let start = || worker(task, method, shards);
    let team: Vec<Mutex<Worker>> = (0..workers).map(|_| Mutex::new(start())).collect();
    let shares = Mutex::new(0);
    let carry = |trip: Trip<'_>| {
        // Backwards, as if the last share were done first.
        let work = |share: usize| {
            let mut worker = team[share % workers].lock().unwrap();
            *shares.lock().unwrap() += 1;
            if fragile && *shares.lock().unwrap() % 4 == 0 {
                *worker = start();
            }
            worker.work(&trip, share)
        };
        let mut answers = (0..trip.shares).rev().map(work).collect::<Result<Vec<_>, _>>()?;
        answers.reverse();
        Ok(answers)
    };
    let courier = Courier::new(carry);
    let place = Place::Elsewhere(&courier);
    run_with(task, Method::AveragedPerceptron, &[], Run { place, ..run(shards) }).unwrap();
    run_with(task, method, &[], Run { place, ..run(shards) }).unwrap()
}

#[test]
fn mixing_is_the_mean_of_the_shards() {
    let task = Classes::generate(50, true);
    // A power of two keeps every mean exact, so that no tie is broken by rounding.
    let (shards, epochs) = (4, 4);
    let training = Run { epochs, shards, ..Run::default() };
    let trained = run_with(&task, Method::AveragedPerceptron, &[], training).unwrap();
    let mut mixed = vec![0.0f64; CLASSES * INPUTS];
    let (mut sum, mut steps) = (mixed.clone(), 0.0);
    for _ in 0..epochs {
        let mut next = vec![0.0; mixed.len()];
        for shard in 0..shards {
            let mut weights = mixed.clone();
            for (inputs, gold) in task.examples.iter().skip(shard).step_by(shards) {
                let at = |input: u32, class: usize| input as usize * CLASSES + class;
                let score = |class: usize| inputs.iter().map(|&input| weights[at(input, class)]).sum::<f64>();
                let best = (0..CLASSES).max_by(|&a, &b| (score(a) as f32).total_cmp(&(score(b) as f32)));
                for &input in inputs {
                    weights[at(input, *gold)] += 1.0;
                    weights[at(input, best.unwrap())] -= 1.0;
                }
                sum.iter_mut().zip(&weights).for_each(|(sum, weight)| *sum += weight);
                steps += 1.0;
            }
            next.iter_mut().zip(&weights).for_each(|(next, weight)| *next += weight / shards as f64);
        }
        mixed = next;
    }
    assert_eq!(trained.history.len(), epochs, "there is always something to learn");
    for (found, sum) in trained.weights.iter().zip(sum) {
        assert!((f64::from(*found) - sum / steps).abs() < 1e-4, "{found} {}", sum / steps);
    }
}

#[test]
fn every_method_learns_in_shards() {
    let task = Classes::generate(300, false);
    for &method in Method::ALL {
        for shards in [2, 4] {
            let trained = run_with(&task, method, &[], Run { epochs: 40, ..run(shards) }).unwrap();
            let wrong = errors(&task, &trained.weights);
            assert!(wrong <= 15, "{} in {shards} shards: {wrong} errors", method.name());
        }
    }
}

#[test]
fn bits_do_not_depend_on_threads_workers_or_their_deaths() {
    let task = Classes::generate(200, true);
    for &method in Method::ALL {
        let here =
            |shards, threads| run_with(&task, method, &[], Run { threads, ..run(shards) }).unwrap().weights;
        let one = here(4, 1);
        assert!(one.iter().any(|&weight| weight != 0.0));
        for threads in [2, 3, 8] {
            assert_eq!(one, here(4, threads), "{} on {threads} threads", method.name());
        }
        for (workers, fragile) in [(1, false), (2, false), (3, true), (7, true)] {
            let other = elsewhere(&task, method, 4, workers, fragile);
            assert_eq!(one, other.weights, "{} by {workers} workers", method.name());
        }
        // A gradient is the sum of the same ranges for few shards and for none; a mean is that of its shards.
        assert_eq!(here(1, 2) == one, method == Method::Lbfgs, "{}", method.name());
    }
}

#[test]
fn more_shards_than_examples_do_no_harm() {
    let task = Classes::generate(3, false);
    for &method in Method::ALL {
        let here = run_with(&task, method, &[], run(20)).unwrap().weights;
        assert_eq!(here, elsewhere(&task, method, 20, 2, false).weights, "{}", method.name());
    }
}

#[test]
fn resumed_shards_give_the_same_bits() {
    let task = Classes::generate(200, true);
    let folder = tempfile::tempdir().unwrap();
    for &method in Method::ALL {
        let path = folder.path().join(method.name());
        let straight = run_with(&task, method, &[], run(3)).unwrap();
        let interrupt = AtomicBool::new(false);
        let stop_at_two = |report: &EpochReport| interrupt.store(report.epoch == 2, Ordering::Relaxed);
        let first = Run {
            checkpoint: Some(path.clone()),
            progress: Some(Box::new(stop_at_two)),
            interrupt: Some(&interrupt),
            ..run(3)
        };
        assert_eq!(run_with(&task, method, &[], first).unwrap().stop, Stop::Interrupted);
        if method != Method::Lbfgs {
            let other = Run { checkpoint: Some(path.clone()), ..run(2) };
            let refused = run_with(&task, method, &[], other);
            assert!(matches!(refused, Err(LearnError::OtherRun { .. })), "{}", method.name());
        }
        let resumed = resume(&task, method, &path);
        assert_eq!(resumed.weights, straight.weights, "{}", method.name());
        assert!(!path.exists());
    }
}

/// Goes on from a checkpoint, with the shares at a worker that was not there before.
fn resume(task: &Classes, method: Method, path: &Path) -> Outcome {
    let owned = Classes { examples: task.examples.clone() };
    let worker = Worker::start(move |desk| {
        run_with(&owned, method, &[], Run { place: Place::Worker(desk), ..run(3) })
    });
    let courier =
        Courier::new(|trip: Trip<'_>| (0..trip.shares).map(|share| worker.work(&trip, share)).collect());
    let place = Place::Elsewhere(&courier);
    run_with(task, method, &[], Run { place, checkpoint: Some(path.to_owned()), ..run(3) }).unwrap()
}

#[test]
fn workers_say_why_they_cannot_work() {
    let task = Classes::generate(60, true);
    let said = |worker: Worker| {
        let courier =
            Courier::new(|trip: Trip<'_>| (0..trip.shares).map(|share| worker.work(&trip, share)).collect());
        let place = Place::Elsewhere(&courier);
        run_with(&task, Method::AveragedPerceptron, &[], Run { place, ..run(2) }).unwrap_err().to_string()
    };
    let other = Classes::generate(61, true);
    let other = said(worker(&other, Method::AveragedPerceptron, 2));
    assert!(other.contains("every worker needs the same data"), "{other}");
    let broken = said(Worker::start(|_| Err::<(), _>("the file is not there")));
    assert_eq!(broken, "a worker of the training failed: the file is not there");
    let ended = said(Worker::start(|_| Ok::<_, LearnError>(())));
    assert!(ended.contains("has ended"), "{ended}");
    let courier = Courier::new(|_| Ok(Vec::new()));
    let place = Place::Elsewhere(&courier);
    let none = run_with(&task, Method::Lbfgs, &[], Run { place, ..run(2) }).unwrap_err().to_string();
    assert!(none.contains("0 answers for 8 shares"), "{none}");
}
