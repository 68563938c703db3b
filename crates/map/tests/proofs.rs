//! No false certificate: random problems of all kinds and magnitudes against enumeration, each answer proven
//! and checked.

use consonant_map::problem::Problem;
use consonant_map::proof::{ProofOptions, prove};
use consonant_map::solver::{Limits, Method, solve};
use consonant_map::verify::{Proof, verify};
use consonant_map::{Graph, Solution, Status};
use consonant_testing::Random;
use consonant_testing::problem::{all, random_problem};

/// The typical size of a score (a geometric mean), of variables and of all: tables may become scores of variables.
fn scales(problem: &Problem) -> [f64; 2] {
    let mean = |scores: &mut dyn Iterator<Item = f64>| {
        let sizes: Vec<f64> = scores.filter(|s| s.is_finite() && *s != 0.0).map(|s| s.abs().ln()).collect();
        if sizes.is_empty() { 0.0 } else { (sizes.iter().sum::<f64>() / sizes.len() as f64).exp() }
    };
    let of_variables = mean(&mut problem.variables.iter().flat_map(|v| v.scores.iter().copied()));
    [of_variables, mean(&mut problem.scores())]
}

/// What a solution claims of a problem whose optimum is known (nothing: there is no solution).
fn check_claims(problem: &Problem, solution: &Solution, optimum: Option<f64>, what: &str) {
    let certificate = solution.certificate;
    let (status, value, bound) = (certificate.status(), certificate.value(), certificate.bound());
    let text = || format!("{what}: {optimum:?} {status:?} {value:?} {bound}");
    // A value is a sum of rounded numbers.
    let chosen = solution.assignment().map_or(0.0, |states| {
        problem.variables.iter().zip(states).map(|(v, &s)| v.scores[s as usize].abs()).sum::<f64>()
    });
    let rounding = 1e-13 * (chosen + value.unwrap_or(0.0).abs() + optimum.unwrap_or(0.0).abs());
    match optimum {
        None => assert!(matches!(status, Status::Infeasible | Status::Stopped), "{}", text()),
        Some(optimum) => {
            assert!(status != Status::Infeasible, "{}", text());
            assert!(value.is_none_or(|value| value <= optimum + rounding), "{}", text());
            assert!(bound >= optimum - rounding, "{}", text());
            if status == Status::Optimal {
                let largest = scales(problem).into_iter().fold(0.0, f64::max);
                let allowed = 1.1e-6 * optimum.abs().max(largest.min(1.0)) + rounding;
                assert!(value.is_some_and(|value| (value - optimum).abs() <= allowed), "{}", text());
            }
        }
    }
}

/// Solves by every method and checks every proof; how many there were.
fn check_problem(problem: &Problem, seed: u64) -> usize {
    let optimum = all(problem).first().map(|(value, _)| *value);
    let graph = Graph::from_problem(problem).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let mut proofs = 0;
    for (name, method) in Method::NAMES {
        let limits = Limits { time_limit: Some(5.0), ..Limits::default() };
        let Ok(solution) = solve(&graph, method, &limits) else { continue };
        let what = format!("seed {seed}, {name}");
        check_claims(problem, &solution, optimum, &what);
        let exact = method == Method::Exact;
        // Where scores differ by too many orders for sums of them to tell, an honest answer may be left open.
        let sizes: f64 = problem.scores().filter(|s| s.is_finite()).map(f64::abs).sum();
        let least = scales(problem).into_iter().fold(1.0, f64::min);
        let told = 1e-9 * sizes < 1e-7 * optimum.unwrap_or(0.0).abs().max(least);
        let settled = |solution: &Solution| !exact || !told || solution.certificate.is_settled();
        assert!(settled(&solution), "{what}: {:?}, {optimum:?}", solution.certificate);
        let mut options = ProofOptions::default();
        options.branch = exact;
        let (proof, solution) = prove(problem, solution, &options).unwrap_or_else(|e| panic!("{what}: {e}"));
        let what = format!("{what}, proven");
        check_claims(problem, &solution, optimum, &what);
        let text = proof.write().unwrap_or_else(|e| panic!("{what}: {e}"));
        let read = Proof::read(&text).unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
        let verified = verify(problem, &read).unwrap_or_else(|e| panic!("{what}: {e}"));
        let certificate = solution.certificate;
        assert_eq!((verified.value, verified.bound), (certificate.value(), certificate.bound()), "{what}");
        assert!(settled(&solution), "{what}: {certificate:?}, {optimum:?}");
        proofs += 1;
    }
    proofs
}

#[test]
fn random_problems_are_solved_and_proven() {
    for seed in 0..300 {
        check_problem(&random_problem(&mut Random::new(seed)), seed);
    }
}

/// As many as `CONSONANT_GRAPHS` says, from `CONSONANT_SEED` on.
#[test]
#[ignore = "takes long: CONSONANT_GRAPHS=100000 cargo test --release -p consonant-map --test proofs -- --ignored"]
fn many_random_problems_are_solved_and_proven() {
    let number =
        |name: &str, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (first, count): (u64, u64) = (number("CONSONANT_SEED", 1_000_000), number("CONSONANT_GRAPHS", 2000));
    let (mut proofs, mut failed) = (0, 0);
    for seed in first..first + count {
        match std::panic::catch_unwind(|| check_problem(&random_problem(&mut Random::new(seed)), seed)) {
            Ok(written) => proofs += written,
            Err(_) => {
                println!("seed {seed} failed");
                failed += 1;
            }
        }
    }
    println!("{count} problems, {proofs} proofs, {failed} problems with a false or missing proof");
    assert_eq!(failed, 0);
}
