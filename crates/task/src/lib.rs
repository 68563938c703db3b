//! One contract for all tasks.
//!
//! A [`Task`] is a type that can be trained from [`Item`]s and settings, opened from a model, decode a batch
//! of items with a certificate for each unit, and be inspected. Who knows one task knows all, and the
//! program, the wheel and the server need no knowledge of any: they read settings from the task's own struct,
//! items from the item's own formats.
//!
//! What tasks share stands here once: [`Workers`] (buffers that are reused from call to call), [`Watch`] (how
//! a training tells how far it is and hears that it should stop), [`Unit`] (a certificate and how much it is
//! for), [`Inspection`].

#![forbid(unsafe_code)]

mod confidence;
mod inspection;
mod item;
mod task;
mod watch;
mod workers;

pub use confidence::{Calibration, NO_CONFIDENCE, calibration_error, log_odds};
pub use consonant_learn::settings::{Settings, Usage};
pub use consonant_learn::{names, settings};
pub use consonant_map::proof::Answered;
pub use consonant_map::{Certificate, Status};
pub use inspection::{Cell, Contribution, Explanation, Inspection, Table};
pub use item::{
    Annotate, Batch, Failure, Item, ItemError, ItemReader, Lines, SentenceItems, open_as, open_file,
    read_file,
};
pub use task::{Data, Reads, Solver, Source, Task, Trained, Unit};
pub use watch::{Event, Watch};
pub use workers::{Worker, Workers};
