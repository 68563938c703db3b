use std::ops::Deref;
use std::sync::Arc;

/// Element types a section may hold: plain numbers without padding or invalid bit patterns.
pub trait Number: sealed::Sealed + Copy + Send + Sync + 'static {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! numbers {
    ($($number:ty),*) => { $(impl sealed::Sealed for $number {} impl Number for $number {})* };
}
numbers!(u8, u16, u32, u64, i32, f32, f64);

/// The bytes of a model, wherever they lie. They never change and never move while any section points at them.
#[derive(Debug)]
pub(super) enum Backing {
    Mapped(memmap2::Mmap),
    Static(&'static [u8]),
    /// Words of eight bytes keep every number type aligned; the second field is the length in bytes.
    Owned(Vec<u64>, usize),
}

impl Backing {
    /// Copies `bytes` to memory aligned for every [`Number`].
    pub(super) fn aligned(bytes: &[u8]) -> Self {
        let mut words = Vec::with_capacity(bytes.len().div_ceil(8));
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            words.push(u64::from_ne_bytes(word));
        }
        Self::Owned(words, bytes.len())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Static(bytes) => bytes,
            // SAFETY: a Vec<u64> of n words is 8n initialized bytes, and the length is at most that by construction.
            Self::Owned(words, length) => unsafe {
                std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), *length)
            },
        }
    }
}

/// Numbers that lie in a model: a slice that keeps the model's memory alive, so that it can be owned by anything.
#[derive(Debug, Clone)]
pub struct Section<T: Number> {
    /// Never read, but it keeps the memory behind `start` alive.
    _backing: Arc<Backing>,
    start: *const T,
    length: usize,
}

// SAFETY: the memory behind a section is never written while any `Arc` to its backing lives, and numbers are Send + Sync.
unsafe impl<T: Number> Send for Section<T> {}
// SAFETY: as above; only shared reads are possible.
unsafe impl<T: Number> Sync for Section<T> {}

impl<T: Number> Section<T> {
    /// Views a range of the backing as numbers; `None` when it is out of range, misaligned or not a whole number of
    /// elements.
    pub(super) fn new(backing: &Arc<Backing>, offset: usize, length: usize) -> Option<Self> {
        let bytes = backing.bytes().get(offset..offset.checked_add(length)?)?;
        let size = size_of::<T>();
        if bytes.as_ptr().align_offset(align_of::<T>()) != 0 || bytes.len() % size != 0 {
            return None;
        }
        Some(Self {
            start: bytes.as_ptr().cast::<T>(),
            length: bytes.len() / size,
            _backing: Arc::clone(backing),
        })
    }

    /// A section of its own memory, for tables that were built and not read.
    pub fn from_slice(numbers: &[T]) -> Self {
        let backing = Arc::new(Backing::aligned(bytes_of(numbers)));
        let length = size_of_val(numbers);
        Self::new(&backing, 0, length).expect("owned memory is aligned and whole")
    }
}

impl<T: Number> Deref for Section<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `new` checked range and alignment; the backing is kept alive and unchanged, and a move of the
        // section does not move it; every bit pattern is a valid number.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// The bytes of numbers as they lie in memory.
pub(super) fn bytes_of<T: Number>(numbers: &[T]) -> &[u8] {
    // SAFETY: numbers have no padding, so all their bytes are initialized.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast::<u8>(), size_of_val(numbers)) }
}
