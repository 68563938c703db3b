//! Structures from scores in NumPy arrays.

use std::borrow::Cow;

use consonant::decode::{Labelling, Sequences, Soft, TreeShape};
use consonant::text::Scheme;
use numpy::ndarray::Dimension;
use numpy::{
    AllowTypeChange, Element, PyArray1, PyArray2, PyArray3, PyArrayLike, PyArrayLike1, PyArrayLike2,
    PyArrayLike3, PyArrayMethods, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::doc::Certificate;
use crate::errors::{raise, usage};
use crate::run::pool;

type Scores2<'py> = PyArrayLike2<'py, f32, AllowTypeChange>;
type Scores3<'py> = PyArrayLike3<'py, f32, AllowTypeChange>;

/// The labels' constraints: a scheme's if labels are named and a scheme is not `none`, transition scores if given.
fn labelling(
    count: usize,
    labels: Option<Vec<String>>,
    scheme: Option<&str>,
    transitions: Option<&Scores2<'_>>,
) -> PyResult<Labelling> {
    if let Some(labels) = labels.as_ref().filter(|labels| labels.len() != count) {
        return Err(usage(format!("there are {} labels, but the scores have {count} columns", labels.len())));
    }
    if let Some(shape) = transitions.map(|scores| scores.shape()).filter(|shape| *shape != [count, count]) {
        return Err(usage(format!("transitions are {shape:?}; expected [{count}, {count}]")));
    }
    let transitions: Option<Vec<f32>> = transitions.map(|scores| scores.as_array().iter().copied().collect());
    let found = match (labels, scheme) {
        (Some(labels), scheme) if scheme != Some("none") => {
            let scheme =
                scheme.map(str::parse::<Scheme>).transpose().map_err(|error| usage(error.to_string()))?;
            Labelling::of_scheme(&labels, scheme, transitions.as_deref())
        }
        _ => Labelling::new(count, transitions.as_deref(), None),
    };
    found.map_err(raise)
}

/// The numbers of an array in rows, where they lie if they lie in rows.
fn rows<'a, T: Element + Copy, D: Dimension>(
    array: &'a PyArrayLike<'_, T, D, AllowTypeChange>,
) -> Cow<'a, [T]> {
    // A view knows the order in which the numbers lie; a contiguous array may be one of columns.
    match array.as_array().to_slice() {
        Some(slice) => slice.into(),
        None => array.as_array().iter().copied().collect::<Vec<T>>().into(),
    }
}

/// The best sequence of labels (by number) and its certificate.
#[pyfunction]
#[pyo3(signature = (scores, labels=None, scheme=None, transitions=None))]
pub fn best_labels<'py>(
    py: Python<'py>,
    scores: Scores2<'py>,
    labels: Option<Vec<String>>,
    scheme: Option<&str>,
    transitions: Option<Scores2<'py>>,
) -> PyResult<(Bound<'py, PyArray1<i32>>, Certificate)> {
    let labelling = labelling(scores.shape()[1], labels, scheme, transitions.as_ref())?;
    let (path, certificate) = labelling.best(&rows(&scores)).map_err(raise)?;
    let path = path.into_iter().map(|label| label as i32);
    Ok((PyArray1::from_iter(py, path), Certificate(certificate)))
}

/// The probability of each label at each position, and the logarithm of the sum over all sequences.
#[pyfunction]
#[pyo3(signature = (scores, labels=None, scheme=None, transitions=None))]
pub fn label_marginals<'py>(
    py: Python<'py>,
    scores: Scores2<'py>,
    labels: Option<Vec<String>>,
    scheme: Option<&str>,
    transitions: Option<Scores2<'py>>,
) -> PyResult<(Bound<'py, PyArray2<f64>>, f64)> {
    let shape = [scores.shape()[0], scores.shape()[1]];
    let labelling = labelling(shape[1], labels, scheme, transitions.as_ref())?;
    let (marginals, log_sum) = labelling.marginals(&rows(&scores)).map_err(raise)?;
    Ok((PyArray1::from_vec(py, marginals).reshape(shape)?, log_sum))
}

type PathsAndValues<'py> = (Bound<'py, PyArray2<i32>>, Bound<'py, PyArray1<f64>>);

/// The best sequences of a batch by number, -1 behind their ends, and their values.
#[pyfunction]
#[pyo3(signature = (scores, lengths=None, labels=None, scheme=None, transitions=None, threads=None))]
pub fn best_batch<'py>(
    py: Python<'py>,
    scores: Scores3<'py>,
    lengths: Option<PyArrayLike1<'py, i64, AllowTypeChange>>,
    labels: Option<Vec<String>>,
    scheme: Option<&str>,
    transitions: Option<Scores2<'py>>,
    threads: Option<usize>,
) -> PyResult<PathsAndValues<'py>> {
    let &[count, positions, width] = scores.shape() else {
        return Err(usage("the scores have three dimensions"));
    };
    let lengths = lengths_of(lengths.as_ref(), count, positions)?;
    let labelling = labelling(width, labels, scheme, transitions.as_ref())?;
    let flat = rows(&scores);
    let pool = pool(threads)?;
    let mut paths = vec![0; count * positions];
    let place = &mut paths[..];
    let values = py.detach(|| pool.install(|| labelling.best_of_batch(&flat, positions, &lengths, place)));
    let values = PyArray1::from_vec(py, values.map_err(raise)?);
    Ok((PyArray1::from_vec(py, paths).reshape([count, positions])?, values))
}

type SoftArrays<'py> = (Bound<'py, PyArray3<f64>>, Bound<'py, PyArray3<f64>>, Bound<'py, PyArray1<f64>>);

/// Soft answers for a batch (`marginals` or `sparse-map`), or the gradient with respect to the scores, given that with respect to the answers:
/// numbers for labels, for pairs of labels in each sequence, and the logarithm of each sum.
#[pyfunction]
#[pyo3(signature = (kind, scores, lengths=None, labels=None, scheme=None, transitions=None, gradient=None, threads=None))]
#[allow(clippy::too_many_arguments)]
pub fn soft_batch<'py>(
    py: Python<'py>,
    kind: &str,
    scores: Scores3<'py>,
    lengths: Option<PyArrayLike1<'py, i64, AllowTypeChange>>,
    labels: Option<Vec<String>>,
    scheme: Option<&str>,
    transitions: Option<Scores2<'py>>,
    gradient: Option<PyArrayLike3<'py, f64, AllowTypeChange>>,
    threads: Option<usize>,
) -> PyResult<SoftArrays<'py>> {
    let &[count, positions, width] = scores.shape() else {
        return Err(usage("the scores have three dimensions"));
    };
    let lengths = lengths_of(lengths.as_ref(), count, positions)?;
    let labelling = labelling(width, labels, scheme, transitions.as_ref())?;
    let (flat, gradient) = (rows(&scores), gradient.as_ref().map(rows));
    let batch = Sequences { scores: &flat, positions, lengths: &lengths };
    let pool = pool(threads)?;
    let answer = || match (kind, gradient.as_deref()) {
        ("marginals", None) => labelling.marginals_of_batch(batch),
        ("marginals", Some(gradient)) => labelling.marginals_gradient(batch, gradient),
        (_, None) => labelling.sparse_map_of_batch(batch),
        (_, Some(gradient)) => labelling.sparse_map_gradient(batch, gradient),
    };
    let Soft { labels, pairs, log_sums } = py.detach(|| pool.install(answer)).map_err(raise)?;
    Ok((
        PyArray1::from_vec(py, labels).reshape([count, positions, width])?,
        PyArray1::from_vec(py, pairs).reshape([count, width, width])?,
        PyArray1::from_vec(py, log_sums),
    ))
}

/// SparseMAP over trees: the share of each arc, or the gradient with respect to its score.
#[pyfunction]
#[pyo3(signature = (scores, single_root=true, gradient=None))]
pub fn sparse_tree<'py>(
    py: Python<'py>,
    scores: PyArrayLike2<'py, f64, AllowTypeChange>,
    single_root: bool,
    gradient: Option<PyArrayLike2<'py, f64, AllowTypeChange>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let shape = [scores.shape()[0], scores.shape()[1]];
    let gradient = gradient.as_ref().map(rows);
    let found = consonant::decode::sparse_tree(&rows(&scores), single_root, gradient.as_deref());
    PyArray1::from_vec(py, found.map_err(raise)?).reshape(shape)
}

/// How long the sequences of a batch are.
fn lengths_of(
    lengths: Option<&PyArrayLike1<'_, i64, AllowTypeChange>>,
    count: usize,
    positions: usize,
) -> PyResult<Vec<usize>> {
    let lengths: Vec<usize> = match lengths {
        Some(lengths) => {
            lengths.as_array().iter().map(|&length| usize::try_from(length).unwrap_or(usize::MAX)).collect()
        }
        None => vec![positions; count],
    };
    if lengths.len() != count {
        return Err(usage(format!("there are {} lengths for {count} sequences", lengths.len())));
    }
    Ok(lengths)
}

/// The heads of the best tree and its certificate; rows of the scores are heads, columns words, 0 is the root.
#[pyfunction]
#[pyo3(signature = (scores, single_root=true, projective=false))]
pub fn best_tree<'py>(
    py: Python<'py>,
    scores: Scores2<'py>,
    single_root: bool,
    projective: bool,
) -> PyResult<(Bound<'py, PyArray1<i32>>, Certificate)> {
    let shape = TreeShape { single_root, projective };
    let (heads, certificate) = consonant::decode::best_tree(&rows(&scores), shape).map_err(raise)?;
    Ok((PyArray1::from_iter(py, heads.into_iter().map(|head| head as i32)), Certificate(certificate)))
}
