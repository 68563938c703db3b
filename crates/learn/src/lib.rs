//! Weights, feature hashing, the model file and trainers.
