//! Problems of the engine against enumeration, and proofs against the checker.

use consonant_map::problem::{Format, Problem, read};
use consonant_map::proof::{ProofOptions, prove};
use consonant_map::solver::{Limits, Method, solve};
use consonant_map::verify::{Proof, verify};
use consonant_map::{Graph, Solution, Status};
use consonant_testing::Random;
use consonant_testing::problem::{all, random_problem};

/// Problems with more assignments are read and not solved.
const MOST_ASSIGNMENTS: usize = 512;

/// The first byte chooses a form; what can be read is solved and proven.
pub fn read_and_solve(bytes: &[u8]) {
    let Some((&first, text)) = bytes.split_first() else { return };
    let format = Format::NAMES[first as usize % Format::NAMES.len()].1;
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Ok(problem) = read(text, format) else { return };
    let sizes = problem.variables.iter().map(|variable| variable.scores.len());
    let assignments = sizes.fold(1, |product: usize, size| product.saturating_mul(size));
    if assignments <= MOST_ASSIGNMENTS && problem.factors.len() <= 40 {
        settle(&problem);
    }
}

/// The bytes are the seed of a random problem of any kind and magnitude.
pub fn solve_random(bytes: &[u8]) {
    let seed = bytes.iter().fold(0u64, |seed, &byte| seed.wrapping_mul(257).wrapping_add(byte.into()));
    settle(&random_problem(&mut Random::new(seed)));
}

/// Solves by every method; what is claimed must be so, and what is proven must be accepted.
fn settle(problem: &Problem) {
    // What is worth minus infinity is forbidden, be it by the constant.
    let optimum = all(problem).first().map(|(value, _)| *value).filter(|value| *value > f64::NEG_INFINITY);
    let Ok(graph) = Graph::from_problem(problem) else { return };
    for (name, method) in Method::NAMES {
        let limits = Limits { time_limit: Some(2.0), ..Limits::default() };
        let Ok(solution) = solve(&graph, method, &limits) else { continue };
        claims(problem, &solution, optimum, name);
        let mut options = ProofOptions::default();
        options.branch = method == Method::Exact;
        let (proof, solution) =
            prove(problem, solution, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
        claims(problem, &solution, optimum, name);
        let text = proof.write().unwrap_or_else(|error| panic!("{name}: {error}"));
        let read = Proof::read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let verified = verify(problem, &read).unwrap_or_else(|error| panic!("{name}: {error}"));
        let certificate = solution.certificate;
        assert_eq!((verified.value, verified.bound), (certificate.value(), certificate.bound()), "{name}");
    }
}

fn claims(problem: &Problem, solution: &Solution, optimum: Option<f64>, name: &str) {
    let certificate = solution.certificate;
    let (status, value, bound) = (certificate.status(), certificate.value(), certificate.bound());
    let text = || format!("{name}: {status:?} {value:?} {bound}, but the optimum is {optimum:?}");
    let Some(optimum) = optimum else {
        assert!(matches!(status, Status::Infeasible | Status::Stopped), "{}", text());
        return;
    };
    let sizes: f64 = problem.scores().filter(|score| score.is_finite()).map(f64::abs).sum();
    let rounding = 1e-12 * (sizes + optimum.abs());
    assert!(status != Status::Infeasible, "{}", text());
    assert!(value.is_none_or(|value| value <= optimum + rounding), "{}", text());
    assert!(bound >= optimum - rounding, "{}", text());
    if status == Status::Optimal {
        let allowed = 1.1e-6 * optimum.abs().max(1.0) + rounding;
        assert!(value.is_some_and(|value| (value - optimum).abs() <= allowed), "{}", text());
    }
}

/// The first two bytes choose a problem; a proof that is accepted says nothing false of it.
pub fn check_proof(bytes: &[u8]) {
    let [a, b, text @ ..] = bytes else { return };
    let problem = random_problem(&mut Random::new(u64::from(*a) << 8 | u64::from(*b)));
    let Some(proof) = std::str::from_utf8(text).ok().and_then(|text| Proof::read(text).ok()) else { return };
    let Ok(verified) = verify(&problem, &proof) else { return };
    let optimum = all(&problem).first().map_or(f64::NEG_INFINITY, |(value, _)| *value);
    let sizes: f64 = problem.scores().filter(|score| score.is_finite()).map(f64::abs).sum();
    let rounding = 1e-12 * sizes;
    assert!(verified.bound >= optimum - rounding, "bound {} below {optimum}", verified.bound);
    assert!(
        verified.value.is_none_or(|value| value <= optimum + rounding),
        "{:?} above {optimum}",
        verified.value
    );
}

/// Proofs of some problems, as `check_proof` reads them.
pub fn proofs() -> Vec<Vec<u8>> {
    let proof = |seed: u64| {
        let problem = random_problem(&mut Random::new(seed));
        let graph = Graph::from_problem(&problem).ok()?;
        let solution = solve(&graph, Method::Exact, &Limits::default()).ok()?;
        let text = prove(&problem, solution, &ProofOptions::default()).ok()?.0.write().ok()?;
        Some([&[(seed >> 8) as u8, seed as u8][..], text.as_bytes()].concat())
    };
    (0..60).filter_map(proof).collect()
}
