//! The few calls by which files are read and written. In tests each of them can be made to fail.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// An open file.
#[derive(Debug)]
pub(crate) struct DiskFile(File);

impl DiskFile {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        faults::call()?;
        File::open(path).map(Self)
    }

    /// A file that was not there before.
    pub(crate) fn create_new(path: &Path) -> io::Result<Self> {
        faults::call()?;
        OpenOptions::new().write(true).create_new(true).open(path).map(Self)
    }

    pub(crate) fn metadata(&self) -> io::Result<fs::Metadata> {
        faults::call()?;
        self.0.metadata()
    }

    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        faults::call()?;
        self.0.rewind()
    }

    pub(crate) fn set_permissions(&self, permissions: fs::Permissions) -> io::Result<()> {
        faults::call()?;
        self.0.set_permissions(permissions)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        faults::call()?;
        self.0.sync_all()
    }

    /// The file itself, to be mapped.
    pub(crate) fn mapped(&self) -> io::Result<&File> {
        faults::call()?;
        Ok(&self.0)
    }
}

impl Read for DiskFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        faults::call()?;
        self.0.read(buffer)
    }
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        faults::call()?;
        let room = faults::room(bytes.len())?;
        self.0.write(&bytes[..room])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    faults::call()?;
    fs::rename(from, to)
}

#[cfg(not(test))]
mod faults {
    use std::io;

    #[inline(always)]
    pub(super) fn call() -> io::Result<()> {
        Ok(())
    }

    #[inline(always)]
    pub(super) fn room(wanted: usize) -> io::Result<usize> {
        Ok(wanted)
    }
}

/// Failures of this thread's calls.
#[cfg(test)]
pub(crate) mod faults {
    use std::cell::Cell;
    use std::io;

    thread_local! {
        static CALLS: Cell<Option<usize>> = const { Cell::new(None) };
        static ROOM: Cell<Option<usize>> = const { Cell::new(None) };
        static IS_FATAL: Cell<bool> = const { Cell::new(false) };
    }

    /// Ends the process at call number `call`, counted from 0, as if it were killed there.
    pub(crate) fn kill_at(call: usize) {
        CALLS.set(Some(call + 1));
        IS_FATAL.set(true);
    }

    /// Runs `work` with a failure of call number `calls`, counted from 0, and a disk with `room` bytes left. Says
    /// whether that call came.
    pub(crate) fn with<R>(calls: Option<usize>, room: Option<usize>, work: impl FnOnce() -> R) -> (R, bool) {
        CALLS.set(calls.map(|calls| calls + 1));
        ROOM.set(room);
        let result = work();
        let failed = CALLS.replace(None) == Some(0);
        ROOM.set(None);
        (result, failed)
    }

    pub(super) fn call() -> io::Result<()> {
        match CALLS.get() {
            Some(1) if IS_FATAL.get() => std::process::abort(),
            Some(1) => {
                CALLS.set(Some(0));
                Err(io::Error::other("a failure that was asked for"))
            }
            Some(left) => {
                CALLS.set(Some(left.saturating_sub(1)));
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(super) fn room(wanted: usize) -> io::Result<usize> {
        match ROOM.get() {
            None => Ok(wanted),
            Some(0) if wanted > 0 => Err(io::ErrorKind::StorageFull.into()),
            Some(room) => {
                let taken = wanted.min(room);
                ROOM.set(Some(room - taken));
                Ok(taken)
            }
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/faults.rs"]
mod tests;
