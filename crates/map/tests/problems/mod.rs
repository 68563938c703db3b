//! Random small problems of every kind, and their optimum by enumeration.

use consonant_map::problem::{Factor, Kind, Literal, Problem, Variable};
use consonant_map::verify::value;

/// Numbers by xorshift.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        (0..8).for_each(|_| _ = dice.below(2));
        dice
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    /// Between −1 and 1.
    fn unit(&mut self) -> f64 {
        self.below(2_000_001) as f64 / 1e6 - 1.0
    }

    /// A score of the problem's magnitude; sometimes a tie, a large penalty, or none at all.
    fn score(&mut self, scale: f64, big: f64) -> f64 {
        match self.below(20) {
            0 => -big,
            1 => f64::NEG_INFINITY,
            2..5 => (self.below(5) as f64 - 2.0) * scale,
            5 => big * self.unit(),
            _ => self.unit() * scale,
        }
    }

    fn sample(&mut self, from: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..from).collect();
        for i in 0..count.min(from) {
            let j = i + self.below(from - i);
            all.swap(i, j);
        }
        all.truncate(count);
        all
    }
}

/// A problem of up to eight variables.
pub fn random_problem(dice: &mut Dice) -> Problem {
    let scale = [1e-15, 1e-9, 1e-3, 1.0, 1.0, 1.0, 1.0, 1e3, 1e9, 1e15][dice.below(10)];
    let big = scale * [1.0, 1.0, 1e3, 1e6, 1e9, 1e12, 1e15][dice.below(7)];
    let mut problem = Problem::new();
    let variables = 1 + dice.below(7);
    for index in 0..variables {
        let name = format!("v{index}");
        let variable = match dice.below(3) {
            0 => {
                let scores = (0..1 + dice.below(3)).map(|_| dice.score(scale, big)).collect();
                Variable { name, states: Vec::new(), scores, binary: false }
            }
            _ => Variable::binary(name, dice.score(scale, big)),
        };
        problem.variables.push(variable);
    }
    if dice.below(3) == 0 {
        problem.constant = scale * dice.unit();
    }
    for _ in 0..dice.below(6) {
        let factor = random_factor(dice, &problem, scale, big);
        problem.factors.push(factor);
    }
    problem
}

fn random_factor(dice: &mut Dice, problem: &Problem, scale: f64, big: f64) -> Factor {
    let count = problem.variables.len();
    let states = |v: usize| problem.variables[v].scores.len();
    if dice.below(4) == 0 {
        let many = 1 + dice.below(3.min(count));
        let chosen = dice.sample(count, many);
        let sizes: Vec<usize> = chosen.iter().map(|&v| states(v)).collect();
        let mut scores = |n: usize| (0..n).map(|_| dice.score(scale, big)).collect::<Vec<f64>>();
        let pairs: usize = sizes.windows(2).map(|w| w[0] * w[1]).sum();
        let triples: usize = sizes.windows(3).map(|w| w.iter().product::<usize>()).sum();
        let edges: Vec<(usize, usize)> = (1..sizes.len()).map(|i| (i, 0)).collect();
        let cells: usize = edges.iter().map(|&(a, b)| sizes[a] * sizes[b]).sum();
        let (a, b, c, d) = (scores(sizes.iter().product()), scores(pairs), scores(triples), scores(cells));
        let kind = match dice.below(4) {
            0 => Kind::Sequence { pairs: b, triples: (sizes.len() > 2).then_some(c) },
            1 => Kind::TreeLabelling { edges, tables: d },
            _ => Kind::Table { scores: a },
        };
        let scope = chosen.iter().map(|&v| v as u32).collect();
        return Factor { kind, literals: Vec::new(), scope };
    }
    let links = 1 + dice.below(count);
    let chosen = dice.sample(count, links);
    let mut literals: Vec<Literal> = chosen
        .iter()
        .map(|&v| Literal {
            variable: v as u32,
            state: if problem.variables[v].binary { 1 } else { dice.below(states(v)) as u32 },
            negated: dice.below(3) == 0,
        })
        .collect();
    let two = links == 2;
    let kind = match dice.below(14) {
        0 => Kind::ExactlyOne,
        1 => Kind::AtMostOne,
        2 => Kind::AtLeastOne,
        3 if two => Kind::Implies,
        4 if two => Kind::Pair { score: dice.score(scale, big) },
        5 if links >= 2 => Kind::OrWithOutput,
        6 if links >= 2 => Kind::AndWithOutput,
        7 if links >= 2 => Kind::XorWithOutput,
        8 => Kind::Budget { limit: dice.below(links + 1) },
        9 => {
            let costs: Vec<f64> = (0..links)
                .map(|_| [dice.below(5) as f64, 0.1 * dice.below(9) as f64][dice.below(2)])
                .collect();
            Kind::Knapsack { limit: 0.3 * dice.below(12) as f64, costs }
        }
        10 if links >= 2 => {
            let nodes = 2 + dice.below(2.min(links - 1));
            let mut arcs: Vec<(usize, usize)> = (1..nodes)
                .flat_map(|to| (0..nodes).filter(move |&from| from != to).map(move |from| (from, to)))
                .collect();
            arcs.truncate(links);
            literals.truncate(arcs.len());
            Kind::Arborescence { nodes, arcs, single_root: dice.below(2) == 0 }
        }
        11 => {
            let parents = (0..links)
                .map(|i| if i == 0 || dice.below(3) == 0 { None } else { Some(dice.below(i)) })
                .collect();
            let lengths = (0..links).map(|_| dice.below(4)).collect();
            let limited = dice.below(2) == 0;
            Kind::TreeBudget { parents, budget: limited.then(|| (lengths, dice.below(6))) }
        }
        12 if links >= 2 => {
            let pairs = (0..1 + dice.below(4)).map(|_| {
                let pair = dice.sample(links, 2);
                (pair[0], pair[1], scale * (1.0 + dice.unit()))
            });
            Kind::Cut { pairs: pairs.collect() }
        }
        _ => Kind::Pattern { score: dice.score(scale, big) },
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
