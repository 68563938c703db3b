//! Factor graphs as plain data: variables with scores, factors over them, and the files they come in.
//!
//! Nothing is solved here. The engine builds its graph from a [`Problem`], and the checker of proofs reads
//! the same data without knowing the engine.
//!
//! ```
//! use consonant_problem::{Format, read};
//!
//! let text = r#"{"variables": [{"name": "rain", "score": 1.0}, {"name": "umbrella", "score": -0.4}],
//!                "factors": [{"kind": "implies", "over": ["rain", "umbrella"]}]}"#;
//! let problem = read(text, Format::Json)?;
//! assert_eq!((problem.variables.len(), problem.factors[0].kind.name()), (2, "implies"));
//! # Ok::<(), consonant_problem::FormatError>(())
//! ```

#![forbid(unsafe_code)]

mod build;
pub mod cfn;
mod check;
mod costs;
pub mod fg;
mod format;
pub mod json;
pub mod linear;
pub mod lp;
pub mod mps;
mod names;
mod program;
pub mod uai;
pub mod wcsp;
mod write;

pub use build::Relation;
pub use check::{LARGEST_SUM, Malformed};
pub use format::{Format, FormatError, read};

/// A factor graph: the sum of all scores is to be maximized over the assignments that every factor allows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    /// The variables, in the order of the file.
    pub variables: Vec<Variable>,
    /// The factors, in the order of the file.
    pub factors: Vec<Factor>,
    /// A number added to the value of every assignment.
    pub constant: f64,
    /// Whether the scores were stated as costs: they stand here with the opposite sign, and so do values and
    /// bounds.
    pub minimized: bool,
    /// Variables that say that a constraint is broken: what that takes away, it takes from scores and adds to
    /// costs.
    pub(crate) penalties: Vec<u32>,
    /// The number that each factor has in the file, where some became several.
    pub(crate) stated: Vec<u32>,
    /// Where the format has lines: the line of each variable, then of each factor.
    pub(crate) lines: Vec<u32>,
}

/// A variable in exactly one of several states.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name in the file, or its number.
    pub name: String,
    /// The names of its states where the file has any.
    pub states: Vec<String>,
    /// A score for each state; minus infinity forbids it.
    pub scores: Vec<f64>,
    /// Whether it is true or false: two states, of which 1 is true, and literals name the variable alone.
    pub binary: bool,
}

impl Variable {
    /// A variable that is true or false; `score` counts when it is true.
    pub fn binary(name: impl Into<String>, score: f64) -> Self {
        Variable { name: name.into(), states: Vec::new(), scores: vec![0.0, score], binary: true }
    }

    /// What a state is called: its name, or its number.
    pub fn state_name(&self, state: usize) -> String {
        self.states.get(state).cloned().unwrap_or_else(|| state.to_string())
    }
}

/// "The variable is in this state", or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    /// The index of the variable.
    pub variable: u32,
    /// The state.
    pub state: u32,
    /// Whether any other state is meant.
    pub negated: bool,
}

impl Literal {
    /// Whether it holds when its variable is in `state`.
    pub fn holds(self, state: u32) -> bool {
        (self.state == state) != self.negated
    }
}

impl std::ops::Not for Literal {
    type Output = Literal;
    fn not(self) -> Literal {
        Literal { negated: !self.negated, ..self }
    }
}

/// A factor: what it demands or scores, and of whom.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// What it says.
    pub kind: Kind,
    /// The literals it links to; empty for kinds over whole variables.
    pub literals: Vec<Literal>,
    /// The variables it links to; empty for kinds over literals.
    pub scope: Vec<u32>,
}

/// What a factor says. An output is the last of the literals.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// Exactly one literal holds.
    ExactlyOne,
    /// At most one literal holds.
    AtMostOne,
    /// At least one literal holds.
    AtLeastOne,
    /// If the first literal holds, so does the second.
    Implies,
    /// The output holds exactly when some other literal does.
    OrWithOutput,
    /// The output holds exactly when all other literals do.
    AndWithOutput,
    /// At most one other literal holds, and the output exactly when one does.
    XorWithOutput,
    /// A score that counts when both literals hold.
    Pair {
        /// The score.
        score: f64,
    },
    /// A score that counts when all literals hold.
    Pattern {
        /// The score.
        score: f64,
    },
    /// At most this many literals hold.
    Budget {
        /// How many.
        limit: usize,
    },
    /// The costs of the literals that hold sum to at most a limit.
    Knapsack {
        /// The cost of each literal, zero or more.
        costs: Vec<f64>,
        /// The limit.
        limit: f64,
    },
    /// A score for each joint state.
    Table {
        /// The scores, the last variable's state changing fastest.
        scores: Vec<f64>,
    },
    /// A chain.
    Sequence {
        /// For each position but the first, a table with a row for each state before; or one table for all
        /// positions.
        pairs: Vec<f64>,
        /// For each position but the first two, a table over three positions, or one for all; none at first
        /// order.
        triples: Option<Vec<f64>>,
    },
    /// A tree or forest of variables.
    TreeLabelling {
        /// The edges, as places in the scope.
        edges: Vec<(usize, usize)>,
        /// The tables of the edges, one after the other, rows for the first end.
        tables: Vec<f64>,
    },
    /// The literals that hold are the arcs of a tree with root 0 that spans all nodes.
    Arborescence {
        /// How many nodes there are, the root included.
        nodes: usize,
        /// Head and modifier of each literal.
        arcs: Vec<(usize, usize)>,
        /// Whether only one arc may leave the root.
        single_root: bool,
    },
    /// A literal holds only together with its parent, within a limit on the total length.
    TreeBudget {
        /// The parent of each literal, by place.
        parents: Vec<Option<usize>>,
        /// The length of each literal and the limit; nothing when any length is allowed.
        budget: Option<(Vec<usize>, usize)>,
    },
    /// Scores, zero or more, for pairs of literals that hold together.
    Cut {
        /// Two places and the score.
        pairs: Vec<(usize, usize, f64)>,
    },
}

impl Kind {
    /// The kinds of factors, as they are named in files.
    pub const NAMES: [&'static str; 17] = [
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

    /// The name in files.
    pub fn name(&self) -> &'static str {
        let index = match self {
            Kind::ExactlyOne => 0,
            Kind::AtMostOne => 1,
            Kind::AtLeastOne => 2,
            Kind::Implies => 3,
            Kind::OrWithOutput => 4,
            Kind::AndWithOutput => 5,
            Kind::XorWithOutput => 6,
            Kind::Pair { .. } => 7,
            Kind::Pattern { .. } => 8,
            Kind::Budget { .. } => 9,
            Kind::Knapsack { .. } => 10,
            Kind::Table { .. } => 11,
            Kind::Sequence { .. } => 12,
            Kind::TreeLabelling { .. } => 13,
            Kind::Arborescence { .. } => 14,
            Kind::TreeBudget { .. } => 15,
            Kind::Cut { .. } => 16,
        };
        Kind::NAMES[index]
    }
}

impl Problem {
    /// A problem without variables.
    pub fn new() -> Self {
        Problem::default()
    }

    /// The literals of a factor: those it names, or all states of its variables in turn.
    pub fn links<'a>(&'a self, factor: &'a Factor) -> impl Iterator<Item = Literal> + 'a {
        let states = factor.scope.iter().flat_map(|&variable| {
            let states = self.variables[variable as usize].scores.len() as u32;
            (0..states).map(move |state| Literal { variable, state, negated: false })
        });
        factor.literals.iter().copied().chain(states)
    }

    /// Says what is wrong with a variable, and where it stands.
    pub fn variable_error(&self, variable: usize, problem: impl std::fmt::Display) -> FormatError {
        match self.lines.get(variable) {
            Some(&line) => FormatError::at(line as usize, problem.to_string()),
            None => FormatError::new(format!("variables[{variable}]: {problem}")),
        }
    }

    /// What a factor is, for people: where it stands, its kind and what it is over.
    pub fn describe_factor(&self, factor: usize) -> String {
        let Factor { kind, literals, scope } = &self.factors[factor];
        let literals = literals.iter().map(|literal| {
            let variable = &self.variables[literal.variable as usize];
            let not = if literal.negated { "!" } else { "" };
            match (variable.binary, literal.state) {
                (true, 1) => format!("{not}{}", variable.name),
                (_, state) => format!("{not}{}={}", variable.name, variable.state_name(state as usize)),
            }
        });
        let scope = scope.iter().map(|&variable| self.variables[variable as usize].name.clone());
        let over: Vec<String> = literals.chain(scope).collect();
        let limit = match kind {
            Kind::Budget { limit } => format!(" of at most {limit}"),
            Kind::Knapsack { limit, .. } => format!(" of at most {limit}"),
            _ => String::new(),
        };
        let number = self.stated.get(factor).map_or(factor, |&number| number as usize);
        format!("factors[{number}]: {}{limit} over {}", kind.name(), over.join(", "))
    }

    /// Says what is wrong with a factor, and where it stands.
    pub fn factor_error(&self, factor: usize, problem: impl std::fmt::Display) -> FormatError {
        let kind = self.factors[factor].kind.name();
        match self.lines.get(self.variables.len() + factor) {
            Some(&line) => FormatError::at(line as usize, format!("factor {}: {problem}", factor + 1)),
            None => {
                let number = self.stated.get(factor).map_or(factor, |&number| number as usize);
                FormatError::new(format!("factors[{number}] ({kind}): {problem}"))
            }
        }
    }
}
