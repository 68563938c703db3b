//! Factors known through a local-max oracle.
//!
//! An author of a factor says how to find the best configuration under given scores, how to score one, and
//! which links it switches on. From that alone the engine derives everything else: the slave of the
//! subgradient method, the quadratic step of AD3 (by the active-set method, warm-started from the last
//! iteration), bounds and rounding. Where the factor has no scores of its own, a function is enough:
//! [`family::Family`].

pub(crate) mod active_set;
pub mod arborescence;
pub mod cut;
pub mod dense;
pub mod family;
pub(crate) mod lanes;
pub mod sequence;
pub mod sparse_map;
pub mod subset;
pub mod tree_budget;
pub mod tree_labelling;

/// A factor that can find its best configuration under given scores.
///
/// The factor has [`links`](Oracle::links) links, each to a binary variable or to one state of a multi-valued
/// one. A *configuration* is one way to switch the links on or off that the factor allows. Scores that belong
/// to the factor itself (transitions, siblings, table entries) live inside the implementing type.
///
/// All methods take `&self`: one oracle may be called from several threads at once, each with its own
/// [`Workspace`](Oracle::Workspace), which the engine makes once for each thread and reuses.
///
/// A factor that switches on one interval of its links, or none:
///
/// ```
/// use consonant_map::oracle::Oracle;
/// use consonant_map::solver::{Limits, Method, solve};
/// use consonant_map::{Graph, Status};
/// use std::ops::Range;
///
/// struct Interval(usize);
///
/// impl Oracle for Interval {
///     type Configuration = Range<usize>;
///     type Workspace = ();
///
///     fn links(&self) -> usize {
///         self.0
///     }
///
///     // The best sum over neighbours in one pass: a run goes on while it is worth something.
///     fn maximize(&self, scores: &[f64], _: &mut (), best: &mut Range<usize>) -> f64 {
///         *best = 0..0;
///         let (mut value, mut run, mut start) = (0.0, 0.0, 0);
///         for (i, score) in scores.iter().enumerate() {
///             if run <= 0.0 {
///                 (run, start) = (0.0, i);
///             }
///             run += score;
///             if run > value {
///                 (value, *best) = (run, start..i + 1);
///             }
///         }
///         value
///     }
///
///     fn score(&self, scores: &[f64], on: &Range<usize>) -> f64 {
///         scores[on.clone()].iter().sum()
///     }
///
///     fn add_marginals(&self, on: &Range<usize>, weight: f64, marginals: &mut [f64]) {
///         marginals[on.clone()].iter_mut().for_each(|m| *m += weight);
///     }
///
///     fn overlap(&self, a: &Range<usize>, b: &Range<usize>) -> usize {
///         a.end.min(b.end).saturating_sub(a.start.max(b.start))
///     }
/// }
///
/// let mut graph = Graph::new();
/// let x = graph.binaries(&[2.0, -1.0, 2.5, -3.0, 2.0])?;
/// graph.oracle(Interval(5), &x)?;
/// graph.budget(&x, 2)?;
/// let solution = solve(&graph, Method::Exact, &Limits::default())?;
/// assert_eq!((solution.certificate.status(), solution.certificate.value()), (Status::Optimal, Some(2.5)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Oracle: Send + Sync + 'static {
    /// One way to fill the factor. Equality must mean "the same links are on and the same inner parts are
    /// used".
    type Configuration: Clone + PartialEq + Default + Send + Sync;

    /// Buffers reused across calls, so that an oracle allocates nothing in the inner loop.
    type Workspace: Default + Send;

    /// The number of links.
    fn links(&self) -> usize;

    /// Writes the best configuration under `scores` (one for each link, never NaN, possibly very negative to
    /// forbid a link) plus the factor's own scores to `best`, and returns its value. Minus infinity: no
    /// configuration is allowed.
    ///
    /// Called in every iteration by every solver. Ties must be broken the same way every time.
    fn maximize(
        &self,
        scores: &[f64],
        workspace: &mut Self::Workspace,
        best: &mut Self::Configuration,
    ) -> f64;

    /// The value of `configuration` under `scores`, the factor's own scores included.
    fn score(&self, scores: &[f64], configuration: &Self::Configuration) -> f64;

    /// Adds `weight` to `marginals[i]` for every link `i` that `configuration` switches on.
    fn add_marginals(&self, configuration: &Self::Configuration, weight: f64, marginals: &mut [f64]);

    /// The number of links that both configurations switch on: the inner product of their marginals.
    fn overlap(&self, a: &Self::Configuration, b: &Self::Configuration) -> usize;

    /// No configuration's own scores, without those of the links, sum to more than this in size. Solvers ask
    /// for it when they account for rounding and when they prove that nothing is feasible; without an answer
    /// they never prove the latter.
    fn magnitude(&self) -> Option<f64> {
        None
    }
}
