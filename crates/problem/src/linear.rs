//! Problems as linear programs with integers, for solvers that take nothing else.
//!
//! A column for each binary variable and each state of a choice; helpers for joint states, for patterns and for the
//! flow that keeps an arborescence together. Helpers need not be integers: they follow from the others.

use std::fmt::Write as _;

use crate::{Factor, Kind, Literal, Problem, Relation};

/// A linear program over columns from 0 to their upper bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearProgram {
    /// Whether the objective is to be as small as possible.
    pub minimize: bool,
    /// A number added to the objective.
    pub constant: f64,
    /// What is to be chosen.
    pub columns: Vec<Column>,
    /// What must hold.
    pub rows: Vec<Row>,
}

/// Something that is to be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// `x3` for the binary variable 3, `x3_1` for state 1 of variable 3; others for helpers.
    pub name: String,
    /// What it is called in the problem; nothing for helpers.
    pub meaning: Option<String>,
    /// What it counts in the objective.
    pub objective: f64,
    /// The least is 0, the most is this.
    pub upper: f64,
    /// Whether it must be whole.
    pub integer: bool,
}

/// A sum of columns against a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Columns and their coefficients; each column once.
    pub terms: Vec<(usize, f64)>,
    /// How the sum stands to the number.
    pub relation: Relation,
    /// The number.
    pub right: f64,
}

impl Problem {
    /// The same problem as a linear program: the best value is the same, and the columns of variables say the
    /// assignment. Costs come back as costs.
    pub fn linear_program(&self) -> LinearProgram {
        let mut builder = Builder { problem: self, program: LinearProgram::default(), first: Vec::new() };
        builder.variables();
        self.factors.iter().for_each(|factor| builder.factor(factor));
        let mut program = builder.program;
        (program.minimize, program.constant) = (self.minimized, self.stated(self.constant));
        for column in &mut program.columns {
            column.objective = self.stated(column.objective);
        }
        program
    }
}

struct Builder<'p> {
    problem: &'p Problem,
    program: LinearProgram,
    /// The first column of each variable.
    first: Vec<usize>,
}

impl Builder<'_> {
    fn variables(&mut self) {
        for (number, variable) in self.problem.variables.iter().enumerate() {
            self.first.push(self.program.columns.len());
            if variable.binary {
                // The state that is not true has a score, too.
                let (no, yes) = (variable.scores[0], variable.scores[1]);
                let column = self.column(format!("x{number}"), true, 0.0);
                self.program.columns[column].meaning = Some(variable.name.clone());
                if yes == f64::NEG_INFINITY {
                    self.program.columns[column].upper = 0.0;
                }
                if no == f64::NEG_INFINITY {
                    self.program.rows.push(Row {
                        terms: vec![(column, 1.0)],
                        relation: Relation::AtLeast,
                        right: 1.0,
                    });
                }
                if no != 0.0 && no.is_finite() {
                    let other = self.helper(no);
                    self.row([(column, 1.0), (other, 1.0)], Relation::Equal, 1.0);
                }
                self.program.columns[column].objective = if yes.is_finite() { yes } else { 0.0 };
                continue;
            }
            let mut terms = Vec::new();
            for (state, &score) in variable.scores.iter().enumerate() {
                let column = self.column(
                    format!("x{number}_{state}"),
                    true,
                    if score.is_finite() { score } else { 0.0 },
                );
                let entry = &mut self.program.columns[column];
                entry.meaning = Some(format!("{}={}", variable.name, variable.state_name(state)));
                entry.upper = f64::from(u8::from(score.is_finite()));
                terms.push((column, 1.0));
            }
            self.row(terms, Relation::Equal, 1.0);
        }
    }

    fn column(&mut self, name: String, integer: bool, objective: f64) -> usize {
        self.program.columns.push(Column { name, meaning: None, objective, upper: 1.0, integer });
        self.program.columns.len() - 1
    }

    /// A helper between 0 and 1.
    fn helper(&mut self, objective: f64) -> usize {
        self.column(format!("z{}", self.program.columns.len()), false, objective)
    }

    fn row(&mut self, terms: impl IntoIterator<Item = (usize, f64)>, relation: Relation, right: f64) {
        let mut sums: Vec<(usize, f64)> = terms.into_iter().collect();
        sums.sort_by_key(|&(column, _)| column);
        sums.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        self.program.rows.push(Row { terms: sums, relation, right });
    }

    /// The column of a literal, and whether it counts from 1 downwards.
    fn place(&self, literal: Literal) -> (usize, bool) {
        let first = self.first[literal.variable as usize];
        match self.problem.variables[literal.variable as usize].binary {
            true => (first, (literal.state == 0) != literal.negated),
            false => (first + literal.state as usize, literal.negated),
        }
    }

    /// A row over literals and helpers.
    fn over(
        &mut self,
        literals: &[(Literal, f64)],
        helpers: &[(usize, f64)],
        relation: Relation,
        right: f64,
    ) {
        let mut right = right;
        let mut terms = helpers.to_vec();
        for &(literal, coefficient) in literals {
            let (column, turned) = self.place(literal);
            if turned {
                right -= coefficient;
            }
            terms.push((column, if turned { -coefficient } else { coefficient }));
        }
        self.row(terms, relation, right);
    }

    fn sum(&mut self, literals: &[Literal], relation: Relation, right: f64) {
        let literals: Vec<(Literal, f64)> = literals.iter().map(|&literal| (literal, 1.0)).collect();
        self.over(&literals, &[], relation, right);
    }

    /// A score that counts when all literals hold.
    fn together(&mut self, literals: &[Literal], score: f64) {
        let most = literals.len() as f64 - 1.0;
        if score == f64::NEG_INFINITY {
            return self.sum(literals, Relation::AtMost, most);
        }
        let helper = self.helper(score);
        if score >= 0.0 {
            for &literal in literals {
                self.over(&[(literal, -1.0)], &[(helper, 1.0)], Relation::AtMost, 0.0);
            }
        } else {
            let terms: Vec<(Literal, f64)> = literals.iter().map(|&literal| (literal, 1.0)).collect();
            self.over(&terms, &[(helper, -1.0)], Relation::AtMost, most);
        }
    }

    /// A score for each joint state of variables, the last one's changing fastest.
    fn table(&mut self, scope: &[u32], scores: &[f64]) {
        let sizes: Vec<usize> =
            scope.iter().map(|&variable| self.problem.variables[variable as usize].scores.len()).collect();
        let mut of_state: Vec<Vec<Vec<(usize, f64)>>> =
            sizes.iter().map(|&size| vec![Vec::new(); size]).collect();
        for (number, &score) in scores.iter().enumerate().filter(|(_, score)| score.is_finite()) {
            let helper = self.helper(score);
            let mut rest = number;
            for (place, &size) in sizes.iter().enumerate().rev() {
                of_state[place][rest % size].push((helper, 1.0));
                rest /= size;
            }
        }
        for (&variable, states) in scope.iter().zip(of_state) {
            for (state, helpers) in (0..).zip(states) {
                let literal = Literal { variable, state, negated: false };
                self.over(&[(literal, -1.0)], &helpers, Relation::Equal, 0.0);
            }
        }
    }

    /// Tables over neighbours in a chain: one for each place, or one for all.
    fn steps(&mut self, scope: &[u32], width: usize, scores: &[f64]) {
        let cells = |window: &[u32]| -> usize {
            window.iter().map(|&variable| self.problem.variables[variable as usize].scores.len()).product()
        };
        let sizes: Vec<usize> = scope.windows(width).map(cells).collect();
        let shared = sizes.len() > 1 && scores.len() == sizes[0];
        let mut start = 0;
        for (window, size) in scope.windows(width).zip(sizes) {
            self.table(window, &scores[start..start + size]);
            start += if shared { 0 } else { size };
        }
    }

    fn factor(&mut self, factor: &Factor) {
        let (literals, scope) = (&factor.literals[..], &factor.scope[..]);
        let weighted = |weights: &[f64]| -> Vec<(Literal, f64)> {
            literals.iter().copied().zip(weights.iter().copied()).collect()
        };
        match &factor.kind {
            Kind::ExactlyOne => self.sum(literals, Relation::Equal, 1.0),
            Kind::AtMostOne => self.sum(literals, Relation::AtMost, 1.0),
            Kind::AtLeastOne => self.sum(literals, Relation::AtLeast, 1.0),
            Kind::Implies => self.over(&weighted(&[1.0, -1.0]), &[], Relation::AtMost, 0.0),
            Kind::Budget { limit } => self.sum(literals, Relation::AtMost, *limit as f64),
            Kind::Knapsack { costs, limit } => self.over(&weighted(costs), &[], Relation::AtMost, *limit),
            Kind::OrWithOutput | Kind::AndWithOutput => {
                let Some((&output, others)) = literals.split_last() else { return };
                // Any of them makes an "or" true, and an "and" makes each of them true.
                let is_or = factor.kind == Kind::OrWithOutput;
                let (over, under) = if is_or { (1.0, -1.0) } else { (-1.0, 1.0) };
                for &other in others {
                    self.over(&[(other, over), (output, under)], &[], Relation::AtMost, 0.0);
                }
                let mut all: Vec<(Literal, f64)> = others.iter().map(|&other| (other, -over)).collect();
                all.push((output, over));
                let right = if is_or { 0.0 } else { others.len() as f64 - 1.0 };
                self.over(&all, &[], Relation::AtMost, right);
            }
            Kind::XorWithOutput => {
                let mut weights = vec![1.0; literals.len()];
                weights.last_mut().into_iter().for_each(|last| *last = -1.0);
                self.over(&weighted(&weights), &[], Relation::Equal, 0.0);
            }
            Kind::Pair { score } | Kind::Pattern { score } => self.together(literals, *score),
            Kind::Cut { pairs } => {
                pairs
                    .iter()
                    .for_each(|&(one, other, score)| self.together(&[literals[one], literals[other]], score));
            }
            Kind::Table { scores } => self.table(scope, scores),
            Kind::Sequence { pairs, triples } => {
                self.steps(scope, 2, pairs);
                triples.iter().for_each(|triples| self.steps(scope, 3, triples));
            }
            Kind::TreeLabelling { edges, tables } => {
                let mut start = 0;
                for &(one, other) in edges {
                    let ends = [scope[one], scope[other]];
                    let size: usize =
                        ends.iter().map(|&end| self.problem.variables[end as usize].scores.len()).product();
                    self.table(&ends, &tables[start..start + size]);
                    start += size;
                }
            }
            Kind::Arborescence { nodes, arcs, single_root } => {
                self.arborescence(literals, *nodes, arcs, *single_root);
            }
            Kind::TreeBudget { parents, budget } => {
                for (&literal, parent) in literals.iter().zip(parents) {
                    if let Some(parent) = parent {
                        self.over(&[(literal, 1.0), (literals[*parent], -1.0)], &[], Relation::AtMost, 0.0);
                    }
                }
                if let Some((lengths, limit)) = budget {
                    let lengths: Vec<f64> = lengths.iter().map(|&length| length as f64).collect();
                    self.over(&weighted(&lengths), &[], Relation::AtMost, *limit as f64);
                }
            }
        }
    }

    /// One arc into each node, and a flow from the root that leaves one unit in each.
    fn arborescence(
        &mut self,
        literals: &[Literal],
        nodes: usize,
        arcs: &[(usize, usize)],
        single_root: bool,
    ) {
        let most = nodes as f64 - 1.0;
        let mut flows = Vec::with_capacity(arcs.len());
        for &literal in literals {
            let flow = self.helper(0.0);
            self.program.columns[flow].upper = most;
            self.over(&[(literal, -most)], &[(flow, 1.0)], Relation::AtMost, 0.0);
            flows.push(flow);
        }
        for node in 1..nodes {
            let entering: Vec<Literal> = literals
                .iter()
                .zip(arcs)
                .filter(|(_, arc)| arc.1 == node)
                .map(|(&literal, _)| literal)
                .collect();
            self.sum(&entering, Relation::Equal, 1.0);
            let flow = flows.iter().zip(arcs).filter(|(_, arc)| arc.0 == node || arc.1 == node);
            let flow: Vec<(usize, f64)> =
                flow.map(|(&flow, arc)| (flow, if arc.1 == node { 1.0 } else { -1.0 })).collect();
            self.row(flow, Relation::Equal, 1.0);
        }
        if single_root {
            let leaving: Vec<Literal> = literals
                .iter()
                .zip(arcs)
                .filter(|(_, arc)| arc.0 == 0)
                .map(|(&literal, _)| literal)
                .collect();
            self.sum(&leaving, Relation::AtMost, 1.0);
        }
    }
}

impl LinearProgram {
    /// The program in CPLEX's LP form, which most solvers read.
    pub fn to_lp(&self) -> String {
        let mut text = String::new();
        for column in &self.columns {
            if let Some(meaning) = &column.meaning {
                writeln!(text, "\\ {} is {}", column.name, meaning.escape_debug())
                    .expect("writing to a string");
            }
        }
        text.push_str(if self.minimize { "Minimize\n objective:" } else { "Maximize\n objective:" });
        let counted = self.columns.iter().enumerate().filter(|(_, column)| column.objective != 0.0);
        let terms: Vec<(usize, f64)> = counted.map(|(number, column)| (number, column.objective)).collect();
        self.write_terms(&terms, &mut text);
        if self.constant != 0.0 {
            write!(text, " {} constant", Signed(self.constant)).expect("writing to a string");
        }
        text.push_str("\nSubject To\n");
        for (number, row) in self.rows.iter().enumerate() {
            write!(text, " c{number}:").expect("writing to a string");
            self.write_terms(&row.terms, &mut text);
            let relation = match row.relation {
                Relation::AtMost => "<=",
                Relation::AtLeast => ">=",
                Relation::Equal => "=",
            };
            writeln!(text, " {relation} {}", row.right).expect("writing to a string");
        }
        text.push_str("Bounds\n");
        if self.constant != 0.0 {
            text.push_str(" constant = 1\n");
        }
        for column in self.columns.iter().filter(|column| !column.integer || column.upper != 1.0) {
            writeln!(text, " 0 <= {} <= {}", column.name, column.upper).expect("writing to a string");
        }
        text.push_str("Binaries\n");
        for column in self.columns.iter().filter(|column| column.integer) {
            writeln!(text, " {}", column.name).expect("writing to a string");
        }
        text.push_str("End\n");
        text
    }

    /// The program in free MPS, which is older and read by nearly all solvers. Columns keep the names that they
    /// have in [`to_lp`](Self::to_lp), and so do rows; the objective's right-hand side is the constant, negated, as usual.
    pub fn to_mps(&self) -> String {
        let mut text = String::new();
        for column in &self.columns {
            if let Some(meaning) = &column.meaning {
                writeln!(text, "* {} is {}", column.name, meaning.escape_debug())
                    .expect("writing to a string");
            }
        }
        text.push_str("NAME problem\nOBJSENSE\n");
        text.push_str(if self.minimize { "    MIN\n" } else { "    MAX\n" });
        text.push_str("ROWS\n N objective\n");
        let mut entries: Vec<Vec<(usize, f64)>> = vec![Vec::new(); self.columns.len()];
        for (number, row) in self.rows.iter().enumerate() {
            let relation = match row.relation {
                Relation::AtMost => 'L',
                Relation::AtLeast => 'G',
                Relation::Equal => 'E',
            };
            writeln!(text, " {relation} c{number}").expect("writing to a string");
            row.terms.iter().for_each(|&(column, coefficient)| entries[column].push((number, coefficient)));
        }
        text.push_str("COLUMNS\n");
        // Integers stand between two markers; helpers come after them.
        for integer in [true, false] {
            if integer {
                text.push_str(" MARKER 'MARKER' 'INTORG'\n");
            }
            for (column, entries) in
                self.columns.iter().zip(&entries).filter(|(column, _)| column.integer == integer)
            {
                writeln!(text, " {} objective {}", column.name, column.objective)
                    .expect("writing to a string");
                for (row, coefficient) in entries {
                    writeln!(text, " {} c{row} {coefficient}", column.name).expect("writing to a string");
                }
            }
            if integer {
                text.push_str(" MARKER 'MARKER' 'INTEND'\n");
            }
        }
        text.push_str("RHS\n");
        if self.constant != 0.0 {
            writeln!(text, " RHS objective {}", -self.constant).expect("writing to a string");
        }
        for (number, row) in self.rows.iter().enumerate().filter(|(_, row)| row.right != 0.0) {
            writeln!(text, " RHS c{number} {}", row.right).expect("writing to a string");
        }
        text.push_str("BOUNDS\n");
        for column in &self.columns {
            writeln!(text, " UP BND {} {}", column.name, column.upper).expect("writing to a string");
        }
        text.push_str("ENDATA\n");
        text
    }

    fn write_terms(&self, terms: &[(usize, f64)], text: &mut String) {
        // A line of an LP file may not be long.
        for (number, &(column, coefficient)) in terms.iter().enumerate() {
            let line = if number % 8 == 7 { "\n " } else { "" };
            write!(text, " {} {}{line}", Signed(coefficient), self.columns[column].name)
                .expect("writing to a string");
        }
        if terms.is_empty() {
            let first = self.columns.first().map_or("constant", |column| &column.name);
            write!(text, " 0 {first}").expect("writing to a string");
        }
    }
}

/// A number with its sign.
struct Signed(f64);

impl std::fmt::Display for Signed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", if self.0 < 0.0 { '-' } else { '+' }, self.0.abs())
    }
}
