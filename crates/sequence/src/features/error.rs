//! What can be wrong with templates and resources.

use thiserror::Error;

/// A template or a resource that cannot be used, with its place and the remedy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FeatureError {
    /// A line that is no template.
    #[error("template line {line}: {what} in `{text}`; {remedy}")]
    Template {
        /// Line number, from 1.
        line: usize,
        /// The line.
        text: String,
        /// What is wrong.
        what: String,
        /// What to write instead.
        remedy: String,
    },
    /// No line asks for anything.
    #[error("no template found: expected at least one line such as `U00:%x[0,0]`")]
    NoTemplates,
    /// A resource that does not have its format.
    #[error("{resource}, line {line}: {what}; expected {expected}")]
    Resource {
        /// Which resource, as the user knows it.
        resource: String,
        /// Line number, from 1.
        line: usize,
        /// What is wrong.
        what: String,
        /// What the format is.
        expected: &'static str,
    },
    /// A resource that cannot be read.
    #[error("cannot read {resource}: {source}")]
    Read {
        /// Which resource.
        resource: String,
        /// Why.
        source: std::io::Error,
    },
    /// A resource with nothing in it.
    #[error("{resource} is empty; expected {expected}")]
    EmptyResource {
        /// Which resource.
        resource: String,
        /// What the format is.
        expected: &'static str,
    },
    /// A resource too large for its index.
    #[error("{resource} has {found} entries; at most {most} are supported")]
    TooLarge {
        /// Which resource.
        resource: String,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// A part of a model file that does not fit the rest.
    #[error("model section `{section}` is damaged: {what}; train the model again")]
    Damaged {
        /// Name of the section.
        section: String,
        /// What is wrong.
        what: String,
    },
    /// A model file that lacks what it must have.
    #[error(transparent)]
    Model(#[from] consonant_learn::LearnError),
}
