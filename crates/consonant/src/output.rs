//! Where results go: standard output, or a file that appears under its name only when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};

use crate::interrupt;

const BUFFER: usize = 1 << 16;

/// A destination for results; call [`Output::finish`] when all is written.
pub enum Output {
    /// Standard output, buffered.
    Standard(BufWriter<StdoutLock<'static>>),
    /// A regular file, complete or absent.
    File(AtomicFile),
    /// Something that cannot be replaced by a rename: a pipe, a terminal, `/dev/null`.
    Device(BufWriter<File>),
}

impl Output {
    /// Opens `path`; nothing or `-` is standard output.
    pub fn open(path: Option<&Path>) -> io::Result<Output> {
        match path {
            None => Ok(Output::Standard(BufWriter::with_capacity(BUFFER, io::stdout().lock()))),
            Some(path) if path.as_os_str() == "-" => Output::open(None),
            Some(path) if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) => {
                Ok(Output::Device(BufWriter::with_capacity(BUFFER, File::options().write(true).open(path)?)))
            }
            Some(path) => AtomicFile::create(path).map(Output::File),
        }
    }

    /// Flushes, and gives a file its name. Without this call a file is never seen.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Output::Standard(mut out) => out.flush(),
            Output::Device(mut out) => out.flush(),
            Output::File(file) => file.commit(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Standard(out) => out.write(bytes),
            Output::File(out) => out.write(bytes),
            Output::Device(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Standard(out) => out.flush(),
            Output::File(out) => out.flush(),
            Output::Device(out) => out.flush(),
        }
    }
}

/// A file written beside its final place and renamed into it by [`AtomicFile::commit`]; dropped before that, or
/// interrupted, it leaves nothing.
pub struct AtomicFile {
    writer: Option<BufWriter<File>>,
    temporary: PathBuf,
    destination: PathBuf,
    committed: bool,
}

impl AtomicFile {
    /// Begins a file that will be called `path`. A link is followed, so that what it points to is replaced.
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
        let destination = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let explain = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
        };
        if destination.is_dir() {
            return Err(explain(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")));
        }
        let folder = match destination.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let (file, temporary) = interrupt::create(|| {
            let mut builder = tempfile::Builder::new();
            builder.prefix(".consonant-").suffix(".incomplete");
            #[cfg(unix)]
            builder.permissions(new_file_permissions(&destination));
            Ok(builder.tempfile_in(folder)?.keep()?)
        })
        .map_err(explain)?;
        let writer = Some(BufWriter::with_capacity(BUFFER, file));
        Ok(AtomicFile { writer, temporary, destination, committed: false })
    }

    /// Where the bytes are now, for a library that writes (or maps) a file by its path.
    #[cfg_attr(not(test), expect(dead_code, reason = "for commands that save models by path"))]
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Completes the file: flush, then rename.
    pub fn commit(mut self) -> io::Result<()> {
        if let Some(mut writer) = self.writer.take() {
            writer.flush()?;
        }
        self.committed = true;
        interrupt::release(&self.temporary, || match fs::rename(&self.temporary, &self.destination) {
            Ok(()) => Ok(()),
            Err(error) => {
                let _ = fs::remove_file(&self.temporary);
                Err(io::Error::new(
                    error.kind(),
                    format!("cannot write {}: {error}", self.destination.display()),
                ))
            }
        })
    }
}

/// An existing file keeps its permissions; a new one gets what the umask leaves.
#[cfg(unix)]
fn new_file_permissions(destination: &Path) -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(destination).map_or_else(|_| fs::Permissions::from_mode(0o666), |found| found.permissions())
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.as_mut().map_or(Ok(0), |writer| writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.committed {
            interrupt::release(&self.temporary, || {
                let _ = fs::remove_file(&self.temporary);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_only_when_committed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert!(file.path().exists() && !path.exists());
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"whole").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = AtomicFile::create(folder.path()).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("directory"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let mut file = AtomicFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
