//! Minimum cut for supermodular quadratic pseudo-Boolean functions, restarted warm when only unary terms
//! move.
//!
//! The function is `f(x) = Σ a_i x_i + Σ a_ij x_i x_j` with `a_ij ≥ 0` over `x ∈ {0,1}ⁿ`; [`PseudoBoolean`]
//! states it, [`Cut`] maximizes it. Products of more than two variables enter through the reductions of
//! [`PseudoBoolean::add_product`] and [`PseudoBoolean::add_pairs_minus_product`], which introduce auxiliary
//! variables.
//!
//! ```
//! use consonant_map::cut::{Cut, PseudoBoolean};
//!
//! let mut function = PseudoBoolean::new(3);
//! function.add_unary(0, -1.0);
//! function.add_unary(1, -1.0);
//! function.add_unary(2, -2.0);
//! function.add_pair(0, 1, 3.0).unwrap();
//! function.add_product(&[0, 1, 2], 1.5).unwrap();
//! let mut cut = Cut::new(&function);
//! cut.solve();
//! assert_eq!((cut.is_one(0), cut.is_one(1), cut.is_one(2)), (true, true, false));
//! assert_eq!(cut.value(), 1.0);
//! cut.set_unary(2, -1.0); // only unary terms move: flow and search trees are kept
//! cut.solve();
//! assert!(cut.is_one(2) && cut.value() == 1.5 && cut.upper_bound() >= 1.5);
//! ```

mod flow;
mod function;

pub use flow::Cut;
pub use function::PseudoBoolean;
