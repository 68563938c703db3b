//! The way back from a reduced network to the one it came from.

use std::sync::Arc;

/// One reduction, undone by [`Lift::apply`].
#[derive(Debug)]
pub(crate) enum Step {
    /// Only some states of a variable were kept: new state to old state.
    Restrict { variable: u32, kept: Vec<u16> },
    /// A variable went; its state follows from those of `scope` (row-major).
    Eliminate { variable: u32, scope: Vec<u32>, extents: Vec<usize>, states: Vec<u16> },
}

/// Reductions done between a network and its parent, linked towards the root.
#[derive(Debug)]
pub(crate) struct Lift {
    /// Variable of the parent for every variable of the reduced network.
    pub(crate) variables: Vec<u32>,
    /// Number of variables of the parent.
    pub(crate) count: usize,
    /// In the order in which they were done.
    pub(crate) steps: Vec<Step>,
    pub(crate) parent: Option<Arc<Lift>>,
}

impl Lift {
    /// Assignment of the root network that extends an assignment of the reduced one.
    pub(crate) fn apply(self: &Arc<Self>, assignment: &[usize]) -> Vec<usize> {
        let mut current = assignment.to_vec();
        let mut link = Some(self);
        while let Some(lift) = link {
            let mut wider = vec![0; lift.count];
            for (&state, &v) in current.iter().zip(&lift.variables) {
                wider[v as usize] = state;
            }
            for step in lift.steps.iter().rev() {
                match step {
                    Step::Restrict { variable, kept } => {
                        let state = &mut wider[*variable as usize];
                        *state = usize::from(kept[*state]);
                    }
                    Step::Eliminate { variable, scope, extents, states } => {
                        let entry = scope
                            .iter()
                            .zip(extents)
                            .fold(0, |entry, (&u, &extent)| entry * extent + wider[u as usize]);
                        wider[*variable as usize] = usize::from(states[entry]);
                    }
                }
            }
            current = wider;
            link = lift.parent.as_ref();
        }
        current
    }

    /// The part of a root assignment that the reduced network still decides; states that were dropped become
    /// the first.
    pub(crate) fn project(self: &Arc<Self>, assignment: &[usize]) -> Vec<usize> {
        let mut chain = vec![self];
        while let Some(parent) = &chain[chain.len() - 1].parent {
            chain.push(parent);
        }
        let mut current = assignment.to_vec();
        for lift in chain.into_iter().rev() {
            for step in &lift.steps {
                if let Step::Restrict { variable, kept } = step {
                    let state = &mut current[*variable as usize];
                    *state = kept.iter().position(|&old| usize::from(old) == *state).unwrap_or(0);
                }
            }
            current = lift.variables.iter().map(|&v| current[v as usize]).collect();
        }
        current
    }

    /// Variable of the root for every variable of the reduced network.
    pub(crate) fn origins(self: &Arc<Self>) -> Vec<u32> {
        let mut origins = self.variables.clone();
        let mut link = self.parent.as_ref();
        while let Some(lift) = link {
            for v in &mut origins {
                *v = lift.variables[*v as usize];
            }
            link = lift.parent.as_ref();
        }
        origins
    }
}
