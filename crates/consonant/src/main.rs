//! The consonant program.

fn main() {}
