//! Every oracle against brute force over all its configurations.

mod allocations;
mod arborescence;
mod checker;
mod cut;
mod dense;
mod sequence;
mod tree_budget;
mod tree_labelling;
