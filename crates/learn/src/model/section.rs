use std::io::{self, Read};
use std::ops::Deref;
use std::sync::Arc;

use yoke::Yoke;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::disk::DiskFile;

/// Element types a section may hold: plain numbers without padding or invalid bit patterns.
pub trait Number: FromBytes + IntoBytes + Immutable + Copy + Send + Sync + sealed::Sealed + 'static {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! numbers {
    ($($number:ty),*) => { $(impl sealed::Sealed for $number {} impl Number for $number {})* };
}
numbers!(u8, u16, u32, u64, i32, f32, f64);

/// A cache line: sections begin at multiples of it in the file, and so they do in memory.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub(super) struct Line([u8; 64]);

/// The bytes of a model, wherever they lie. They never change and never move while any section points at
/// them.
pub(super) enum Backing {
    Mapped(memmap2::Mmap),
    Static(&'static [u8]),
    /// The second field is the length in bytes.
    Owned(Vec<Line>, usize),
}

impl Backing {
    /// Reads a file of `length` bytes to memory of our own: in large pages where the system has them, because weights
    /// are looked up all over it.
    pub(super) fn read(file: &mut DiskFile, length: usize) -> io::Result<Self> {
        let mut memory = memmap2::MmapMut::map_anon(length)?;
        #[cfg(target_os = "linux")]
        // Without large pages it is as good, only slower.
        let _ = memory.advise(memmap2::Advice::HugePage);
        file.read_exact(&mut memory)?;
        Ok(Self::Mapped(memory.make_read_only()?))
    }

    /// Copies `bytes` to memory aligned for every [`Number`].
    pub(super) fn aligned(bytes: &[u8]) -> Self {
        let line = |chunk: &[u8]| {
            let mut line = Line([0; 64]);
            line.0[..chunk.len()].copy_from_slice(chunk);
            line
        };
        Self::Owned(bytes.chunks(size_of::<Line>()).map(line).collect(), bytes.len())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Static(bytes) => bytes,
            Self::Owned(lines, length) => &lines.as_bytes()[..*length],
        }
    }
}

impl std::fmt::Debug for Backing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.bytes().len())
    }
}

/// Numbers that lie in a model: a slice that keeps the model's memory alive, so that it can be owned by
/// anything.
pub struct Section<T: Number>(Yoke<&'static [T], Arc<Backing>>);

impl<T: Number> Section<T> {
    /// Views a range of the backing as numbers; `None` when it is out of range, misaligned or not a whole
    /// number of elements.
    pub(super) fn new(backing: &Arc<Backing>, offset: usize, length: usize) -> Option<Self> {
        let end = offset.checked_add(length)?;
        Yoke::<&'static [T], _>::try_attach_to_cart(Arc::clone(backing), |backing| {
            let bytes = backing.bytes().get(offset..end).ok_or(())?;
            <[T]>::ref_from_bytes(bytes).map_err(|_| ())
        })
        .ok()
        .map(Self)
    }

    /// A section of its own memory, for tables that were built and not read.
    pub fn from_slice(numbers: &[T]) -> Self {
        let backing = Arc::new(Backing::aligned(numbers.as_bytes()));
        // The bytes of whole numbers at the start of aligned memory are always those numbers.
        Self(Yoke::attach_to_cart(backing, |backing| <[T]>::ref_from_bytes(backing.bytes()).unwrap_or(&[])))
    }
}

impl<T: Number> Clone for Section<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Number + std::fmt::Debug> std::fmt::Debug for Section<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.deref().fmt(f)
    }
}

impl<T: Number> Deref for Section<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.0.get()
    }
}
