//! Which branches an execution took. Built as `crates/fuzz/run` does, every edge of the program has a counter of eight
//! bits (LLVM's SanitizerCoverage, which stable Rust can ask for); built otherwise there are none, and nothing guides.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

static START: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Called before `main` with where the counters lie: LLVM's name for it.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_8bit_counters_init(start: *mut u8, end: *mut u8) {
    let length = (end as usize).saturating_sub(start as usize);
    // Every object file may call with its own range; the linker joins them, so the longest is all of them.
    if length > LENGTH.load(Ordering::Relaxed) {
        START.store(start, Ordering::Relaxed);
        LENGTH.store(length, Ordering::Relaxed);
    }
}

/// What was seen of each counter in all executions: bits for once, twice, three times, 4 to 7, ….
#[derive(Debug, Default)]
pub struct Seen(Vec<u8>);

impl Seen {
    /// The number of edges that the program has.
    pub fn edges() -> usize {
        LENGTH.load(Ordering::Relaxed)
    }

    /// The number of edges that were taken.
    pub fn taken(&self) -> usize {
        self.0.iter().filter(|&&seen| seen > 0).count()
    }

    /// Sets all counters to zero.
    #[allow(unsafe_code)]
    pub fn begin() {
        let (start, length) = (START.load(Ordering::Relaxed), LENGTH.load(Ordering::Relaxed));
        if length > 0 {
            // SAFETY: these bytes are the program's counters, which nothing else in Rust refers to. Threads of rayon
            // may count at the same time; a lost count is no harm to anybody.
            unsafe { std::ptr::write_bytes(start, 0, length) };
        }
    }

    /// Adds what was counted since then, and says whether there was anything new.
    #[allow(unsafe_code)]
    pub fn add(&mut self) -> bool {
        let (start, length) = (START.load(Ordering::Relaxed), LENGTH.load(Ordering::Relaxed));
        self.0.resize(length, 0);
        let mut is_new = false;
        if length == 0 {
            return false;
        }
        // SAFETY: as above. Compiled code changes them unseen, but not within this call.
        let counters = unsafe { std::slice::from_raw_parts(start, length) };
        for (counters, seen) in counters.chunks(64).zip(self.0.chunks_mut(64)) {
            // Most have not moved.
            if counters.iter().fold(0, |all, count| all | count) == 0 {
                continue;
            }
            for (&count, seen) in counters.iter().zip(seen).filter(|(count, _)| **count > 0) {
                let bit = 1u8 << (u8::BITS - 1 - count.leading_zeros());
                is_new |= *seen & bit == 0;
                *seen |= bit;
            }
        }
        is_new
    }
}
