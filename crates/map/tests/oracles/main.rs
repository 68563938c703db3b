//! Every oracle against brute force over all its configurations.

mod arborescence;
mod checker;
mod dense;
mod sequence;
