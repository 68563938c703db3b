//! Opening files and standard input, compressed or not, and cutting them into lines and blocks with bounded
//! memory.

mod blocks;
mod open;

pub(crate) use blocks::{BlankLines, Block, Blocks, check_text};
pub use open::{Input, STDIN};

/// Longest line or sentence that a reader takes, unless told otherwise: 16 MiB.
pub const DEFAULT_MAX_LENGTH: usize = 16 << 20;

/// What comes out of a compressed file that is kept as a whole, unless told otherwise: 1 GiB at most.
pub const DEFAULT_MAX_UNPACKED: u64 = 1 << 30;

/// The most that can be asked for; offsets within a sentence are 32 bits wide.
pub const LARGEST_MAX_LENGTH: usize = 1 << 30;
