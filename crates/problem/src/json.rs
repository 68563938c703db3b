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
//! A literal is the name of a binary variable, `variable=state` for a choice (a state by name or number), or
//! either with a leading `!`. `docs/map.md` lists the kinds. A coverage problem may also be given as its four
//! lists (`lengths`, `budget`, `weights`, `sentences_of_concept`).

use std::fmt;
use std::io::Read;

use crate::format::FormatError;
use crate::names::Names;
use crate::{Factor, Kind, Literal, Problem, Variable};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Reads a problem in JSON form. Variables and factors are taken one by one: a tree of all that the text says would be
/// many times as large as the problem.
pub fn read(text: &str) -> Result<Problem, FormatError> {
    read_with(serde_json::Deserializer::from_str(text))
}

/// Reads a problem without having its text as a whole, which may be as large as the problem. This takes somewhat longer.
pub fn read_from(source: impl Read) -> Result<Problem, FormatError> {
    read_with(serde_json::Deserializer::from_reader(source))
}

fn read_with<'de>(
    mut source: serde_json::Deserializer<impl serde_json::de::Read<'de>>,
) -> Result<Problem, FormatError> {
    let mut root = Root::default();
    let parsed = root.deserialize(&mut source).and_then(|()| source.end());
    if let Some(failure) = root.failure {
        return Err(failure);
    }
    parsed.map_err(|e| FormatError {
        line: Some(e.line()),
        message: {
            let what = if e.is_data() { "" } else { "not valid JSON: " };
            format!("column {}: {what}{}", e.column(), describe(&e))
        },
    })?;
    let Root { mut reader, rest, early, has_variables, .. } = root;
    if rest.contains_key("sentences_of_concept") {
        return coverage(&rest);
    }
    if !has_variables {
        array(&rest, VARIABLES, "the problem")?;
    }
    for (i, factor) in early.iter().enumerate() {
        reader.stated(i, factor)?;
    }
    if let Some(constant) = rest.get("constant") {
        reader.problem.constant = number(constant, "constant")?;
    }
    known_keys(&rest, &[VARIABLES, FACTORS, "constant", "minimize"], "the problem")?;
    match rest.get("minimize") {
        None | Some(Value::Bool(false)) => {}
        Some(Value::Bool(true)) => reader.problem.minimize().map_err(|e| wrong("the problem", e))?,
        Some(other) => return Err(wrong("minimize", format!("expected true or false, found {other}"))),
    }
    Ok(reader.problem)
}

const VARIABLES: &str = "variables";
const FACTORS: &str = "factors";

/// A problem on its way from the text.
#[derive(Default)]
struct Root {
    reader: Reader,
    has_variables: bool,
    /// Factors that came before the variables that they name.
    early: Vec<Value>,
    /// All other keys.
    rest: Map<String, Value>,
    /// What is wrong with the problem, where the JSON is not to blame.
    failure: Option<FormatError>,
}

impl<'de> DeserializeSeed<'de> for &mut Root {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Root {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut keys: A) -> Result<(), A::Error> {
        while let Some(key) = keys.next_key::<String>()? {
            let Root { reader, has_variables, early, failure, .. } = self;
            match key.as_str() {
                VARIABLES => {
                    *has_variables = true;
                    let each = |i, value: Value| reader.variable(&value, &format!("variables[{i}]"));
                    keys.next_value_seed(Each { key: VARIABLES, each, failure })?;
                }
                FACTORS if *has_variables => {
                    let each = |i, value: Value| reader.stated(i, &value);
                    keys.next_value_seed(Each { key: FACTORS, each, failure })?;
                }
                FACTORS => {
                    let each = |_, value| {
                        early.push(value);
                        Ok(())
                    };
                    keys.next_value_seed(Each { key: FACTORS, each, failure })?;
                }
                _ => drop(self.rest.insert(key, keys.next_value()?)),
            }
        }
        Ok(())
    }
}

/// Does something with each item of a list.
struct Each<'r, F> {
    key: &'static str,
    each: F,
    failure: &'r mut Option<FormatError>,
}

impl<'de, F: FnMut(usize, Value) -> Result<(), FormatError>> DeserializeSeed<'de> for Each<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de, F: FnMut(usize, Value) -> Result<(), FormatError>> Visitor<'de> for Each<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list as `{}`", self.key)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        let mut number = 0;
        while let Some(item) = items.next_element()? {
            if let Err(failure) = (self.each)(number, item) {
                let error = A::Error::custom(&failure.message);
                *self.failure = Some(failure);
                return Err(error);
            }
            number += 1;
        }
        Ok(())
    }
}

/// The error's own words without the position, which we give in our own form.
fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_string()
}

fn wrong(place: &str, problem: impl std::fmt::Display) -> FormatError {
    FormatError::new(format!("{place}: {problem}"))
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

/// A number; `"-inf"` and `"inf"` in quotes stand for what JSON cannot write.
fn number(value: &Value, place: &str) -> Result<f64, FormatError> {
    match value {
        Value::String(text) if text == "-inf" => Ok(f64::NEG_INFINITY),
        Value::String(text) if text == "inf" => Ok(f64::INFINITY),
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

#[derive(Default)]
struct Reader {
    problem: Problem,
    names: Names,
}

impl Reader {
    /// Adds what an entry among the factors states.
    fn stated(&mut self, number: usize, value: &Value) -> Result<(), FormatError> {
        self.constraint(value, &format!("factors[{number}]"))?;
        self.problem.stated.resize(self.problem.factors.len(), number as u32);
        Ok(())
    }

    fn variable(&mut self, value: &Value, place: &str) -> Result<(), FormatError> {
        let object = object(value, place)?;
        known_keys(object, &["name", "score", "states", "scores"], place)?;
        let name = string(field(object, "name", place)?, &format!("{place}.name"))?.to_string();
        if name.is_empty() || name.starts_with('!') || name.contains('=') {
            return Err(wrong(place, format!("the name `{name}` is empty or has `!` or `=` in it")));
        }
        if self.place(&name).is_some() {
            return Err(wrong(place, format!("there is a variable `{name}` already")));
        }
        let variable = if object.contains_key("scores") || object.contains_key("states") {
            let states = match object.get("states") {
                None => Vec::new(),
                Some(names) => {
                    let names = list(names, &format!("{place}.states"))?;
                    let read = |name| string(name, &format!("{place}.states")).map(str::to_string);
                    names.iter().map(read).collect::<Result<Vec<_>, _>>()?
                }
            };
            let scores = match object.get("scores") {
                None => vec![0.0; states.len()],
                Some(scores) => numbers(scores, &format!("{place}.scores"))?,
            };
            if !states.is_empty() && states.len() != scores.len() {
                return Err(wrong(place, format!("{} states, but {} scores", states.len(), scores.len())));
            }
            Variable { name, states, scores, binary: false }
        } else {
            let score =
                object.get("score").map_or(Ok(0.0), |score| number(score, &format!("{place}.score")))?;
            Variable::binary(name, score)
        };
        self.problem.variables.push(variable);
        self.names.add_last(&self.problem.variables);
        Ok(())
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.names.find(name, &self.problem.variables)
    }

    fn named(&self, name: &str, place: &str) -> Result<(u32, &Variable), FormatError> {
        self.place(name)
            .map(|i| (i as u32, &self.problem.variables[i]))
            .ok_or_else(|| wrong(place, format!("unknown variable `{name}`")))
    }

    fn literal(&self, value: &Value, place: &str) -> Result<Literal, FormatError> {
        self.problem.literal_by(string(value, place)?, |name| self.place(name)).map_err(|e| wrong(place, e))
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

    fn scope(&self, object: &Map<String, Value>, place: &str) -> Result<Vec<u32>, FormatError> {
        let items = array(object, "over", place)?;
        let variable = |(i, item)| {
            let place = format!("{place}.over[{i}]");
            string(item, &place).and_then(|name| self.named(name, &place)).map(|(variable, _)| variable)
        };
        items.iter().enumerate().map(variable).collect()
    }

    /// Adds a factor, or those that a constraint over counts or sums becomes; with a penalty it may be broken.
    fn constraint(&mut self, value: &Value, place: &str) -> Result<(), FormatError> {
        let mut object = object(value, place)?.clone();
        let penalty = object.remove("penalty");
        let kind = string(field(&object, "kind", place)?, &format!("{place}.kind"))?.to_owned();
        let named = &format!("{place} ({kind})");
        let first = self.problem.factors.len();
        let literals = |keys: &[&str]| -> Result<Vec<Literal>, FormatError> {
            known_keys(&object, keys, named)?;
            self.literals(&object, "over", named)
        };
        let count = |key: &str| whole(field(&object, key, named)?, &format!("{named}.{key}"));
        let done = match kind.as_str() {
            "exactly-k" | "at-least-k" | "at-most-k" => {
                let (over, k) = (literals(&["kind", "over", "k"])?, count("k")?);
                let least = if kind == "at-most-k" { 0 } else { k };
                let most = if kind == "at-least-k" { over.len().max(k) } else { k };
                self.problem.between(&over, least, most)
            }
            "between" => {
                let over = literals(&["kind", "over", "least", "most"])?;
                let (least, most) = (count("least")?, count("most")?);
                self.problem.between(&over, least, most)
            }
            "linear" => {
                let over = literals(&["kind", "over", "coefficients", "relation", "limit"])?;
                let coefficients =
                    numbers(field(&object, "coefficients", named)?, &format!("{named}.coefficients"))?;
                if coefficients.len() != over.len() {
                    let found = (coefficients.len(), over.len());
                    return Err(wrong(named, format!("{} coefficients, but {} literals", found.0, found.1)));
                }
                let relation = string(field(&object, "relation", named)?, &format!("{named}.relation"))?;
                let relation = relation.parse().map_err(|e| wrong(named, e))?;
                let limit = number(field(&object, "limit", named)?, &format!("{named}.limit"))?;
                let terms: Vec<(Literal, f64)> = over.into_iter().zip(coefficients).collect();
                self.problem.linear(&terms, relation, limit)
            }
            _ => {
                let factor = self.factor(&Value::Object(object), place)?;
                self.problem.factors.push(factor);
                Ok(())
            }
        };
        done.map_err(|e| wrong(named, e))?;
        if let Some(penalty) = penalty {
            let penalty = number(&penalty, &format!("{named}.penalty"))?;
            for factor in first..self.problem.factors.len() {
                self.problem.soften(factor, penalty).map_err(|e| wrong(named, e))?;
            }
        }
        Ok(())
    }

    fn factor(&self, value: &Value, place: &str) -> Result<Factor, FormatError> {
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
            "table" | "sequence" | "tree-labelling" => {
                let scope = self.scope(object, place)?;
                Ok(Factor { kind: over_variables(kind, object, place)?, literals: Vec::new(), scope })
            }
            _ => {
                let mut literals = self.literals(object, "over", place)?;
                if object.contains_key("output") || kind.ends_with("-with-output") {
                    literals.push(self.literal(field(object, "output", place)?, &format!("{place}.output"))?);
                }
                let kind = over_literals(kind, literals.len(), object, place)?;
                Ok(Factor { kind, literals, scope: Vec::new() })
            }
        }
    }
}

/// Kinds that become others: how many hold, and sums with coefficients.
const COUNTED: [&str; 5] = ["exactly-k", "at-least-k", "at-most-k", "between", "linear"];

/// Kinds over this many literals.
fn over_literals(
    kind: &str,
    literals: usize,
    object: &Map<String, Value>,
    place: &str,
) -> Result<Kind, FormatError> {
    let score = || number(field(object, "score", place)?, &format!("{place}.score"));
    if matches!(kind, "implies" | "pair") && literals != 2 {
        return Err(wrong(place, format!("expected two literals, found {literals}")));
    }
    Ok(match kind {
        "exactly-one" => Kind::ExactlyOne,
        "at-most-one" => Kind::AtMostOne,
        "at-least-one" => Kind::AtLeastOne,
        "implies" => Kind::Implies,
        "or-with-output" => Kind::OrWithOutput,
        "and-with-output" => Kind::AndWithOutput,
        "xor-with-output" => Kind::XorWithOutput,
        "pair" => Kind::Pair { score: score()? },
        "pattern" => Kind::Pattern { score: score()? },
        "budget" => Kind::Budget { limit: whole(field(object, "limit", place)?, &format!("{place}.limit"))? },
        "knapsack" => Kind::Knapsack {
            costs: numbers(field(object, "costs", place)?, &format!("{place}.costs"))?,
            limit: number(field(object, "limit", place)?, &format!("{place}.limit"))?,
        },
        "arborescence" => arborescence(literals, object, place)?,
        "tree-budget" => tree_budget(object, place)?,
        "cut" => Kind::Cut { pairs: weighted_pairs(object, place)? },
        other => {
            let known = [&Kind::NAMES[..], &COUNTED].concat().join(", ");
            return Err(wrong(place, format!("unknown kind `{other}`; expected one of {known}")));
        }
    })
}

/// Kinds over whole variables.
fn over_variables(kind: &str, object: &Map<String, Value>, place: &str) -> Result<Kind, FormatError> {
    let read = |key: &str| numbers(field(object, key, place)?, &format!("{place}.{key}"));
    Ok(match kind {
        "table" => Kind::Table { scores: read("scores")? },
        "sequence" => {
            let triples = object.contains_key("triples").then(|| read("triples")).transpose()?;
            Kind::Sequence { pairs: read("pairs")?, triples }
        }
        _ => Kind::TreeLabelling { edges: pairs_of(object, "edges", place)?, tables: read("tables")? },
    })
}

fn arborescence(literals: usize, object: &Map<String, Value>, place: &str) -> Result<Kind, FormatError> {
    let arcs = pairs_of(object, "arcs", place)?;
    let largest =
        arcs.iter().map(|&(head, modifier)| head.max(modifier).saturating_add(1)).max().unwrap_or(1);
    let nodes = object.get("nodes").map_or(Ok(largest), |n| whole(n, &format!("{place}.nodes")))?;
    let single_root = match object.get("single_root") {
        None | Some(Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(other) => {
            return Err(wrong(place, format!("single_root is {other}; expected true or false")));
        }
    };
    if arcs.len() != literals {
        return Err(wrong(place, format!("{} arcs, but {literals} literals", arcs.len())));
    }
    Ok(Kind::Arborescence { nodes, arcs, single_root })
}

fn tree_budget(object: &Map<String, Value>, place: &str) -> Result<Kind, FormatError> {
    let parent = |(i, value): (usize, &Value)| match value {
        Value::Null => Ok(None),
        _ => whole(value, &format!("{place}.parents[{i}]")).map(Some),
    };
    let parents: Result<Vec<_>, _> =
        array(object, "parents", place)?.iter().enumerate().map(parent).collect();
    let budget = match object.get("limit") {
        None => None,
        Some(limit) => {
            let length = |(i, n)| whole(n, &format!("{place}.lengths[{i}]"));
            let lengths = array(object, "lengths", place)?.iter().enumerate().map(length);
            Some((lengths.collect::<Result<Vec<_>, _>>()?, whole(limit, &format!("{place}.limit"))?))
        }
    };
    Ok(Kind::TreeBudget { parents: parents?, budget })
}

fn weighted_pairs(object: &Map<String, Value>, place: &str) -> Result<Vec<(usize, usize, f64)>, FormatError> {
    let pair = |(i, value): (usize, &Value)| {
        let place = format!("{place}.pairs[{i}]");
        match &list(value, &place)?[..] {
            [a, b, score] => Ok((whole(a, &place)?, whole(b, &place)?, number(score, &place)?)),
            other => {
                Err(wrong(&place, format!("expected [first, second, score], found {} entries", other.len())))
            }
        }
    };
    array(object, "pairs", place)?.iter().enumerate().map(pair).collect()
}

fn pairs_of(object: &Map<String, Value>, key: &str, place: &str) -> Result<Vec<(usize, usize)>, FormatError> {
    let items = array(object, key, place)?;
    items.iter().enumerate().map(|(i, item)| pair_of(item, &format!("{place}.{key}[{i}]"))).collect()
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
    let mut problem = Problem::new();
    let binary = |prefix: &str, (i, &score): (usize, &f64)| Variable::binary(format!("{prefix}{i}"), score);
    let literal = |variable: usize| Literal { variable: variable as u32, state: 1, negated: false };
    problem.variables.extend((0..lengths.len()).map(|i| binary("sentence", (i, &0.0))));
    problem.variables.extend(weights.iter().enumerate().map(|w| binary("concept", w)));
    let sentences = lengths.len();
    let literals = (0..sentences).map(literal).collect();
    let kind = Kind::Knapsack { costs: lengths, limit: budget };
    problem.factors.push(Factor { kind, literals, scope: Vec::new() });
    for (i, cover) in covers.iter().enumerate() {
        let place = format!("sentences_of_concept[{i}]");
        let mut literals = Vec::new();
        for sentence in list(cover, &place)? {
            let index = whole(sentence, &place)?;
            if index >= sentences {
                return Err(wrong(&place, format!("there is no sentence {index}")));
            }
            literals.push(literal(index));
        }
        if literals.is_empty() {
            problem.variables[sentences + i].scores[1] = f64::NEG_INFINITY;
        } else {
            literals.push(literal(sentences + i));
            problem.factors.push(Factor { kind: Kind::OrWithOutput, literals, scope: Vec::new() });
        }
    }
    Ok(problem)
}
