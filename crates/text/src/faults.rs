//! Where parsers put what is wrong with a block.

use std::sync::Arc;

use memchr::{memchr_iter, memrchr};

use crate::error::{FormatError, Kind};

/// The faults of one block, of which the first `room` are kept in full and the others counted.
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

    /// Reports a fault at a byte of the block; `message` makes what was expected, what came and a hint.
    pub fn report(
        &mut self,
        block: &str,
        at: usize,
        kind: Kind,
        message: impl FnOnce() -> (String, String, &'static str),
    ) {
        self.total += 1;
        if self.errors.len() >= self.room {
            return;
        }
        let before = &block.as_bytes()[..at];
        let line_start = memrchr(b'\n', before).map_or(0, |at| at + 1);
        let (expected, came, hint) = message();
        self.errors.push(FormatError {
            file: Arc::clone(&self.file),
            line: self.first_line + memchr_iter(b'\n', before).count() as u64,
            column: block[line_start..at].chars().count() as u64 + 1,
            kind,
            expected,
            came,
            hint: hint.into(),
        });
    }
}
