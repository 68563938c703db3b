//! Every method against the truth on random small graphs.

use consonant_map::oracle::arborescence::{Arborescence, RootChildren};
use consonant_map::solver::{Limits, Method, Stop, solve};
use consonant_map::{Ad3, Ad3Options, Graph, Status};
use consonant_testing::Random;
use consonant_testing::graph::{Recipe, Sample};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn recipe(seed: u64) -> Recipe {
    Recipe {
        variables: 2 + seed as usize % 6,
        factors: 1 + seed as usize % 7,
        forbidden: if seed.is_multiple_of(3) { 0.1 } else { 0.0 },
        scale: [1.0, 1e-3, 1e4][seed as usize % 3],
        ..Recipe::default()
    }
}

fn run(method: Method, seeds: u64, limits: &Limits) -> (usize, usize) {
    let mut proven = 0;
    for seed in 0..seeds {
        let sample = Sample::new(seed, &recipe(seed));
        let solution = solve(&sample.graph, method, limits).unwrap();
        sample.check(&solution, &format!("{method:?}, seed {seed}"));
        proven += solution.certificate.is_settled() as usize;
    }
    (proven, seeds as usize)
}

/// What people plot: bounds that fall, values that rise, and the answer at the end.
#[test]
fn traces_end_with_the_answer() {
    let mut graph = Graph::new();
    let x = graph.binaries(&[1.0, 2.0, -0.5]).unwrap();
    graph.at_most_one([x[0], x[1]]).unwrap();
    graph.at_least_one([x[1], x[2]]).unwrap();
    let limits = Limits { trace: true, ..Limits::default() };
    let solution = solve(&graph, Method::Exact, &limits).unwrap();
    let last = solution.trace.last().expect("a point");
    assert_eq!(Some(last.value), solution.certificate.value());
    assert_eq!(last.bound, solution.certificate.bound());
    assert!(solution.trace.iter().all(|point| point.bound.is_finite()));
    assert!(solution.trace.windows(2).all(|pair| pair[1].bound <= pair[0].bound));
}

#[test]
fn exact_search_proves_everything() {
    let (proven, total) = run(Method::Exact, 1500, &Limits::default());
    assert_eq!(proven, total);
}

#[test]
fn exact_search_stopped_early_still_tells_the_truth() {
    run(Method::Exact, 500, &Limits { max_iterations: Some(1), ..Limits::default() });
}

/// A few iterations of AD3, and the gap that they leave closed by branch and bound.
#[test]
fn branching_over_ad3_proves_everything() {
    let mut left = 0;
    for seed in 0..1500 {
        let recipe = match seed % 2 {
            0 => recipe(seed),
            _ => Recipe { whole: true, scale: 5.0, tables: false, oracles: false, ..recipe(seed) },
        };
        let sample = Sample::new(seed, &recipe);
        let mut solver = Ad3::new(Ad3Options { max_iterations: 30, ..Ad3Options::default() });
        let relaxed = solver.solve(&sample.graph);
        left += !relaxed.certificate.is_settled() as usize;
        // What was learned of a node does not hold for the whole when it goes on.
        let few = Limits { max_iterations: Some(2), ..Limits::default() };
        let begun = solver.close(&sample.graph, relaxed.clone(), &few);
        sample.check(&begun, &format!("seed {seed}"));
        let solution = solver.close(&sample.graph, relaxed, &Limits::default());
        sample.check(&solution, &format!("seed {seed}"));
        assert!(solution.certificate.is_settled(), "seed {seed}");
    }
    assert!(left > 200, "{left} gaps were left to close");
}

/// Queens that must not attack each other, with a score for each field: any relaxation is loose here, so that
/// search over AD3's bound and search on tables both have their turns.
#[test]
fn turns_of_exact_search_agree_wherever_they_are_stopped() {
    const SIDE: usize = 7;
    let mut random = Random::new(1);
    let scores: Vec<f64> = (0..SIDE * SIDE).map(|_| random.uniform()).collect();
    let mut graph = Graph::new();
    let x = graph.binaries(&scores).unwrap();
    let line = |on: &dyn Fn(usize, usize) -> bool| -> Vec<_> {
        (0..SIDE * SIDE).filter(|&f| on(f / SIDE, f % SIDE)).map(|f| x[f]).collect()
    };
    for i in 0..SIDE {
        graph.exactly_one(line(&|row, _| row == i)).unwrap();
        graph.exactly_one(line(&|_, column| column == i)).unwrap();
    }
    for i in 1..2 * SIDE - 2 {
        graph.at_most_one(line(&|row, column| row + column == i)).unwrap();
        graph.at_most_one(line(&|row, column| row + SIDE - 1 - column == i)).unwrap();
    }
    let whole = solve(&graph, Method::Exact, &Limits { trace: true, ..Limits::default() }).unwrap();
    assert_eq!(whole.certificate.status(), Status::Optimal);
    let best = whole.certificate.value().unwrap();
    assert!(whole.trace.is_sorted_by(|a, b| a.seconds <= b.seconds && a.iteration <= b.iteration));
    for nodes in [1, 2, 3, 5, 9] {
        let limits = Limits { max_iterations: Some(nodes), ..Limits::default() };
        let stopped = solve(&graph, Method::Exact, &limits).unwrap();
        assert!(
            stopped.certificate.value() <= Some(best + 1e-9) && best <= stopped.certificate.bound() + 1e-9,
            "{nodes} nodes"
        );
        assert!(stopped.certificate.iterations <= nodes, "{nodes} nodes");
    }
}

#[test]
fn subgradient_certificates_hold() {
    let (proven, total) =
        run(Method::Subgradient, 500, &Limits { max_iterations: Some(200), ..Limits::default() });
    assert!(proven * 3 > total, "{proven} of {total}");
}

#[test]
fn two_slave_certificates_hold() {
    let (proven, total) =
        run(Method::TwoSlave, 500, &Limits { max_iterations: Some(200), ..Limits::default() });
    assert!(proven * 2 > total, "{proven} of {total}");
}

#[test]
fn spanning_tree_certificates_hold() {
    let (proven, total) =
        run(Method::SpanningTrees, 500, &Limits { max_iterations: Some(200), ..Limits::default() });
    assert!(proven * 3 > total, "{proven} of {total}");
}

/// Trees with pairs and a budget: no tables, so that exact search branches over AD3's bound.
#[test]
fn exact_search_over_oracles_finds_the_best_tree() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let arcs: Vec<(usize, usize)> = (1..4)
            .flat_map(|modifier| {
                (0..4).filter(move |&head| head != modifier).map(move |head| (head, modifier))
            })
            .collect();
        let scores: Vec<f64> = arcs.iter().map(|_| random.uniform()).collect();
        let mut graph = Graph::new();
        let x = graph.binaries(&scores).unwrap();
        graph.oracle(Arborescence::new(4, &arcs, RootChildren::Any).unwrap(), &x).unwrap();
        let mut pairs = Vec::new();
        for _ in 0..8 {
            let (i, j) = (random.below(arcs.len()), random.below(arcs.len()));
            if i != j {
                pairs.push((i, j, 2.0 * random.uniform()));
                graph.pair(x[i], x[j], pairs[pairs.len() - 1].2).unwrap();
            }
        }
        let from_root: Vec<usize> = (0..arcs.len()).filter(|&a| arcs[a].0 == 0).collect();
        graph.budget(from_root.iter().map(|&a| x[a]), 2).unwrap();
        let mut best = f64::NEG_INFINITY;
        for mask in 0..1usize << arcs.len() {
            let on = |a: usize| mask >> a & 1 == 1;
            let head = |m: usize| {
                let mut heads = (0..arcs.len()).filter(|&a| on(a) && arcs[a].1 == m).map(|a| arcs[a].0);
                heads.next().filter(|_| heads.next().is_none())
            };
            let reaches_root = |m: usize| {
                let end = (0..4).try_fold(m, |node, _| if node == 0 { Some(0) } else { head(node) });
                end == Some(0) && head(m).is_some()
            };
            if !(1..4).all(reaches_root) || from_root.iter().filter(|&&a| on(a)).count() > 2 {
                continue;
            }
            let linear: f64 = (0..arcs.len()).filter(|&a| on(a)).map(|a| scores[a]).sum();
            let paired: f64 = pairs.iter().filter(|p| on(p.0) && on(p.1)).map(|p| p.2).sum();
            best = best.max(linear + paired);
        }
        let solution = solve(&graph, Method::Exact, &Limits::default()).unwrap();
        assert_eq!(solution.certificate.status(), Status::Optimal, "seed {seed}");
        let value = solution.certificate.value().unwrap();
        assert!((value - best).abs() < 1e-6, "seed {seed}: {value} is not {best}");
        let stopped =
            solve(&graph, Method::Exact, &Limits { max_iterations: Some(1), ..Limits::default() }).unwrap();
        assert!(
            stopped.certificate.bound() >= best - 1e-6 && stopped.certificate.value() <= Some(best + 1e-6),
            "seed {seed}"
        );
    }
}

/// A raised flag ends every method after its first step, with certificates that hold.
#[test]
fn a_raised_flag_ends_the_search_and_the_certificate_holds() {
    let raised = Stop::from(Arc::new(AtomicBool::new(true)));
    for (_, method) in Method::NAMES {
        let limits = Limits { stop: raised.clone(), ..Limits::default() };
        run(method, 60, &limits);
    }
}

/// A search that would go on for hours ends soon after another thread raises its flag.
#[test]
fn a_flag_is_heard_while_the_search_is_on() {
    let mut random = Random::new(1);
    let mut graph = Graph::new();
    let x = graph.binaries(&(0..200).map(|_| random.uniform()).collect::<Vec<f64>>()).unwrap();
    for i in 0..200 {
        for j in 0..i {
            graph.pair(x[i], x[j], random.uniform() - 0.55).unwrap();
        }
    }
    let flag = Arc::new(AtomicBool::new(false));
    let limits = Limits { stop: Stop::from(Arc::clone(&flag)), ..Limits::default() };
    let raise = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        flag.store(true, Ordering::Relaxed);
    });
    let start = std::time::Instant::now();
    let found = solve(&graph, Method::Exact, &limits).unwrap().certificate;
    raise.join().unwrap();
    assert!(found.value() <= Some(found.bound()) && start.elapsed().as_secs() < 30, "{found:?}");
}

/// Guests at tables that hold so many: every pair has a score that counts at one table.
fn seating(guests: usize, tables: usize, seats: usize, seed: u64) -> Graph {
    let (mut graph, mut random) = (Graph::new(), Random::new(seed));
    let guests: Vec<_> = (0..guests).map(|_| graph.choice(&vec![0.0; tables]).unwrap()).collect();
    for (i, a) in guests.iter().enumerate() {
        for b in &guests[..i] {
            let score = 2.0 * random.uniform() - 1.0;
            (0..tables).for_each(|table| graph.pair(a.is(table), b.is(table), score).map(drop).unwrap());
        }
    }
    for table in 0..tables {
        graph.budget(guests.iter().map(|guest| guest.is(table)), seats).unwrap();
    }
    graph
}

#[test]
fn a_few_nodes_seat_guests_well() {
    for seed in 0..10 {
        let graph = seating(9, 3, 3, seed);
        let best = solve(&graph, Method::Exact, &Limits::default()).unwrap().certificate;
        assert_eq!(best.status(), Status::Optimal);
        let early = solve(&graph, Method::Exact, &Limits { max_iterations: Some(2), ..Limits::default() });
        assert!(
            (early.unwrap().certificate.value().unwrap() - best.value().unwrap()).abs() < 1e-9,
            "seed {seed}"
        );
    }
}

#[test]
fn the_answer_is_not_worse_than_the_hint() {
    for method in [Method::Exact, Method::Ad3, Method::Subgradient] {
        for seed in 0..300 {
            let sample = Sample::new(seed, &recipe(seed));
            let best = solve(&sample.graph, Method::Exact, &Limits::default()).unwrap();
            let Some(states) = best.assignment() else { continue };
            let hint = Some(states[..sample.variables.len()].to_vec());
            let limits = Limits { max_iterations: Some(1), hint, ..Limits::default() };
            let solution = solve(&sample.graph, method, &limits).unwrap();
            sample.check(&solution, &format!("{method:?}, seed {seed}"));
            let (found, known) = (solution.certificate.value().unwrap(), best.certificate.value().unwrap());
            assert!(
                found >= known - 1e-9 * known.abs().max(1.0),
                "{method:?}, seed {seed}: {found}, {known}"
            );
        }
    }
    let mut graph = Graph::new();
    graph.binary(1.0).unwrap();
    for hint in [vec![2], vec![0, 0]] {
        let limits = Limits { hint: Some(hint), ..Limits::default() };
        assert!(solve(&graph, Method::Exact, &limits).is_err());
    }
}

/// A seating problem, whose answer the local search finds: guests at tables of a few seats, with scores of pairs.
#[test]
fn exact_search_and_its_walks_have_the_same_bits_for_any_number_of_threads() {
    let mut random = Random::new(9);
    let mut graph = Graph::new();
    let guests: Vec<_> = (0..12).map(|_| graph.choice(&[0.0; 3]).unwrap()).collect();
    for (at, one) in guests.iter().enumerate() {
        for other in &guests[..at] {
            let score = random.uniform();
            for table in 0..3 {
                graph.pair(one.is(table), other.is(table), score).unwrap();
            }
        }
    }
    for table in 0..3 {
        graph.budget(guests.iter().map(|guest| guest.is(table)), 4).unwrap();
    }
    let with = |threads: usize| {
        let limits = Limits { parallel: threads > 1, max_iterations: Some(5), ..Limits::default() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let solution = pool.install(|| solve(&graph, Method::Exact, &limits)).unwrap();
        let certificate = solution.certificate;
        let numbers = [certificate.value().unwrap(), certificate.bound()].map(f64::to_bits);
        (numbers, solution.assignment().map(<[u32]>::to_vec))
    };
    let one = with(1);
    assert!(one.1.is_some());
    for threads in [2, 3, 8] {
        assert_eq!(with(threads), one, "{threads} threads");
    }
}
