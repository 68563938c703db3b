//! Tagging with chain models.
