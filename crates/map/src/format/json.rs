//! Our own form: variables by name, factors by kind.
//!
//! ```json
//! {
//!   "variables": [
//!     {"name": "rain", "score": 1.0},
//!     {"name": "sky", "states": ["clear", "cloudy"], "scores": [0.3, 0.1]}
//!   ],
//!   "factors": [
//!     {"kind": "implies", "over": ["rain", "sky=cloudy"]}
//!   ]
//! }
//! ```
//!
//! A literal is the name of a binary variable, `variable=state` for a choice (a state by name or number), or either with a
//! leading `!`. `docs/map.md` lists the kinds. A coverage problem may also be given as its four lists
//! (`lengths`, `budget`, `weights`, `sentences_of_concept`).

use super::{FormatError, NamedVariable, Problem};
use crate::model::{Graph, Literal, ModelError, Variable};
use crate::oracle::arborescence::{Arborescence, RootChildren};
use crate::oracle::sequence::Sequence;
use crate::oracle::tree_budget::BudgetedTree;
use crate::oracle::tree_labelling::TreeLabelling;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

/// The kinds of factors, as they are named in files.
pub const KINDS: [&str; 17] = [
    "exactly-one",
    "at-most-one",
    "at-least-one",
    "implies",
    "or-with-output",
    "and-with-output",
    "xor-with-output",
    "pair",
    "pattern",
    "budget",
    "knapsack",
    "table",
    "sequence",
    "tree-labelling",
    "arborescence",
    "tree-budget",
    "cut",
];

/// Reads a problem in JSON form.
pub fn read(text: &str) -> Result<Problem, FormatError> {
    let value: Value = serde_json::from_str(text).map_err(|e| FormatError {
        line: Some(e.line()),
        message: format!("column {}: not valid JSON: {}", e.column(), describe(&e)),
    })?;
    let root = object(&value, "the problem")?;
    if root.contains_key("sentences_of_concept") {
        return coverage(root);
    }
    let mut reader = Reader { graph: Graph::new(), variables: Vec::new(), by_name: FxHashMap::default() };
    for (i, variable) in array(root, "variables", "the problem")?.iter().enumerate() {
        reader.variable(variable, &format!("variables[{i}]"))?;
    }
    if let Some(constant) = root.get("constant") {
        let constant = number(constant, "constant")?;
        reader.graph.add_constant(constant).map_err(|e| wrong("constant", e))?;
    }
    let none = Vec::new();
    let factors = if root.contains_key("factors") { array(root, "factors", "the problem")? } else { &none };
    for (i, factor) in factors.iter().enumerate() {
        reader.factor(factor, &format!("factors[{i}]"))?;
    }
    known_keys(root, &["variables", "factors", "constant"], "the problem")?;
    Ok(Problem { graph: reader.graph, variables: reader.variables })
}

/// The error's own words without the position, which we give in our own form.
fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_string()
}

fn wrong(place: &str, problem: impl std::fmt::Display) -> FormatError {
    FormatError { line: None, message: format!("{place}: {problem}") }
}

fn object<'a>(value: &'a Value, place: &str) -> Result<&'a Map<String, Value>, FormatError> {
    value.as_object().ok_or_else(|| wrong(place, format!("expected an object, found {}", kind_of(value))))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn field<'a>(object: &'a Map<String, Value>, key: &str, place: &str) -> Result<&'a Value, FormatError> {
    object.get(key).ok_or_else(|| wrong(place, format!("`{key}` is missing")))
}

fn list<'a>(value: &'a Value, place: &str) -> Result<&'a Vec<Value>, FormatError> {
    value.as_array().ok_or_else(|| wrong(place, format!("expected a list, found {}", kind_of(value))))
}

fn array<'a>(object: &'a Map<String, Value>, key: &str, place: &str) -> Result<&'a Vec<Value>, FormatError> {
    list(field(object, key, place)?, &format!("{place}.{key}"))
}

fn string<'a>(value: &'a Value, place: &str) -> Result<&'a str, FormatError> {
    value.as_str().ok_or_else(|| wrong(place, format!("expected a string, found {}", kind_of(value))))
}

/// A number; `"-inf"` in quotes stands for minus infinity, which JSON cannot write.
fn number(value: &Value, place: &str) -> Result<f64, FormatError> {
    match value {
        Value::String(text) if text == "-inf" => Ok(f64::NEG_INFINITY),
        _ => value.as_f64().ok_or_else(|| {
            wrong(place, format!("expected a number (or \"-inf\" to forbid), found {}", kind_of(value)))
        }),
    }
}

fn whole(value: &Value, place: &str) -> Result<usize, FormatError> {
    let number = value.as_u64().and_then(|n| usize::try_from(n).ok());
    number.ok_or_else(|| wrong(place, format!("expected a whole number that is zero or more, found {value}")))
}

/// Numbers in a list that may be nested (rows of a table).
fn numbers(value: &Value, place: &str) -> Result<Vec<f64>, FormatError> {
    let mut flat = Vec::new();
    for (i, item) in list(value, place)?.iter().enumerate() {
        let place = format!("{place}[{i}]");
        match item {
            Value::Array(_) => flat.extend(numbers(item, &place)?),
            _ => flat.push(number(item, &place)?),
        }
    }
    Ok(flat)
}

fn known_keys(object: &Map<String, Value>, known: &[&str], place: &str) -> Result<(), FormatError> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(wrong(place, format!("unknown key `{key}`; expected {}", known.join(", ")))),
        None => Ok(()),
    }
}

struct Reader {
    graph: Graph,
    variables: Vec<NamedVariable>,
    by_name: FxHashMap<String, usize>,
}

impl Reader {
    fn variable(&mut self, value: &Value, place: &str) -> Result<(), FormatError> {
        let object = object(value, place)?;
        known_keys(object, &["name", "score", "states", "scores"], place)?;
        let name = string(field(object, "name", place)?, &format!("{place}.name"))?.to_string();
        if name.is_empty() || name.starts_with('!') || name.contains('=') {
            return Err(wrong(place, format!("the name `{name}` is empty or has `!` or `=` in it")));
        }
        if self.by_name.insert(name.clone(), self.variables.len()).is_some() {
            return Err(wrong(place, format!("there is a variable `{name}` already")));
        }
        let (variable, states): (Result<Variable, ModelError>, Vec<String>) = if object.contains_key("scores")
        {
            let scores = numbers(field(object, "scores", place)?, &format!("{place}.scores"))?;
            let states = match object.get("states") {
                None => Vec::new(),
                Some(names) => {
                    let names = list(names, &format!("{place}.states"))?;
                    let read = |name| string(name, &format!("{place}.states")).map(str::to_string);
                    names.iter().map(read).collect::<Result<Vec<_>, _>>()?
                }
            };
            if !states.is_empty() && states.len() != scores.len() {
                return Err(wrong(place, format!("{} states, but {} scores", states.len(), scores.len())));
            }
            (self.graph.choice(&scores).map(Into::into), states)
        } else {
            let score =
                object.get("score").map_or(Ok(0.0), |score| number(score, &format!("{place}.score")))?;
            (self.graph.binary(score).map(Into::into), Vec::new())
        };
        let variable = variable.map_err(|e| wrong(place, e))?;
        self.variables.push(NamedVariable { name, states, variable });
        Ok(())
    }

    fn named(&self, name: &str, place: &str) -> Result<&NamedVariable, FormatError> {
        let index = self.by_name.get(name);
        index.map(|&i| &self.variables[i]).ok_or_else(|| wrong(place, format!("unknown variable `{name}`")))
    }

    fn literal(&self, value: &Value, place: &str) -> Result<Literal, FormatError> {
        let text = string(value, place)?;
        let (negated, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let literal = match text.split_once('=') {
            None => match self.named(text, place)?.variable {
                Variable::Binary(binary) => binary.into(),
                Variable::Choice(_) => {
                    return Err(wrong(place, format!("`{text}` has several states; write `{text}=STATE`")));
                }
            },
            Some((name, state)) => {
                let named = self.named(name, place)?;
                let by_name = named.states.iter().position(|s| s == state);
                let index = by_name.or_else(|| state.parse().ok()).filter(|&s| s < named.variable.states());
                let index = index.ok_or_else(|| wrong(place, format!("`{name}` has no state `{state}`")))?;
                named.variable.is(index)
            }
        };
        Ok(if negated { !literal } else { literal })
    }

    fn literals(
        &self,
        object: &Map<String, Value>,
        key: &str,
        place: &str,
    ) -> Result<Vec<Literal>, FormatError> {
        let items = array(object, key, place)?;
        items.iter().enumerate().map(|(i, item)| self.literal(item, &format!("{place}.{key}[{i}]"))).collect()
    }

    fn scope(&self, object: &Map<String, Value>, place: &str) -> Result<Vec<Variable>, FormatError> {
        let items = array(object, "over", place)?;
        let variable = |(i, item)| {
            let place = format!("{place}.over[{i}]");
            string(item, &place).and_then(|name| self.named(name, &place)).map(|named| named.variable)
        };
        items.iter().enumerate().map(variable).collect()
    }

    fn factor(&mut self, value: &Value, place: &str) -> Result<(), FormatError> {
        let object = object(value, place)?;
        let kind = string(field(object, "kind", place)?, &format!("{place}.kind"))?;
        let place = &format!("{place} ({kind})");
        let keys: &[&str] = match kind {
            "or-with-output" | "and-with-output" | "xor-with-output" => &["kind", "over", "output"],
            "pair" | "pattern" => &["kind", "over", "score"],
            "budget" => &["kind", "over", "limit"],
            "knapsack" => &["kind", "over", "costs", "limit"],
            "table" => &["kind", "over", "scores"],
            "sequence" => &["kind", "over", "pairs", "triples"],
            "tree-labelling" => &["kind", "over", "edges", "tables"],
            "arborescence" => &["kind", "over", "arcs", "nodes", "single_root"],
            "tree-budget" => &["kind", "over", "parents", "lengths", "limit"],
            "cut" => &["kind", "over", "pairs"],
            _ => &["kind", "over"],
        };
        known_keys(object, keys, place)?;
        match kind {
            "table" | "sequence" | "tree-labelling" => self.over_variables(kind, object, place),
            "arborescence" | "tree-budget" | "cut" => self.structured(kind, object, place),
            _ => self.logic(kind, object, place),
        }
    }

    fn logic(&mut self, kind: &str, object: &Map<String, Value>, place: &str) -> Result<(), FormatError> {
        let over = self.literals(object, "over", place)?;
        let output = || self.literal(field(object, "output", place)?, &format!("{place}.output"));
        let score = || number(field(object, "score", place)?, &format!("{place}.score"));
        let two = || match over[..] {
            [a, b] => Ok((a, b)),
            _ => Err(wrong(place, format!("expected two literals, found {}", over.len()))),
        };
        let added = match kind {
            "exactly-one" => self.graph.exactly_one(&over).map(drop),
            "at-most-one" => self.graph.at_most_one(&over).map(drop),
            "at-least-one" => self.graph.at_least_one(&over).map(drop),
            "implies" => {
                let (premise, conclusion) = two()?;
                self.graph.implies(premise, conclusion).map(drop)
            }
            "or-with-output" => {
                let output = output()?;
                self.graph.or_with_output(&over, output).map(drop)
            }
            "and-with-output" => {
                let output = output()?;
                self.graph.and_with_output(&over, output).map(drop)
            }
            "xor-with-output" => {
                let output = output()?;
                self.graph.xor_with_output(&over, output).map(drop)
            }
            "pair" => {
                let ((a, b), score) = (two()?, score()?);
                self.graph.pair(a, b, score).map(drop)
            }
            "pattern" => {
                let score = score()?;
                self.graph.pattern(&over, score).map(drop)
            }
            "budget" => {
                let limit = whole(field(object, "limit", place)?, &format!("{place}.limit"))?;
                self.graph.budget(&over, limit).map(drop)
            }
            "knapsack" => {
                let costs = numbers(field(object, "costs", place)?, &format!("{place}.costs"))?;
                let limit = number(field(object, "limit", place)?, &format!("{place}.limit"))?;
                self.graph.knapsack(&over, &costs, limit).map(drop)
            }
            other => Err(ModelError::Oracle(format!(
                "unknown kind `{other}`; expected one of {}",
                KINDS.join(", ")
            ))),
        };
        added.map_err(|e| wrong(place, e))
    }

    /// Factors over whole variables.
    fn over_variables(
        &mut self,
        kind: &str,
        object: &Map<String, Value>,
        place: &str,
    ) -> Result<(), FormatError> {
        let scope = self.scope(object, place)?;
        let sizes: Vec<usize> = scope.iter().map(Variable::states).collect();
        let read = |key: &str| numbers(field(object, key, place)?, &format!("{place}.{key}"));
        let refuse = |e: crate::oracle::error::OracleError| wrong(place, e);
        let added = match kind {
            "table" => self.graph.table(&scope, &read("scores")?),
            "sequence" => {
                // One table for all positions, or one for each.
                let pairs = read("pairs")?;
                let uniform = sizes.windows(2).all(|w| w[0] == w[1])
                    && sizes.first().is_some_and(|&states| pairs.len() == states * states);
                let chain = match (uniform, object.contains_key("triples")) {
                    (true, false) => Sequence::uniform(sizes.len(), sizes[0], pairs),
                    (true, true) => {
                        Sequence::uniform_second_order(sizes.len(), sizes[0], pairs, read("triples")?)
                    }
                    (false, false) => Sequence::first_order(&sizes, pairs),
                    (false, true) => Sequence::second_order(&sizes, pairs, read("triples")?),
                };
                self.graph.oracle_over(chain.map_err(refuse)?, &scope)
            }
            _ => {
                let edges = array(object, "edges", place)?;
                let edges: Result<Vec<_>, _> = edges
                    .iter()
                    .enumerate()
                    .map(|(i, e)| pair_of(e, &format!("{place}.edges[{i}]")))
                    .collect();
                let tree = TreeLabelling::new(&sizes, &edges?, &read("tables")?).map_err(refuse)?;
                self.graph.oracle_over(tree, &scope)
            }
        };
        added.map(drop).map_err(|e| wrong(place, e))
    }

    /// Factors over literals with a structure of their own.
    fn structured(
        &mut self,
        kind: &str,
        object: &Map<String, Value>,
        place: &str,
    ) -> Result<(), FormatError> {
        let over = self.literals(object, "over", place)?;
        let refuse = |e: crate::oracle::error::OracleError| wrong(place, e);
        let added = match kind {
            "arborescence" => {
                let arcs = array(object, "arcs", place)?;
                let arcs: Result<Vec<_>, _> = arcs
                    .iter()
                    .enumerate()
                    .map(|(i, arc)| pair_of(arc, &format!("{place}.arcs[{i}]")))
                    .collect();
                let arcs = arcs?;
                let largest = arcs.iter().map(|&(head, modifier)| head.max(modifier) + 1).max().unwrap_or(1);
                let nodes =
                    object.get("nodes").map_or(Ok(largest), |n| whole(n, &format!("{place}.nodes")))?;
                let roots = match object.get("single_root") {
                    None | Some(Value::Bool(false)) => RootChildren::Any,
                    Some(Value::Bool(true)) => RootChildren::One,
                    Some(other) => {
                        return Err(wrong(place, format!("single_root is {other}; expected true or false")));
                    }
                };
                if arcs.len() != over.len() {
                    return Err(wrong(place, format!("{} arcs, but {} literals", arcs.len(), over.len())));
                }
                self.graph.oracle(Arborescence::new(nodes, &arcs, roots).map_err(refuse)?, &over)
            }
            "tree-budget" => {
                let parents = array(object, "parents", place)?;
                let parent = |(i, value): (usize, &Value)| match value {
                    Value::Null => Ok(None),
                    _ => whole(value, &format!("{place}.parents[{i}]")).map(Some),
                };
                let parents: Result<Vec<_>, _> = parents.iter().enumerate().map(parent).collect();
                let tree = match object.get("limit") {
                    None => BudgetedTree::unlimited(&parents?),
                    Some(limit) => {
                        let lengths = array(object, "lengths", place)?;
                        let length = |(i, n)| whole(n, &format!("{place}.lengths[{i}]")).map(|n| n as i64);
                        let lengths: Result<Vec<i64>, _> = lengths.iter().enumerate().map(length).collect();
                        let limit = whole(limit, &format!("{place}.limit"))? as i64;
                        BudgetedTree::new(&parents?, &lengths?, limit)
                    }
                };
                self.graph.oracle(tree.map_err(refuse)?, &over)
            }
            _ => {
                let mut pairs = Vec::new();
                for (i, value) in array(object, "pairs", place)?.iter().enumerate() {
                    let place = format!("{place}.pairs[{i}]");
                    match &list(value, &place)?[..] {
                        [a, b, score] => {
                            pairs.push((whole(a, &place)?, whole(b, &place)?, number(score, &place)?))
                        }
                        other => {
                            let problem =
                                format!("expected [first, second, score], found {} entries", other.len());
                            return Err(wrong(&place, problem));
                        }
                    }
                }
                self.graph
                    .oracle(crate::oracle::cut::MinimumCut::new(over.len(), &pairs).map_err(refuse)?, &over)
            }
        };
        added.map(drop).map_err(|e| wrong(place, e))
    }
}

fn pair_of(value: &Value, place: &str) -> Result<(usize, usize), FormatError> {
    match &list(value, place)?[..] {
        [a, b] => Ok((whole(a, place)?, whole(b, place)?)),
        other => Err(wrong(place, format!("expected a pair, found {} entries", other.len()))),
    }
}

/// Sentences of some length, of which a budget may be chosen, and weighted concepts covered by them.
fn coverage(root: &Map<String, Value>) -> Result<Problem, FormatError> {
    let place = "the problem";
    known_keys(root, &["lengths", "budget", "weights", "sentences_of_concept"], place)?;
    let lengths = numbers(field(root, "lengths", place)?, "lengths")?;
    let weights = numbers(field(root, "weights", place)?, "weights")?;
    let covers = array(root, "sentences_of_concept", place)?;
    if covers.len() != weights.len() {
        return Err(wrong(
            place,
            format!("{} weights, but {} lists of sentences", weights.len(), covers.len()),
        ));
    }
    let budget = number(field(root, "budget", place)?, "budget")?;
    let mut graph = Graph::new();
    let sentences = graph.binaries(&vec![0.0; lengths.len()]).map_err(|e| wrong("lengths", e))?;
    let concepts = graph.binaries(&weights).map_err(|e| wrong("weights", e))?;
    graph.knapsack(&sentences, &lengths, budget).map_err(|e| wrong(place, e))?;
    for (i, (cover, &concept)) in covers.iter().zip(&concepts).enumerate() {
        let place = format!("sentences_of_concept[{i}]");
        let mut inputs = Vec::new();
        for sentence in list(cover, &place)? {
            let index = whole(sentence, &place)?;
            let binary = sentences.get(index);
            inputs.push(*binary.ok_or_else(|| wrong(&place, format!("there is no sentence {index}")))?);
        }
        let added = match inputs.is_empty() {
            true => graph.set_score(concept, f64::NEG_INFINITY),
            false => graph.or_with_output(&inputs, concept).map(drop),
        };
        added.map_err(|e| wrong(&place, e))?;
    }
    let name = |prefix: &str, i: usize, binary| NamedVariable {
        name: format!("{prefix}{i}"),
        states: Vec::new(),
        variable: Variable::Binary(binary),
    };
    let sentences = sentences.iter().enumerate().map(|(i, &b)| name("sentence", i, b));
    let concepts = concepts.iter().enumerate().map(|(i, &b)| name("concept", i, b));
    Ok(Problem { variables: sentences.chain(concepts).collect(), graph })
}
