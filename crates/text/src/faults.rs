//! Where parsers put what is wrong with a block.

use std::sync::Arc;

use crate::error::{Fault, FormatError};

/// The faults of one block, of which the first `room` are kept in full and the others counted.
#[derive(Debug)]
pub(crate) struct Faults {
    pub file: Arc<str>,
    pub first_line: u64,
    pub errors: Vec<FormatError>,
    pub total: u64,
    pub room: usize,
}

impl Faults {
    pub fn new(file: Arc<str>) -> Self {
        Faults { file, first_line: 1, errors: Vec::new(), total: 0, room: 1 }
    }

    pub fn start(&mut self, first_line: u64, room: usize) {
        self.errors.clear();
        (self.first_line, self.total, self.room) = (first_line, 0, room);
    }

    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Reports a fault at a byte of the block; it is put together only if there is room for it.
    pub fn report(&mut self, block: &str, at: usize, fault: impl FnOnce() -> Fault) {
        self.total += 1;
        if self.errors.len() < self.room {
            self.errors.push(fault().within(&self.file, self.first_line, &block.as_bytes()[..at]));
        }
    }
}
