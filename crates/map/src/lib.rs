//! Factor graphs, factors by oracle, and solvers that carry a certificate.

pub mod oracle;
