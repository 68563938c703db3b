//! What can be wrong with a pattern model.

use thiserror::Error;

/// Why a part of a [`PatternModel`](super::PatternModel) was refused.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PatternError {
    /// A score that is NaN or plus infinity.
    #[error("{place} has the score {score}; scores are finite, or -inf to forbid")]
    Score {
        /// Which part of the model, in words.
        place: String,
        /// The offending score.
        score: f64,
    },
    /// A vertex without states.
    #[error("vertex {vertex} has no states; give at least one score")]
    NoStates {
        /// The index the vertex would have had.
        vertex: usize,
    },
    /// A vertex that does not exist.
    #[error("{place} names vertex {vertex}, but the model has {vertices} vertices")]
    Vertex {
        /// Which part of the model, in words.
        place: String,
        /// The offending index.
        vertex: usize,
        /// The number of vertices.
        vertices: usize,
    },
    /// A state that the vertex does not have.
    #[error("{place} names state {state} of vertex {vertex}, which has {states} states")]
    State {
        /// Which part of the model, in words.
        place: String,
        /// The vertex.
        vertex: usize,
        /// The offending state.
        state: usize,
        /// The number of states of the vertex.
        states: usize,
    },
    /// A table, edge or pattern that does not exist.
    #[error("{kind} {index} does not exist: the model has {count}")]
    Missing {
        /// "table" or "pattern".
        kind: &'static str,
        /// The offending index.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A list of scores with a wrong length.
    #[error("{place} takes {expected} scores, but {given} were given")]
    Length {
        /// Which part of the model, in words.
        place: String,
        /// The right number.
        expected: usize,
        /// The number given.
        given: usize,
    },
    /// A cell outside of its sparse table.
    #[error("cell ({row}, {column}) lies outside of a table with {rows} rows and {columns} columns")]
    Cell {
        /// The offending row.
        row: usize,
        /// The offending column.
        column: usize,
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
    /// An edge whose table does not fit its ends.
    #[error(
        "edge ({u}, {v}) joins vertices with {states_u} and {states_v} states, but table {table} is {rows} by {columns}"
    )]
    Shape {
        /// First end.
        u: usize,
        /// Second end.
        v: usize,
        /// States of the first end.
        states_u: usize,
        /// States of the second end.
        states_v: usize,
        /// The table.
        table: usize,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },
    /// An edge from a vertex to itself.
    #[error(
        "edge ({vertex}, {vertex}) joins a vertex with itself; add its diagonal to the vertex's scores instead"
    )]
    Loop {
        /// The vertex.
        vertex: usize,
    },
    /// A pattern that asks one vertex for two states.
    #[error(
        "pattern {pattern} asks vertex {vertex} for states {first} and {second} at once, which can never happen"
    )]
    Contradiction {
        /// The index the pattern would have had.
        pattern: usize,
        /// The vertex.
        vertex: usize,
        /// One state.
        first: usize,
        /// The other state.
        second: usize,
    },
    /// A pattern without members.
    #[error("pattern {pattern} has no members")]
    EmptyPattern {
        /// The index the pattern would have had.
        pattern: usize,
    },
    /// A model beyond what 32-bit indices reach.
    #[error("the model has more than {limit} {kind}")]
    TooLarge {
        /// What there is too much of.
        kind: &'static str,
        /// The limit.
        limit: usize,
    },
}
