//! Variables and the literals that factors link to.

/// A binary variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binary {
    pub(super) slot: u32,
    pub(super) variable: u32,
}

impl Binary {
    /// The index of the variable, as in [`Solution::assignment`](crate::Solution::assignment).
    pub fn variable(self) -> usize {
        self.variable as usize
    }
}

/// A variable with several states, exactly one of which holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    pub(super) first_slot: u32,
    pub(super) states: u32,
    pub(super) variable: u32,
}

impl Choice {
    /// The number of states.
    pub fn states(&self) -> usize {
        self.states as usize
    }

    /// The index of the variable, as in [`Solution::assignment`](crate::Solution::assignment).
    pub fn variable(&self) -> usize {
        self.variable as usize
    }

    /// The literal "this variable is in `state`".
    ///
    /// # Panics
    /// If there is no such state.
    pub fn is(&self, state: usize) -> Literal {
        assert!(state < self.states(), "state {state} of a choice among {}", self.states);
        Literal::new(self.first_slot + state as u32, false)
    }

    /// The literals of all states, in order.
    pub fn literals(&self) -> impl Iterator<Item = Literal> + use<> {
        (self.first_slot..self.first_slot + self.states).map(|slot| Literal::new(slot, false))
    }
}

/// A slot or its negation: what a factor links to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Literal(u32);

impl Literal {
    pub(crate) fn new(slot: u32, negated: bool) -> Self {
        Literal(slot << 1 | negated as u32)
    }

    /// Slot and negation in one number; the lowest bit is the negation.
    pub(crate) fn code(self) -> u32 {
        self.0
    }

    /// The index of the slot.
    pub fn slot(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether the link is negated.
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }
}

impl std::fmt::Debug for Literal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.is_negated() { "!" } else { "" }, self.slot())
    }
}

impl std::ops::Not for Literal {
    type Output = Literal;
    fn not(self) -> Literal {
        Literal(self.0 ^ 1)
    }
}

impl std::ops::Not for Binary {
    type Output = Literal;
    fn not(self) -> Literal {
        Literal::new(self.slot, true)
    }
}

impl From<Binary> for Literal {
    fn from(binary: Binary) -> Literal {
        Literal::new(binary.slot, false)
    }
}

impl From<&Binary> for Literal {
    fn from(binary: &Binary) -> Literal {
        (*binary).into()
    }
}

impl From<&Literal> for Literal {
    fn from(literal: &Literal) -> Literal {
        *literal
    }
}

/// A variable of either sort, where a table takes both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variable {
    /// Two states: 0 is false, 1 is true.
    Binary(Binary),
    /// Several states.
    Choice(Choice),
}

impl Variable {
    /// The number of states: 2 for a binary variable.
    pub fn states(&self) -> usize {
        match self {
            Variable::Binary(_) => 2,
            Variable::Choice(choice) => choice.states(),
        }
    }

    /// The index of the variable, as in [`Solution::assignment`](crate::Solution::assignment).
    pub fn variable(&self) -> usize {
        match self {
            Variable::Binary(binary) => binary.variable(),
            Variable::Choice(choice) => choice.variable(),
        }
    }

    /// The literal "this variable is in `state`".
    pub fn is(&self, state: usize) -> Literal {
        match self {
            Variable::Binary(binary) => Literal::new(binary.slot, state == 0),
            Variable::Choice(choice) => choice.is(state),
        }
    }
}

impl From<Binary> for Variable {
    fn from(binary: Binary) -> Self {
        Variable::Binary(binary)
    }
}

impl From<Choice> for Variable {
    fn from(choice: Choice) -> Self {
        Variable::Choice(choice)
    }
}
