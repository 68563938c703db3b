//! AD3 against the truth on random small graphs.

use consonant_map::{Ad3, Ad3Options, Graph, Solution, Status};
use consonant_testing::Random;
use consonant_testing::graph::{Recipe, Sample};

#[test]
fn certificates_hold_on_random_graphs() {
    let (mut optimal, mut total) = (0, 0);
    for seed in 0..1500 {
        let recipe = Recipe {
            variables: 2 + seed as usize % 6,
            factors: 1 + seed as usize % 7,
            forbidden: if seed % 3 == 0 { 0.1 } else { 0.0 },
            scale: [1.0, 1e-3, 1e4][seed as usize % 3],
            ..Recipe::default()
        };
        let sample = Sample::new(seed, &recipe);
        let solution =
            Ad3::new(Ad3Options { max_iterations: 300, ..Default::default() }).solve(&sample.graph);
        sample.check(&solution, &format!("seed {seed}"));
        total += 1;
        optimal += solution.certificate.is_settled() as usize;
    }
    assert!(optimal * 2 > total, "{optimal} of {total} proven");
}

#[test]
fn stopping_early_still_tells_the_truth() {
    for seed in 0..300 {
        let sample = Sample::new(seed, &Recipe { variables: 6, factors: 8, ..Recipe::default() });
        let options =
            Ad3Options { max_iterations: 1 + seed as usize % 9, report_every: 3, ..Default::default() };
        sample.check(&Ad3::new(options).solve(&sample.graph), &format!("seed {seed}"));
    }
}

#[test]
fn the_scale_of_the_scores_changes_nothing() {
    for seed in 0..100 {
        let recipe = Recipe { variables: 7, factors: 8, ..Recipe::default() };
        let one = Sample::new(seed, &recipe);
        let thousand = Sample::new(seed, &Recipe { scale: 1024.0, ..recipe });
        let options = Ad3Options { max_iterations: 200, gap: 0.0, ..Default::default() };
        let a = Ad3::new(options.clone()).solve(&one.graph);
        let b = Ad3::new(options).solve(&thousand.graph);
        assert_eq!(a.certificate.iterations, b.certificate.iterations, "seed {seed}");
        let value = |solution: &Solution| solution.certificate.value().unwrap_or(f64::NEG_INFINITY);
        let tolerance = 1e-6 * (1.0 + value(&b).abs());
        assert!(
            value(&a) == value(&b) || (value(&a) * 1024.0 - value(&b)).abs() <= tolerance,
            "seed {seed}: {a:?} {b:?}"
        );
        let bounds_agree = a.certificate.bound() == b.certificate.bound()
            || (a.certificate.bound() * 1024.0 - b.certificate.bound()).abs()
                <= 1e-6 * (1.0 + b.certificate.bound().abs());
        assert!(bounds_agree, "seed {seed}: {} {}", a.certificate.bound(), b.certificate.bound());
    }
}

#[test]
fn warm_restart_after_a_change_of_scores_agrees_with_a_fresh_solve() {
    for seed in 0..200 {
        let mut sample = Sample::new(seed, &Recipe { variables: 6, factors: 5, ..Recipe::default() });
        let mut warm = Ad3::new(Ad3Options { max_iterations: 3000, ..Default::default() });
        warm.solve(&sample.graph);
        let mut random = Random::new(seed + 77);
        let scores: Vec<f64> = sample.graph.scores().iter().map(|s| s + 0.3 * random.uniform()).collect();
        sample.graph.set_scores(&scores).unwrap();
        let again = warm.solve(&sample.graph);
        let fresh = Ad3::new(Ad3Options { max_iterations: 3000, ..Default::default() }).solve(&sample.graph);
        if fresh.certificate.status() == Status::Infeasible {
            continue;
        }
        let tolerance = 1e-3 * (1.0 + fresh.certificate.bound().abs());
        assert!(
            (again.certificate.bound() - fresh.certificate.bound()).abs() < tolerance,
            "seed {seed}: {} {}",
            again.certificate.bound(),
            fresh.certificate.bound()
        );
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    // Enough that two threads share the work.
    const COUNT: usize = 24_000;
    let mut graph = consonant_map::Graph::new();
    let mut random = Random::new(5);
    let scores: Vec<f64> = (0..COUNT).map(|_| random.uniform()).collect();
    let variables = graph.binaries(&scores).unwrap();
    for i in 0..COUNT {
        let literals: Vec<_> = (0..3).map(|k| variables[(i * 31 + k * 977 + i * k) % COUNT]).collect();
        if literals[0] != literals[1] && literals[1] != literals[2] && literals[0] != literals[2] {
            graph.at_most_one(&literals).unwrap();
        }
    }
    let options = Ad3Options { max_iterations: 30, ..Default::default() };
    let one = Ad3::new(options.clone()).solve(&graph);
    let two = Ad3::new(Ad3Options { parallel: true, ..options }).solve(&graph);
    assert_eq!(one.marginals, two.marginals);
    assert_eq!(one.certificate.bound().to_bits(), two.certificate.bound().to_bits());
    assert_eq!(one.assignment(), two.assignment());
}

#[test]
fn contradictions_are_infeasible() {
    let mut graph = consonant_map::Graph::new();
    let x = graph.binaries(&[1.0, 2.0, 3.0]).unwrap();
    graph.exactly_one(&x).unwrap();
    graph.at_least_one([x[0]]).unwrap();
    graph.at_least_one([x[1]]).unwrap();
    let solution = Ad3::default().solve(&graph);
    assert_eq!(solution.certificate.status(), Status::Infeasible);
}

#[test]
fn empty_graphs_and_lone_variables_work() {
    let solution = Ad3::default().solve(&consonant_map::Graph::new());
    assert_eq!((solution.certificate.status(), solution.certificate.value()), (Status::Optimal, Some(0.0)));
    let mut graph = consonant_map::Graph::new();
    let x = graph.binary(-1.0).unwrap();
    let y = graph.choice(&[0.5, 2.5]).unwrap();
    let single = graph.choice(&[7.0]).unwrap();
    let solution = Ad3::default().solve(&graph);
    assert_eq!(solution.certificate.status(), Status::Optimal);
    assert!(!solution.is_true(x) && solution.is_true(y.is(1)) && solution.is_true(single.is(0)));
    assert!((solution.certificate.value().unwrap() - 9.5).abs() < 1e-9);
}

/// Where one solve ended is where another begins: nothing is left to do.
#[test]
fn a_solve_begins_from_a_division_of_the_scores() {
    let mut graph = Graph::new();
    let [a, b, c] = [1.5, 1.0, 0.3].map(|score| graph.binary(score).unwrap());
    let factors = [
        graph.at_most_one([a, b]).unwrap(),
        graph.at_most_one([b.into(), !c]).unwrap(),
        graph.exactly_one([a, c]).unwrap(),
    ];
    let mut solver = Ad3::default();
    let first = solver.solve(&graph);
    assert_eq!(first.certificate.status(), Status::Optimal);
    let divided: Vec<Vec<f64>> = factors.iter().map(|&id| solver.divided(&graph, id).collect()).collect();

    let mut again = Ad3::default();
    again.options.report_every = 1;
    let states = first.assignment().unwrap();
    again.begin(&graph, states.iter().map(|&state| f64::from(state)));
    for (&factor, scores) in factors.iter().zip(&divided) {
        again.divide(&graph, factor, scores);
        assert!(again.divided(&graph, factor).zip(scores).all(|(now, given)| (now - given).abs() < 1e-12));
    }
    let second = again.solve(&graph);
    assert_eq!((second.certificate.status(), second.assignment()), (Status::Optimal, first.assignment()));
    assert!(second.certificate.iterations <= 1, "{} iterations", second.certificate.iterations);
}
