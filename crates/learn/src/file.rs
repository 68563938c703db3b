//! Writing files so that nobody ever sees half of one: models, states of trainings, and whatever a program
//! writes.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::disk::{self, DiskFile};
use crate::hash;

/// A file that appears under its name only when it is complete.
///
/// It is written beside its target under another name; [`commit`](AtomicFile::commit) flushes it to disk,
/// renames it and flushes the folder. Dropped before that, it is removed, and an older file of the name stays
/// as it was; a file that takes the place of another has its permissions. What a process leaves that is killed on
/// the way is for [`remove_orphans`].
///
/// ```
/// use std::io::Write;
/// use consonant_learn::file::AtomicFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model");
/// let mut file = AtomicFile::create(&path)?;
/// file.write_all(b"weights")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"weights");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    writer: Option<BufWriter<DiskFile>>,
    temporary: PathBuf,
    target: PathBuf,
}

static COUNTER: AtomicU64 = AtomicU64::new(0);

impl AtomicFile {
    /// Starts a file that will appear at a path. Follows a symbolic link at the path to the file it names,
    /// which must be there.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if fs::symlink_metadata(path).is_ok() => {
                return Err(io::Error::new(error.kind(), "is a symbolic link that leads nowhere"));
            }
            Err(_) => path.to_path_buf(),
        };
        if target.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder, not a file"));
        }
        let name = target.file_name().ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "the path names no file: expected a folder and a file name",
            )
        })?;
        let place = place();
        loop {
            // Where it runs, the process and a count make the name ours; a file left over by a process of the
            // same number is passed.
            let count = COUNTER.fetch_add(1, Ordering::Relaxed);
            let temporary = temporary_of(&target, name, &format!("{place:016x}-{}-{count}", process::id()));
            match DiskFile::create_new(&temporary) {
                Ok(file) => {
                    let writer = Some(BufWriter::with_capacity(1 << 16, file));
                    return Ok(AtomicFile { writer, temporary, target });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
        }
    }

    /// The file under its temporary name, to be removed by a handler of signals.
    pub fn temporary_path(&self) -> &Path {
        &self.temporary
    }

    /// Makes the file complete and gives it its name.
    pub fn commit(mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
            if let Ok(old) = fs::metadata(&self.target) {
                file.set_permissions(old.permissions())?;
            }
            file.sync()?;
        }
        disk::rename(&self.temporary, &self.target)?;
        self.temporary.clear();
        // The name is in the folder, which has to reach the disk as well. Not every system can do that with
        // folders.
        let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Ok(folder) = DiskFile::open(folder.unwrap_or(Path::new("."))) {
            let flushed = folder.sync();
            let unable = |error: &io::Error| {
                matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported)
            };
            if flushed.as_ref().is_err_and(|error| !unable(error)) {
                return flushed;
            }
        }
        Ok(())
    }
}

/// Writes a whole file, which appears under its name when it is complete.
pub fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(content.as_ref())?;
    file.commit()
}

fn temporary_of(target: &Path, name: &OsStr, owner: &str) -> PathBuf {
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{owner}.tmp"));
    target.with_file_name(temporary)
}

/// What stands for the processes that are seen from here. Others, of another machine or container that writes into the
/// same folder, may have our number and live.
fn place() -> u64 {
    let machine =
        ["/etc/machine-id", "/proc/sys/kernel/hostname"].map(|file| fs::read(file).unwrap_or_default());
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    hash::key(&[machine.concat(), space.into_os_string().into_encoded_bytes()].concat())
}

/// Removes what processes of this machine left on their way to a file when they were killed. Looks through the
/// folder, so it is for single files and not for each of thousands; does nothing where processes cannot be seen in
/// `/proc`. Failures are no matter: such files are only in the way.
pub fn remove_orphans(path: impl AsRef<Path>) {
    let (path, processes) = (path.as_ref(), Path::new("/proc"));
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let Some(name) = target.file_name().filter(|_| processes.join(process::id().to_string()).exists()) else {
        return;
    };
    let place = place();
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else { return };
    let beginning = [b".", name.as_encoded_bytes(), format!(".{place:016x}-").as_bytes()].concat();
    for entry in entries.flatten() {
        let found = entry.file_name();
        let owner = found.as_encoded_bytes().strip_prefix(&beginning[..]);
        let owner = owner.and_then(|rest| std::str::from_utf8(rest.strip_suffix(b".tmp")?).ok());
        let process = owner.and_then(|owner| owner.split_once('-')?.0.parse::<u32>().ok());
        if process.is_some_and(|process| !processes.join(process.to_string()).exists()) {
            let _ = fs::remove_file(entry.path());
        }
    }
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
        if !self.temporary.as_os_str().is_empty() {
            // Without its buffer, so that dropping does not write what is to be thrown away.
            drop(self.writer.take().map(BufWriter::into_parts));
            // Nothing can be done about a failure here, and the target is untouched.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_it_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_dead_processes_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let dead = process::Command::new("true")
            .spawn()
            .and_then(|mut child| child.wait().map(|_| child.id()))
            .unwrap();
        let (own, other) = (place(), place() ^ 1);
        let name = |name: &str, place: u64, id: u32| {
            temporary_of(&path, OsStr::new(name), &format!("{place:016x}-{id}-0"))
        };
        let orphan = name("out", own, dead);
        let kept = [
            name("out", own, 1),
            name("out", other, dead),
            name("output", own, dead),
            folder.path().join(".out.x.tmp"),
        ];
        kept.iter().chain([&orphan]).for_each(|path| fs::write(path, "half").unwrap());
        remove_orphans(&path);
        assert!(!orphan.exists());
        assert!(kept.iter().all(|path| path.exists()), "{kept:?}");
    }

    #[test]
    fn folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(AtomicFile::create(folder.path()).is_err());
        assert!(AtomicFile::create(folder.path().join("none/out")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_permissions_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("out"), folder.path().join("link"));
        symlink("out", &link).unwrap();
        let error = AtomicFile::create(&link).unwrap_err().to_string();
        assert!(error.contains("leads nowhere"), "{error}");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let mut file = AtomicFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
