//! Every oracle against brute force over all its configurations.

mod checker;
mod dense;
mod sequence;
