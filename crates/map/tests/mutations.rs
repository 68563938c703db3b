//! Proofs that were tampered with: the checker refuses them, or what they still prove is true.

use consonant_map::Graph;
use consonant_map::problem::Problem;
use consonant_map::proof::{ProofOptions, prove};
use consonant_map::solver::{Limits, Method, solve};
use consonant_map::verify::{Proof, verify};
use consonant_testing::Random;
use consonant_testing::problem::{all, random_problem};
use serde_json::{Value, json};

/// How many values stand in this one, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// The value of this number, in the order of the text.
fn at(value: &mut Value, number: usize) -> Option<&mut Value> {
    let Some(mut rest) = number.checked_sub(1) else { return Some(value) };
    let inner: Box<dyn Iterator<Item = &mut Value>> = match value {
        Value::Array(items) => Box::new(items.iter_mut()),
        Value::Object(fields) => Box::new(fields.values_mut()),
        _ => return None,
    };
    for item in inner {
        let size = count(item);
        if rest < size {
            return at(item, rest);
        }
        rest -= size;
    }
    None
}

fn another_number(random: &mut Random, number: f64) -> Value {
    let numbers = [
        number + 1.0,
        number - 1.0,
        -number,
        0.0,
        number * 1.0001,
        number * 0.9999,
        number.next_up(),
        number.next_down(),
        number * random.uniform(),
        1e300,
    ];
    // Places and states are whole numbers, and stay so.
    match (number.fract() == 0.0 && number.abs() < 1e6, random.below(4)) {
        (true, 0..3) => json!((number as i64 + random.below(5) as i64 - 2).max(0)),
        _ => json!(numbers[random.below(numbers.len())]),
    }
}

/// Changes one thing about a proof.
fn mutate(random: &mut Random, proof: &mut Value) {
    let place = random.below(count(proof));
    match at(proof, place) {
        Some(Value::Number(number)) => {
            let number = number.as_f64().unwrap_or(0.0);
            *at(proof, place).expect("it was there") = another_number(random, number);
        }
        Some(Value::Array(items)) if !items.is_empty() => {
            let (one, other) = (random.below(items.len()), random.below(items.len()));
            match random.below(3) {
                0 => drop(items.remove(one)),
                1 => items.insert(other, items[one].clone()),
                _ => items.swap(one, other),
            }
        }
        Some(Value::Object(fields)) if !fields.is_empty() => {
            let key = fields.keys().nth(random.below(fields.len())).cloned().unwrap_or_default();
            match random.below(4) {
                0 => fields[&key] = Value::Null,
                1 => drop(fields.insert("impossible".into(), json!(true))),
                _ => drop(fields.remove(&key)),
            }
        }
        Some(Value::Bool(value)) => *value = !*value,
        _ => {}
    }
}

/// So many changes to the proof of a problem; how many the checker refused.
fn check(problem: &Problem, seed: u64, changes: usize) -> usize {
    let optimum = all(problem).first().map_or(f64::NEG_INFINITY, |(value, _)| *value);
    let graph = Graph::from_problem(problem).unwrap();
    let solution = solve(&graph, Method::Exact, &Limits::default()).unwrap();
    let (proof, _) = prove(problem, solution, &ProofOptions::default()).unwrap();
    let proof = serde_json::to_value(proof).unwrap();
    let mut random = Random::new(seed);
    let mut refused = 0;
    for change in 0..changes {
        let mut changed = proof.clone();
        for _ in 0..1 + random.below(2) {
            mutate(&mut random, &mut changed);
        }
        let verified = Proof::read(&changed.to_string()).and_then(|proof| verify(problem, &proof));
        let Ok(verified) = verified else {
            refused += 1;
            continue;
        };
        let what = format!("seed {seed}, change {change}: {changed}");
        assert!(verified.bound >= optimum, "{what}: bound {}, but {optimum}", verified.bound);
        assert!(verified.value.is_none_or(|value| value <= optimum), "{what}: {:?}", verified.value);
    }
    refused
}

fn check_many(first: u64, changes: usize) -> usize {
    const EACH: usize = 10;
    let seeds = first..first + (changes / EACH) as u64;
    seeds.map(|seed| check(&random_problem(&mut Random::new(seed)), seed, EACH)).sum()
}

#[test]
fn no_change_to_a_proof_proves_something_false() {
    let refused = check_many(0, 2000);
    assert!(refused > 1500, "only {refused} of 2000 were refused");
}

/// As many as `CONSONANT_CHANGES` says.
#[test]
#[ignore = "takes longer: CONSONANT_CHANGES=10000 cargo test --release -p consonant-map --test mutations -- --ignored --nocapture"]
fn no_change_of_many_to_a_proof_proves_something_false() {
    let changes =
        std::env::var("CONSONANT_CHANGES").ok().and_then(|count| count.parse().ok()).unwrap_or(10_000);
    let refused = check_many(1_000_000, changes);
    println!("{refused} of {changes} changed proofs were refused, and no other proved anything false");
}
