//! Compares an oracle with a list of all its configurations.

use consonant_map::oracle::Oracle;

/// One configuration: the links it switches on, and the factor's own score for it.
pub struct Legal {
    pub on: Vec<usize>,
    pub inner: f64,
}

impl Legal {
    fn value(&self, scores: &[f64]) -> f64 {
        self.on.iter().fold(self.inner, |total, &link| total + scores[link])
    }

    fn marginals(&self, links: usize) -> Vec<f64> {
        let mut marginals = vec![0.0; links];
        self.on.iter().for_each(|&link| marginals[link] = 1.0);
        marginals
    }
}

/// A small generator of random numbers (SplitMix64), so that every failure can be repeated from its seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn score(&mut self, style: Style) -> f64 {
        match style {
            Style::Smooth => 4.0 * self.unit() - 2.0,
            Style::Ties => self.below(3) as f64 - 1.0,
            Style::Forbidding => match self.below(3) {
                0 => f64::NEG_INFINITY,
                _ => 4.0 * self.unit() - 2.0,
            },
            Style::VeryNegative => match self.below(4) {
                0 => -1e9,
                _ => self.below(3) as f64,
            },
            Style::Zero => 0.0,
        }
    }

    pub fn scores(&mut self, count: usize, style: Style) -> Vec<f64> {
        (0..count).map(|_| self.score(style)).collect()
    }
}

/// How random scores are drawn.
#[derive(Debug, Clone, Copy)]
pub enum Style {
    Smooth,
    Ties,
    Forbidding,
    VeryNegative,
    Zero,
}

pub const STYLES: [Style; 5] =
    [Style::Smooth, Style::Ties, Style::Forbidding, Style::VeryNegative, Style::Zero];

pub fn assert_close(found: f64, expected: f64, place: &str) {
    let close = found == expected || (found - expected).abs() <= 1e-9 * (1.0 + expected.abs());
    assert!(close, "{place}: found {found}, expected {expected}");
}

/// Checks value, legality, score, marginals and overlaps under scores of every style.
pub fn check<O: Oracle>(oracle: &O, legal: &[Legal], random: &mut Random) {
    let links = oracle.links();
    let mut workspace = O::Workspace::default();
    let mut best = O::Configuration::default();
    let mut seen: Vec<(O::Configuration, Vec<f64>)> = Vec::new();
    for style in STYLES {
        for _ in 0..3 {
            let scores = random.scores(links, style);
            let expected = legal.iter().map(|legal| legal.value(&scores)).fold(f64::NEG_INFINITY, f64::max);
            let value = oracle.maximize(&scores, &mut workspace, &mut best);
            assert_close(value, expected, &format!("value under {style:?} scores {scores:?}"));
            if value == f64::NEG_INFINITY {
                continue;
            }
            assert_eq!(value, oracle.score(&scores, &best), "maximize and score differ");

            let mut again = O::Configuration::default();
            let repeated = oracle.maximize(&scores, &mut O::Workspace::default(), &mut again);
            assert!(repeated == value && again == best, "the answer depends on the workspace");

            let mut marginals = vec![0.0; links];
            oracle.add_marginals(&best, 1.0, &mut marginals);
            let twin = legal
                .iter()
                .find(|legal| {
                    legal.marginals(links) == marginals && {
                        let value = legal.value(&scores);
                        (value - expected).abs() <= 1e-9 * (1.0 + expected.abs())
                    }
                })
                .is_some();
            assert!(twin, "the configuration is not legal, or not the best: {marginals:?}");
            oracle.add_marginals(&best, -0.25, &mut marginals);
            assert!(marginals.iter().all(|&marginal| marginal == 0.0 || marginal == 0.75));
            oracle.add_marginals(&best, 0.25, &mut marginals);

            seen.push((best.clone(), marginals));
            for (other, other_marginals) in &seen {
                let product: f64 =
                    seen[seen.len() - 1].1.iter().zip(other_marginals).map(|(a, b)| a * b).sum();
                assert_eq!(oracle.overlap(&best, other) as f64, product);
                assert_eq!(oracle.overlap(other, &best) as f64, product);
            }
        }
    }
}

/// Checks the best value with each link on.
pub fn check_max_marginals(
    links: usize,
    legal: &[Legal],
    random: &mut Random,
    mut max_marginals: impl FnMut(&[f64], &mut [f64]),
) {
    let mut found = vec![f64::NAN; links];
    for style in STYLES {
        let scores = random.scores(links, style);
        max_marginals(&scores, &mut found);
        for (link, &found) in found.iter().enumerate() {
            let expected = legal
                .iter()
                .filter(|legal| legal.on.contains(&link))
                .map(|legal| legal.value(&scores))
                .fold(f64::NEG_INFINITY, f64::max);
            assert_close(found, expected, &format!("max-marginal of link {link}, {style:?}"));
        }
    }
}

/// All joint states of variables with the given numbers of states, the last moving fastest.
pub fn joint_states(states: &[usize]) -> Vec<Vec<usize>> {
    states.iter().fold(vec![vec![]], |prefixes, &count| {
        prefixes
            .iter()
            .flat_map(|prefix| (0..count).map(move |state| [prefix.as_slice(), &[state]].concat()))
            .collect()
    })
}

/// The links that joint states switch on.
pub fn links_of(states: &[usize], joint: &[usize]) -> Vec<usize> {
    let mut offset = 0;
    let mut on = Vec::new();
    for (&count, &state) in states.iter().zip(joint) {
        on.push(offset + state);
        offset += count;
    }
    on
}
