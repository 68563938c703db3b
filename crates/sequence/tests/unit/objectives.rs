use consonant_learn::hash::{combine, key};
use consonant_learn::problem::{Differentiate, Problem, Separate, Weights};
use consonant_learn::sparse::SparseVector;

use super::*;
use crate::corpus::{CorpusBuilder, CorpusOptions, Pairs};
use crate::inference::Update;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = combine(self.0, 5);
        ((u128::from(self.0) * bound as u128) >> 64) as usize
    }

    fn real(&mut self) -> f32 {
        self.below(2001) as f32 / 1000.0 - 1.0
    }
}

fn corpus(seed: u64, order: usize, unknown: bool, pair_features: bool, pairs: Pairs) -> Corpus {
    let mut random = Random(seed);
    let mut builder = CorpusBuilder::new(CorpusOptions {
        order,
        pairs,
        class_weights: vec![("B".into(), 1.5)],
        // Every other corpus has labels that share parts.
        parts_of: (seed % 2 == 1).then_some(shared_parts),
        ..CorpusOptions::default()
    });
    for sentence in 0..5 {
        builder.begin(1.0 + sentence as f32 / 4.0);
        // Sentences of one and two tokens are the edge cases of windows.
        for token in 0..if sentence < 2 { sentence + 1 } else { 2 + random.below(4) } {
            let label =
                ["A", "B", "C"][if sentence + token < 3 { sentence + token } else { random.below(3) }];
            let keys: Vec<u64> = (0..1 + random.below(3)).map(|_| key(&[random.below(4) as u8])).collect();
            let values: Vec<f32> = keys.iter().map(|_| 1.0 + random.real()).collect();
            let pair_keys = if pair_features { vec![key(&[9, random.below(2) as u8])] } else { Vec::new() };
            let known = !(unknown && sentence > 2 && random.below(4) == 0);
            builder.token(known.then_some(label), &keys, &values, &pair_keys);
        }
        builder.end();
    }
    builder.finish().unwrap()
}

fn shared_parts(label: &str, parts: &mut Vec<String>) {
    let letters = match label {
        "A" => "x",
        "B" => "xy",
        _ => "y",
    };
    parts.extend(letters.chars().map(String::from));
}

fn random_weights(count: usize, seed: u64) -> Vec<f32> {
    let mut random = Random(seed);
    (0..count).map(|_| random.real()).collect()
}

/// The loss from the definition of a diagram: every assignment of every piece is written down and scored.
fn brute_force(corpus: &Corpus, diagram: &Diagram, weights: &[f32]) -> f64 {
    let groups = diagram.groups();
    let (space, labels) = (&corpus.space, corpus.space.labels() as u32);
    let factor_score = |base: usize, path: &[u32], factor: &Factor, position: i64| -> f64 {
        let places: Vec<i64> = factor.offsets.iter().map(|&offset| position + i64::from(offset)).collect();
        if places.iter().any(|&place| place < 0 || place >= path.len() as i64) {
            return 0.0;
        }
        let gram: Vec<u32> = places.iter().map(|&place| path[place as usize]).collect();
        if gram.contains(&UNKNOWN) {
            return 0.0;
        }
        let group = groups.iter().position(|&group| group == factor.group).unwrap();
        let group = &weights[group * space.group_size()..][..space.group_size()];
        let mut score = 0.0;
        if gram.len() == 1 {
            corpus.sentences.features(base + places[0] as usize, |feature, value| {
                for &entry in std::iter::once(&gram[0]).chain(space.parts.of(gram[0])) {
                    let index = space.nodes.parameter(feature, entry);
                    score += index.map_or(0.0, |index| f64::from(value * group[index]));
                }
            });
        } else if let Some(number) = space.grams.number(&gram) {
            score += f64::from(group[space.gram_start() + number as usize]);
        }
        if gram.len() == 2 {
            for &feature in corpus.sentences.pair_features(base + places[1] as usize) {
                let index = space.pairs.parameter(feature, gram[0] * labels + gram[1]);
                score += index.map_or(0.0, |index| f64::from(group[space.pair_start() + index]));
            }
        }
        score
    };
    let mut loss = 0.0;
    for sentence in 0..corpus.sentences.len() {
        let gold = corpus.sentences.gold(sentence);
        let base = corpus.sentences.range(sentence).start;
        let weight = f64::from(corpus.sentences.weight(sentence));
        let class = |label: u32| f64::from(corpus.class_weights[label as usize]);
        for piece in &diagram.pieces {
            let (positions, variables): (Vec<i64>, Vec<i64>) = match &piece.variables {
                Variables::All => (vec![0], (0..gold.len() as i64).collect()),
                Variables::Offsets(offsets) => (
                    (0..gold.len() as i64).collect(),
                    offsets.iter().map(|&offset| i64::from(offset)).collect(),
                ),
            };
            for position in positions {
                let all = piece.variables == Variables::All;
                let mut open: Vec<i64> = variables
                    .iter()
                    .map(|variable| if all { *variable } else { position + variable })
                    .collect();
                if !all && gold.len() < open.len() {
                    if position > 0 {
                        continue;
                    }
                    open = (0..gold.len() as i64).collect();
                }
                if open.iter().any(|&place| place < 0 || place >= gold.len() as i64) {
                    continue;
                }
                if !all && open.iter().any(|&place| gold[place as usize] == UNKNOWN) {
                    continue;
                }
                if gold.iter().all(|&label| label == UNKNOWN) {
                    continue;
                }
                let score = |path: &[u32]| -> f64 {
                    let anchors: Vec<i64> = if all {
                        (0..gold.len() as i64).collect()
                    } else {
                        vec![position.min(open[0] - i64::from(variables[0] as i32))]
                    };
                    anchors
                        .iter()
                        .map(|&at| {
                            piece
                                .factors
                                .iter()
                                .map(|factor| factor_score(base, path, factor, at))
                                .sum::<f64>()
                        })
                        .sum()
                };
                let (mut free, mut right) = (0.0f64, 0.0f64);
                for code in 0..(labels as usize).pow(open.len() as u32) {
                    let mut path = gold.to_vec();
                    for (at, &place) in open.iter().enumerate() {
                        path[place as usize] =
                            (code / (labels as usize).pow(at as u32) % labels as usize) as u32;
                    }
                    let potential = score(&path).exp();
                    free += potential;
                    let agrees =
                        path.iter().zip(gold).all(|(label, &gold)| gold == UNKNOWN || *label == gold);
                    right += if agrees { potential } else { 0.0 };
                }
                let class_weight = if all {
                    let known: Vec<f64> =
                        gold.iter().filter(|&&label| label != UNKNOWN).map(|&label| class(label)).collect();
                    known.iter().sum::<f64>() / known.len() as f64
                } else {
                    // The position's own label decides how much a piece counts.
                    if gold[position as usize] == UNKNOWN { 0.0 } else { class(gold[position as usize]) }
                };
                loss += weight * class_weight * (free.ln() - right.ln());
            }
        }
    }
    loss
}

fn total_loss(objective: &Objective<'_>, weights: &[f32]) -> (f64, Vec<f64>) {
    let mut workspace = objective.workspace();
    let mut gradient = vec![0.0; objective.parameters()];
    let loss = (0..objective.examples())
        .map(|example| {
            let weights = Weights::new(weights);
            objective.differentiate(example, weights, &mut workspace, gradient.as_mut_slice()).unwrap()
        })
        .sum();
    (loss, gradient)
}

fn check_gradient(name: &str, objective: &Objective<'_>, weights: &[f32]) {
    let (_, gradient) = total_loss(objective, weights);
    let step = 0.02f32;
    for index in 0..weights.len() {
        let mut moved = weights.to_vec();
        moved[index] += step;
        let (above, _) = total_loss(objective, &moved);
        moved[index] -= 2.0 * step;
        let (below, _) = total_loss(objective, &moved);
        let measured = (above - below) / f64::from(2.0 * step);
        assert!(
            (measured - gradient[index]).abs() < 5e-3 * gradient[index].abs().max(1.0),
            "{name}, weight {index}: {measured} is not {}",
            gradient[index]
        );
    }
}

fn joint_pair() -> Diagram {
    Diagram::parse(
        "diagram pairs\npiece two\nvariables 0 1\nfactor 0\nfactor 1\nfactor -1 0\nfactor 0 1\nfactor 1 2",
    )
    .unwrap()
}

#[test]
fn losses_are_those_of_the_definition_and_gradients_those_of_finite_differences() {
    for seed in 0..6 {
        for order in 0..4 {
            for (unknown, pair_features) in
                [(false, false), (true, false), (false, order == 1), (true, order == 1)]
            {
                let pairs = if seed % 2 == 0 { Pairs::Observed } else { Pairs::All };
                let corpus = corpus(seed + 1, order, unknown, pair_features, pairs);
                let mut diagrams = vec![
                    Diagram::likelihood(order),
                    Diagram::memm(order),
                    Diagram::pseudo_likelihood(order),
                    Diagram::bidirectional(order),
                    Diagram::piecewise_pseudo_likelihood(order, true),
                    Diagram::piecewise_pseudo_likelihood(order, false),
                ];
                if order == 1 && !pair_features {
                    diagrams.push(joint_pair());
                }
                for mut diagram in diagrams {
                    diagram.decoding = crate::diagram::Decoding::Global;
                    let objective = Objective::new(&corpus, &diagram, None, 1, None).unwrap();
                    let weights = random_weights(objective.parameters(), seed + 77);
                    let (loss, _) = total_loss(&objective, &weights);
                    let expected = brute_force(&corpus, &diagram, &weights);
                    assert!(
                        (loss - expected).abs() < 1e-3 * expected.max(1.0),
                        "{} of order {order}, seed {seed}: {loss} is not {expected}",
                        diagram.name
                    );
                    if seed == 0 {
                        check_gradient(&diagram.name, &objective, &weights);
                    }
                }
            }
        }
    }
}

/// Nine labels, so that rows are short, long and full; values are 1, and some 0.
#[test]
fn short_rows_and_shut_weights_give_losses_of_the_definition_and_gradients_of_finite_differences() {
    for (fill, order) in [(true, 1), (false, 1), (false, 2)] {
        let mut builder = CorpusBuilder::new(CorpusOptions { fill, order, ..CorpusOptions::default() });
        for sentence in 0..9u8 {
            builder.begin(1.0);
            for token in 0..1 + sentence % 4 {
                let label = (sentence + 5 * token) % 9;
                let keys = [key(b"all"), key(&[1, label % 3]), key(&[2, label, token]), key(b"odd")];
                let odd = f32::from(label % 2);
                builder.token(Some(&label.to_string()), &keys, &[1.0, 1.0, 1.0, odd], &[]);
            }
            builder.end();
        }
        let corpus = builder.finish().unwrap();
        assert!((0..corpus.sentences.tokens()).all(|token| {
            corpus.sentences.short_rows(token..token + 1, 9).count() > 0
                && !corpus.sentences.long_rows(token).0.is_empty()
        }));
        let (space, diagram) = (&corpus.space, Diagram::likelihood(order));
        let features = 0..space.nodes.features() as u32;
        let mut trained: Vec<usize> = features
            .flat_map(|feature| (0..9).filter_map(move |label| space.nodes.parameter(feature, label)))
            .chain(space.gram_start()..space.group_size())
            .collect();
        trained.sort_unstable();
        assert_eq!(trained.len() < space.group_size(), !fill);
        let objective = Objective::new(&corpus, &diagram, None, 1, None).unwrap();
        let mut weights = vec![0.0; space.group_size()];
        trained.iter().zip(random_weights(trained.len(), 5)).for_each(|(&at, weight)| weights[at] = weight);
        let ((loss, gradient), expected) =
            (total_loss(&objective, &weights), brute_force(&corpus, &diagram, &weights));
        assert!((loss - expected).abs() < 1e-3 * expected, "{loss} is not {expected}");
        for index in 0..weights.len() {
            if trained.binary_search(&index).is_err() {
                assert_eq!(gradient[index], 0.0, "weight {index} is shut");
                continue;
            }
            let at = |step: f32| {
                let mut moved = weights.clone();
                moved[index] += step;
                total_loss(&objective, &moved).0
            };
            let measured = (at(0.02) - at(-0.02)) / 0.04;
            let wanted = gradient[index];
            assert!(
                (measured - wanted).abs() < 5e-3 * wanted.abs().max(1.0),
                "{index}: {measured} is not {wanted}"
            );
        }
    }
}

#[test]
fn nota_losses_are_those_of_the_paper() {
    let threshold = Nota::Threshold { probability: 0.3, after: 1 };
    let sampled = Nota::Sampled { count: 2, draws: 1 };
    for nota in [Nota::Exhaustive, sampled, threshold] {
        for (pair_features, both) in [(false, false), (true, false), (false, true), (true, true)] {
            check_nota(nota, pair_features, both);
        }
    }
}

/// -log φ(gold) + Σ log(1 + Σ_y φ(y)) over the gold condition and the wrong ones, label by label.
fn check_nota(nota: Nota, pair_features: bool, both: bool) {
    let corpus = corpus(3, 1, false, pair_features, Pairs::Observed);
    let labels = corpus.space.labels() as u32;
    let weights = random_weights(corpus.space.group_size(), 4);
    let negatives = match nota {
        Nota::Threshold { probability, .. } => {
            Negatives::above(&corpus, &weights, probability, both).unwrap()
        }
        _ => Negatives::choose(&corpus, nota, both, 9),
    };
    let diagram = match both {
        true => Diagram::pseudo_likelihood_nota(nota),
        false => Diagram::nota(nota, crate::diagram::Decoding::Local),
    };
    let objective = Objective::new(&corpus, &diagram, None, 9, Some(negatives.clone())).unwrap();
    let (loss, _) = total_loss(&objective, &weights);
    let mut expected = 0.0;
    let mut counted = 0;
    for sentence in 0..corpus.sentences.len() {
        let gold = corpus.sentences.gold(sentence);
        for (position, &label) in gold.iter().enumerate() {
            let token = corpus.sentences.range(sentence).start + position;
            let mut nodes = vec![0.0; labels as usize];
            let here = token..token + 1;
            node_scores(&corpus, &corpus.sentences, here, &weights, 1.0, &mut Vec::new(), &mut nodes);
            let pair = |seeing: usize, previous: u32, label: u32| {
                let mut pairs = vec![0.0; (labels * labels) as usize];
                add_pair_scores(&corpus, &corpus.sentences, seeing, &weights, 1.0, &mut pairs);
                let edge = corpus.space.grams.number(&[previous, label]);
                pairs[(previous * labels + label) as usize]
                    + edge.map_or(0.0, |number| corpus.space.gram_weights(&weights)[number as usize])
            };
            let score = |[before, after]: [u32; 2], label: u32| {
                let mut score = nodes[label as usize];
                if before != UNKNOWN {
                    score += pair(token, before, label);
                }
                if after != UNKNOWN {
                    score += pair(token + 1, label, after);
                }
                f64::from(score)
            };
            let log_sum =
                |condition| (1.0 + (0..labels).map(|label| score(condition, label).exp()).sum::<f64>()).ln();
            let before = position.checked_sub(1).map_or(UNKNOWN, |before| gold[before]);
            let after = gold.get(position + 1).copied().filter(|_| both).unwrap_or(UNKNOWN);
            let around = [before, after];
            let mut terms = log_sum(around) - score(around, label);
            let side = |gold: u32| if gold == UNKNOWN { vec![UNKNOWN] } else { (0..labels).collect() };
            let every = side(before)
                .into_iter()
                .flat_map(|one| side(after).into_iter().map(move |other| [one, other]));
            let every: Vec<[u32; 2]> = every.filter(|&wrong| wrong != around).collect();
            let wrong = match &negatives {
                Negatives::All => every,
                Negatives::Listed(lists) => {
                    let listed = lists.1[lists.0[token] as usize..lists.0[token + 1] as usize].to_vec();
                    assert!(listed.iter().all(|wrong| every.contains(wrong)));
                    if let Nota::Sampled { count, .. } = nota {
                        assert_eq!(listed.len(), count.min(every.len()));
                    }
                    listed
                }
            };
            counted += wrong.len();
            terms += wrong.into_iter().map(log_sum).sum::<f64>();
            expected +=
                f64::from(corpus.sentences.weight(sentence) * corpus.class_weights[label as usize]) * terms;
        }
    }
    assert!(counted > 0 && (nota == Nota::Exhaustive) == matches!(negatives, Negatives::All));
    assert!((loss - expected).abs() < 1e-3 * expected, "{nota:?}, {both}: {loss} is not {expected}");
    check_gradient("nota", &objective, &weights);
}

#[test]
fn scales_have_the_gradient_of_finite_differences() {
    for pair_features in [false, true] {
        check_scales(&corpus(8, 1, false, pair_features, Pairs::All));
    }
}

fn check_scales(corpus: &Corpus) {
    let weights = random_weights(corpus.space.group_size(), 2);
    let scaling = Scaling::new(corpus, &weights).unwrap();
    let scales = vec![0.7, 1.2, 0.9, 1.1];
    let value = |scales: &[f32]| {
        let mut gradient = vec![0.0; 4];
        let mut workspace = scaling.workspace();
        let loss: f64 = (0..scaling.examples())
            .map(|at| {
                let scales = Weights::new(scales);
                scaling.differentiate(at, scales, &mut workspace, gradient.as_mut_slice()).unwrap()
            })
            .sum();
        (loss, gradient)
    };
    let (_, gradient) = value(&scales);
    for index in 0..4 {
        let mut moved = scales.clone();
        moved[index] += 0.01;
        let above = value(&moved).0;
        moved[index] -= 0.02;
        let measured = (above - value(&moved).0) / 0.02;
        assert!(
            (measured - gradient[index]).abs() < 5e-3 * gradient[index].abs().max(1.0),
            "{measured} is not {}",
            gradient[index]
        );
    }
}

/// The difference of features times the weights is the difference of scores, for every piece, cost and scale.
#[test]
fn violations_agree_with_the_differences_of_features() {
    for seed in 0..8 {
        for order in 0..3 {
            for pair_features in [false, order == 1] {
                let corpus = corpus(seed + 20, order, seed % 3 == 0, pair_features, Pairs::Observed);
                let mut diagrams = vec![
                    Diagram::likelihood(order),
                    Diagram::pseudo_likelihood(order),
                    Diagram::piecewise_pseudo_likelihood(order, true),
                    Diagram::memm(order.min(1)),
                ];
                if order == 1 && !pair_features {
                    diagrams.push(joint_pair());
                }
                for diagram in diagrams {
                    let objective = Objective::new(&corpus, &diagram, None, 1, None).unwrap();
                    let weights = random_weights(objective.parameters(), seed);
                    let mut workspace = objective.workspace();
                    for (cost, scale) in [(0.0, 1.0), (1.0, 1.0), (0.5, 0.25)] {
                        for example in 0..objective.examples() {
                            let mut difference = SparseVector::new();
                            let outcome = objective
                                .separate(
                                    example,
                                    Weights { values: &weights, scale },
                                    cost,
                                    &mut workspace,
                                    &mut difference,
                                )
                                .unwrap();
                            let dot: f32 = difference
                                .pairs()
                                .iter()
                                .map(|&(index, value)| scale * value * weights[index as usize])
                                .sum();
                            assert!(
                                (outcome.violation + dot).abs() < 1e-3,
                                "{}: {outcome:?} {dot}",
                                diagram.name
                            );
                            assert!(
                                outcome.violation + cost * outcome.cost >= -1e-3,
                                "the prediction must win with its cost"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_beam_of_one_and_the_general_beam_update_alike() {
    for seed in 0..10 {
        let corpus = corpus(seed + 50, 1 + seed as usize % 2, false, false, Pairs::All);
        let weights = random_weights(corpus.space.group_size(), seed);
        let narrow = EarlyUpdate::new(&corpus, (1, Update::Early), None).unwrap();
        let mut workspace = narrow.workspace();
        for sentence in 0..narrow.examples() {
            let (mut greedy, mut general) = (SparseVector::new(), SparseVector::new());
            let weights = Weights::new(&weights);
            narrow.separate(sentence, weights, 0.0, &mut workspace, &mut greedy).unwrap();
            narrow.beam(sentence, weights, &mut workspace, &mut general).unwrap();
            greedy.compact();
            general.compact();
            assert_eq!(greedy, general);
        }
    }
}

/// A wide beam loses nothing: its best prefixes are those of all sequences.
#[test]
fn later_updates_are_at_the_last_and_at_the_worst_prefix() {
    let mut later = 0;
    for seed in 0..20 {
        let corpus = corpus(seed + 70, 1 + seed as usize % 2, false, false, Pairs::All);
        let values = &random_weights(corpus.space.group_size(), seed)[..];
        let labels = corpus.space.labels() as u32;
        for update in [Update::Latest, Update::Most] {
            let wide = EarlyUpdate::new(&corpus, (10_000, update), None).unwrap();
            let mut workspace = wide.workspace();
            for sentence in 0..wide.examples() {
                let gold = corpus.sentences.gold(sentence);
                if gold.contains(&UNKNOWN) {
                    continue;
                }
                let mut difference = SparseVector::new();
                let weights = Weights::new(values);
                let found = wide.separate(sentence, weights, 0.0, &mut workspace, &mut difference).unwrap();
                // By how much the best prefix of each length is above that of gold.
                let range = corpus.sentences.range(sentence);
                let mut nodes = vec![0.0; gold.len() * labels as usize];
                node_scores(&corpus, &corpus.sentences, range, values, 1.0, &mut Vec::new(), &mut nodes);
                let score = |path: &[u32]| -> f64 {
                    let node = |(at, &label): (usize, &u32)| nodes[at * labels as usize + label as usize];
                    let sum: f32 = path.iter().enumerate().map(node).sum();
                    let grams = (2..=corpus.space.grams.order() + 1).flat_map(|length| path.windows(length));
                    let grams = grams.filter_map(|gram| corpus.space.grams.number(gram));
                    f64::from(
                        sum + grams.map(|gram| corpus.space.gram_weights(values)[gram as usize]).sum::<f32>(),
                    )
                };
                let above: Vec<f64> = (1..=gold.len())
                    .map(|length| {
                        let paths = (0..labels.pow(length as u32)).map(|number| {
                            (0..length as u32)
                                .map(|at| number / labels.pow(at) % labels)
                                .collect::<Vec<u32>>()
                        });
                        let most = paths.map(|path| score(&path)).fold(f64::NEG_INFINITY, f64::max);
                        most - score(&gold[..length])
                    })
                    .collect();
                let expected = match update {
                    Update::Most => above.iter().copied().fold(0.0, f64::max),
                    _ => above.iter().rev().copied().find(|&above| above > 1e-6).unwrap_or(0.0),
                };
                assert!(
                    (f64::from(found.violation) - expected).abs() < 1e-3,
                    "{update:?}: {found:?}, {above:?}"
                );
                later += usize::from(expected > 0.0);
            }
        }
    }
    assert!(later > 50, "{later}");
}
