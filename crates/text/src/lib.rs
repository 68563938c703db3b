//! Documents with layers, lossless formats and scorers.
