//! Random small problems of every kind, and their optimum by enumeration.

use consonant_map::problem::{Factor, Kind, Literal, Problem, Variable};
use consonant_map::verify::value;

use crate::Random;

/// A score of the problem's magnitude; sometimes a tie, a large penalty, or none at all.
fn score(random: &mut Random, scale: f64, big: f64) -> f64 {
    match random.below(20) {
        0 => -big,
        1 => f64::NEG_INFINITY,
        2..5 => (random.below(5) as f64 - 2.0) * scale,
        5 => big * random.uniform(),
        _ => random.uniform() * scale,
    }
}

/// A problem of up to eight variables.
pub fn random_problem(random: &mut Random) -> Problem {
    let scale = [1e-15, 1e-9, 1e-3, 1.0, 1.0, 1.0, 1.0, 1e3, 1e9, 1e15][random.below(10)];
    let big = scale * [1.0, 1.0, 1e3, 1e6, 1e9, 1e12, 1e15][random.below(7)];
    let mut problem = Problem::new();
    let variables = 1 + random.below(7);
    for index in 0..variables {
        let name = format!("v{index}");
        let variable = match random.below(3) {
            0 => {
                let scores = (0..1 + random.below(3)).map(|_| score(random, scale, big)).collect();
                Variable { name, states: Vec::new(), scores, binary: false }
            }
            _ => Variable::binary(name, score(random, scale, big)),
        };
        problem.variables.push(variable);
    }
    if random.below(3) == 0 {
        problem.constant = scale * random.uniform();
    }
    for _ in 0..random.below(6) {
        let mut factor = random_factor(random, &problem, scale, big);
        if random.below(6) == 0 {
            repeat(random, &problem, &mut factor);
        }
        if random.below(8) == 0 {
            problem.factors.push(factor.clone());
        }
        problem.factors.push(factor);
    }
    problem
}

/// Lets a variable stand in a factor twice, if two of its places allow that.
fn repeat(random: &mut Random, problem: &Problem, factor: &mut Factor) {
    let places = factor.literals.len().max(factor.scope.len());
    if places < 2 {
        return;
    }
    let places = random.choose(2, places);
    let (one, other) = (places[0], places[1]);
    if factor.scope.is_empty() {
        let negated = factor.literals[other].negated;
        factor.literals[other] = Literal { negated, ..factor.literals[one] };
    } else {
        let states = |place: usize| problem.variables[factor.scope[place] as usize].scores.len();
        if states(one) == states(other) {
            factor.scope[other] = factor.scope[one];
        }
    }
}

fn random_factor(random: &mut Random, problem: &Problem, scale: f64, big: f64) -> Factor {
    let count = problem.variables.len();
    let states = |v: usize| problem.variables[v].scores.len();
    if random.below(4) == 0 {
        let many = 1 + random.below(3.min(count));
        let chosen = random.choose(many, count);
        let sizes: Vec<usize> = chosen.iter().map(|&v| states(v)).collect();
        let mut scores = |n: usize| (0..n).map(|_| score(random, scale, big)).collect::<Vec<f64>>();
        let pairs: usize = sizes.windows(2).map(|w| w[0] * w[1]).sum();
        let triples: usize = sizes.windows(3).map(|w| w.iter().product::<usize>()).sum();
        let edges: Vec<(usize, usize)> = (1..sizes.len()).map(|i| (i, 0)).collect();
        let cells: usize = edges.iter().map(|&(a, b)| sizes[a] * sizes[b]).sum();
        let (a, b, c, d) = (scores(sizes.iter().product()), scores(pairs), scores(triples), scores(cells));
        let kind = match random.below(4) {
            0 => Kind::Sequence { pairs: b, triples: (sizes.len() > 2).then_some(c) },
            1 => Kind::TreeLabelling { edges, tables: d },
            _ => Kind::Table { scores: a },
        };
        let scope = chosen.iter().map(|&v| v as u32).collect();
        return Factor { kind, literals: Vec::new(), scope };
    }
    let links = 1 + random.below(count);
    let chosen = random.choose(links, count);
    let mut literals: Vec<Literal> = chosen
        .iter()
        .map(|&v| Literal {
            variable: v as u32,
            state: if problem.variables[v].binary { 1 } else { random.below(states(v)) as u32 },
            negated: random.below(3) == 0,
        })
        .collect();
    let two = links == 2;
    let kind = match random.below(14) {
        0 => Kind::ExactlyOne,
        1 => Kind::AtMostOne,
        2 => Kind::AtLeastOne,
        3 if two => Kind::Implies,
        4 if two => Kind::Pair { score: score(random, scale, big) },
        5 if links >= 2 => Kind::OrWithOutput,
        6 if links >= 2 => Kind::AndWithOutput,
        7 if links >= 2 => Kind::XorWithOutput,
        8 => Kind::Budget { limit: random.below(links + 1) },
        9 => {
            let unit = [1.0, 1.0, 1.0, 1e-12, 1e12, 1e-200, 1e200][random.below(7)];
            let mut costs: Vec<f64> = (0..links)
                .map(|_| unit * [random.below(5) as f64, 0.1 * random.below(9) as f64][random.below(2)])
                .collect();
            if random.below(8) == 0 {
                costs[random.below(links)] = [1e-15, 1e15, 1e-290, 1e290][random.below(4)];
            }
            Kind::Knapsack { limit: unit * 0.3 * random.below(12) as f64, costs }
        }
        10 if links >= 2 => {
            let nodes = 2 + random.below(2.min(links - 1));
            let mut arcs: Vec<(usize, usize)> = (1..nodes)
                .flat_map(|to| (0..nodes).filter(move |&from| from != to).map(move |from| (from, to)))
                .collect();
            arcs.truncate(links);
            literals.truncate(arcs.len());
            Kind::Arborescence { nodes, arcs, single_root: random.below(2) == 0 }
        }
        11 => {
            let parents = (0..links)
                .map(|i| if i == 0 || random.below(3) == 0 { None } else { Some(random.below(i)) })
                .collect();
            let lengths = (0..links).map(|_| random.below(4)).collect();
            let limited = random.below(2) == 0;
            Kind::TreeBudget { parents, budget: limited.then(|| (lengths, random.below(6))) }
        }
        12 if links >= 2 => {
            let pairs = (0..1 + random.below(4)).map(|_| {
                let pair = random.choose(2, links);
                (pair[0], pair[1], scale * (1.0 + random.uniform()))
            });
            Kind::Cut { pairs: pairs.collect() }
        }
        _ => Kind::Pattern { score: score(random, scale, big) },
    };
    Factor { kind, literals, scope: Vec::new() }
}

/// All assignments that are allowed, with their values, the best first.
pub fn all(problem: &Problem) -> Vec<(f64, Vec<u32>)> {
    let sizes: Vec<u32> = problem.variables.iter().map(|v| v.scores.len() as u32).collect();
    let mut states = vec![0u32; sizes.len()];
    let mut found = Vec::new();
    loop {
        if let Ok(value) = value(problem, &states) {
            found.push((value, states.clone()));
        }
        let Some(place) = (0..sizes.len()).rev().find(|&i| states[i] + 1 < sizes[i]) else { break };
        states[place] += 1;
        states[place + 1..].fill(0);
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found
}
