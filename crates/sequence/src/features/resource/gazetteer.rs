//! Lists of phrases, matched over several tokens.
//!
//! A phrase of one token after another is a path in a trie. The trie is stored as the set of the hashes of
//! its nodes, in one flat table that is read as it lies in the file: a million phrases take about ten
//! megabytes and no time to build at opening. A table has half of each hash, since where it stands tells most
//! of the other half: of a billion words about five are found in a list that does not have them.

use std::io::BufRead;

use consonant_learn::hash;
use consonant_learn::model::{Model, ModelWriter};

use super::super::FeatureError;
use super::super::value::lower_case;

const FORMAT: &str = "one phrase a line, its tokens separated by blanks";
/// Most nodes of the trie: one table of 1.5 GiB.
const MOST_NODES: usize = 1 << 28;
const ROOT: u64 = 0x6761_7a65_7474_6565;

/// Where in a phrase a token stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// In none.
    #[default]
    Outside,
    /// It begins one.
    Begin,
    /// It is inside one.
    Inside,
    /// It ends one.
    End,
    /// It is one.
    Single,
}

impl Place {
    /// The letter of the BIESO notation.
    pub fn letter(self) -> char {
        match self {
            Self::Outside => 'O',
            Self::Begin => 'B',
            Self::Inside => 'I',
            Self::End => 'E',
            Self::Single => 'S',
        }
    }
}

/// A named list of phrases.
#[derive(Debug, Clone)]
pub struct Gazetteer {
    name: String,
    /// Whether its words, and those that are looked up, are in lower case.
    any_case: bool,
    /// Open addressing, a third of it free; 0 is free, the lowest bit says that a phrase ends here.
    nodes: Vec<u32>,
}

impl Gazetteer {
    /// Reads a list, one phrase a line; phrases are found as they are written there.
    pub fn read(name: &str, input: impl BufRead) -> Result<Self, FeatureError> {
        Self::read_as(name, input, false)
    }

    /// Reads a list, one phrase a line; phrases are found in lower case, capitals or any other.
    pub fn read_any_case(name: &str, input: impl BufRead) -> Result<Self, FeatureError> {
        Self::read_as(name, input, true)
    }

    fn read_as(name: &str, input: impl BufRead, any_case: bool) -> Result<Self, FeatureError> {
        let resource = || format!("gazetteer {name}");
        let mut nodes: Vec<u64> = Vec::new();
        let mut lower = String::new();
        for line in input.lines() {
            let line = line.map_err(|source| FeatureError::Read { resource: resource(), source })?;
            let mut node = ROOT;
            let before = nodes.len();
            for token in line.split_whitespace() {
                let token = if any_case { lower_case(token, &mut lower) } else { token };
                node = step(node, hash::key(token.as_bytes()));
                nodes.push(node & !1);
            }
            if nodes.len() > before
                && let Some(last) = nodes.last_mut()
            {
                *last |= 1;
            }
            if nodes.len() > MOST_NODES {
                return Err(FeatureError::TooLarge {
                    resource: resource(),
                    found: nodes.len(),
                    most: MOST_NODES,
                });
            }
        }
        if nodes.is_empty() {
            return Err(FeatureError::EmptyResource { resource: resource(), expected: FORMAT });
        }
        Ok(Self::new(name, nodes, any_case))
    }

    /// A table of nodes.
    fn new(name: &str, mut nodes: Vec<u64>, any_case: bool) -> Self {
        // A node that both ends a phrase and goes on is listed twice; the one that ends comes last and is
        // kept.
        nodes.sort_unstable();
        nodes.dedup_by(|next, kept| {
            let same = (*next ^ *kept) < 2;
            if same {
                *kept = *next;
            }
            same
        });
        let mut table = vec![0; nodes.len() * 3 / 2 + 2];
        for node in nodes {
            let slot = free_slot(&table, node);
            table[slot] |= node as u32;
        }
        Self { name: name.to_owned(), any_case, nodes: table }
    }

    /// The name that features carry.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the keys of words in lower case are asked for.
    pub fn is_any_case(&self) -> bool {
        self.any_case
    }

    /// Finds the leftmost longest phrases among tokens, given by the keys of their values, and says where
    /// each token stands.
    pub fn places(&self, tokens: &[u64], places: &mut Vec<Place>) {
        places.clear();
        places.resize(tokens.len(), Place::Outside);
        let mut start = 0;
        while start < tokens.len() {
            let (mut node, mut longest) = (ROOT, 0);
            for (length, &token) in tokens[start..].iter().enumerate() {
                node = step(node, token);
                match self.find(node) {
                    None => break,
                    Some(true) => longest = length + 1,
                    Some(false) => {}
                }
            }
            match longest {
                0 => start += 1,
                1 => {
                    places[start] = Place::Single;
                    start += 1;
                }
                _ => {
                    places[start..start + longest].fill(Place::Inside);
                    places[start] = Place::Begin;
                    places[start + longest - 1] = Place::End;
                    start += longest;
                }
            }
        }
    }

    /// Whether this is a node, and if so, whether a phrase ends there.
    fn find(&self, node: u64) -> Option<bool> {
        let found = self.nodes[free_slot(&self.nodes, node)];
        (found != 0).then_some(found & 1 == 1)
    }

    pub(super) fn store(&self, writer: &mut ModelWriter, number: usize) {
        writer.array(section(number, self.any_case), &self.nodes);
    }

    pub(super) fn open(model: &Model, number: usize, name: &str) -> Result<Self, FeatureError> {
        let any_case = model.has(&section(number, true));
        let section = section(number, any_case);
        if !model.has(&section) {
            // Older models have whole hashes.
            let nodes = model.array::<u64>(&format!("gazetteer.{number}"))?;
            return Ok(Self::new(name, nodes.iter().copied().filter(|&node| node != 0).collect(), false));
        }
        let nodes = model.array::<u32>(&section)?.to_vec();
        if nodes.iter().all(|&node| node != 0) {
            return Err(FeatureError::Damaged { section, what: "its table has no free place".to_owned() });
        }
        Ok(Self { name: name.to_owned(), any_case, nodes })
    }
}

/// Where a model keeps the table of a list.
fn section(number: usize, any_case: bool) -> String {
    format!("gazetteer.{number}.{}", if any_case { "any-case" } else { "nodes" })
}

fn step(node: u64, token: u64) -> u64 {
    // Neither the free mark nor the mark of an end may be mistaken for a node.
    hash::combine(node & !1, token) & !1 | 2
}

/// The slot of the node, or the free one where it would stand.
fn free_slot(table: &[u32], node: u64) -> usize {
    let mut slot = (((node >> 32) * table.len() as u64) >> 32) as usize;
    while table[slot] != 0 && (table[slot] ^ node as u32) > 1 {
        slot = if slot + 1 == table.len() { 0 } else { slot + 1 };
    }
    slot
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(gazetteer: &Gazetteer, text: &str) -> String {
        let tokens: Vec<u64> = text.split(' ').map(|token| hash::key(token.as_bytes())).collect();
        let mut places = Vec::new();
        gazetteer.places(&tokens, &mut places);
        places.iter().map(|place| place.letter()).collect()
    }

    #[test]
    fn longest_phrases_win_and_do_not_overlap() {
        let list = "New York\nNew York City\nYork\n\nCity Hall\n";
        let gazetteer = Gazetteer::read("places", list.as_bytes()).unwrap();
        assert_eq!(letters(&gazetteer, "in New York City Hall today"), "OBIEOO");
        assert_eq!(letters(&gazetteer, "York New York City"), "SBIE");
        assert_eq!(letters(&gazetteer, "New Yorker"), "OO");
        assert_eq!(letters(&gazetteer, "New York"), "BE");
    }

    #[test]
    fn lists_for_any_case_ask_for_lower_case() {
        let gazetteer = Gazetteer::read_any_case("places", "New YORK\nÅrhus\n".as_bytes()).unwrap();
        assert!(gazetteer.is_any_case());
        assert_eq!(letters(&gazetteer, "new york or århus"), "BEOS");
        assert_eq!(letters(&gazetteer, "New York"), "OO");
    }

    #[test]
    fn matching_agrees_with_a_plain_search() {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let phrases: Vec<Vec<u64>> = (0..5).map(|_| (0..=next(3)).map(|_| next(3)).collect()).collect();
            let text: Vec<u64> = (0..12).map(|_| next(3)).collect();
            let list: String = phrases
                .iter()
                .map(|phrase| phrase.iter().map(|t| format!("{t} ")).collect::<String>() + "\n")
                .collect();
            let gazetteer = Gazetteer::read("g", list.as_bytes()).unwrap();
            let mut expected = vec!['O'; text.len()];
            let mut start = 0;
            while start < text.len() {
                let longest = phrases
                    .iter()
                    .filter(|phrase| text[start..].starts_with(phrase))
                    .map(Vec::len)
                    .max()
                    .unwrap_or(0);
                if longest == 1 {
                    expected[start] = 'S';
                } else if longest > 1 {
                    expected[start..start + longest].fill('I');
                    expected[start] = 'B';
                    expected[start + longest - 1] = 'E';
                }
                start += longest.max(1);
            }
            let words: Vec<String> = text.iter().map(u64::to_string).collect();
            assert_eq!(letters(&gazetteer, &words.join(" ")), expected.into_iter().collect::<String>());
        }
    }
}
