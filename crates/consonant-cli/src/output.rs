//! Where results go: standard output, or a file that appears under its name only when it is complete.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Read as _, Stdout, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use consonant::learn::file::{AtomicFile, remove_orphans};
use consonant::learn::model::Model;
use flate2::write::GzEncoder;

use crate::{interrupt, usage_error};

const BUFFER: usize = 1 << 16;

/// The flag that says where results go.
#[derive(Args)]
pub struct Destination {
    /// Where the output goes (default: standard output).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Destination {
    /// Opens it; a file is written atomically.
    pub fn open(&self) -> io::Result<Output> {
        if let Some(path) = &self.output {
            remove_orphans(path);
        }
        Output::open(self.output.as_deref())
    }

    /// Refuses a file that is read: results of another kind would take the place of what they were made of.
    pub fn keep_apart<'p>(&self, read: impl IntoIterator<Item = &'p PathBuf>) -> Result<()> {
        self.output.as_deref().map_or(Ok(()), |path| keep_apart(path, read))
    }

    /// The ending of the file's name, in lower case and without that of a compression: it says the format.
    pub fn extension(&self) -> Option<String> {
        let path = self.output.as_deref()?;
        let inner = Compression::of(path).map_or(path, |_| Path::new(path.file_stem().unwrap_or_default()));
        Some(inner.extension()?.to_string_lossy().to_lowercase())
    }

    /// The file that was named.
    pub fn path(&self) -> Option<&PathBuf> {
        self.output.as_ref()
    }

    /// Whether no file was named.
    pub fn is_standard(&self) -> bool {
        self.output.is_none()
    }
}

/// A destination for results; call [`Output::finish`] when all is written.
pub enum Output {
    /// Standard output, buffered.
    Standard(BufWriter<Stdout>),
    /// A regular file, complete or absent.
    File(PendingFile),
    /// A regular file that is compressed, as its name says.
    Gzip(GzEncoder<PendingFile>),
    /// The same with another compression.
    Zstd(zstd::Encoder<'static, PendingFile>),
    /// Something that cannot be replaced by a rename: a pipe, a terminal, `/dev/null`.
    Device(BufWriter<File>),
}

impl Output {
    /// Opens `path`; nothing or `-` is standard output. A model that lies there is not written over.
    pub fn open(path: Option<&Path>) -> io::Result<Output> {
        if let Some(path) = path.filter(|path| begins_as_model(path)) {
            let refused = "is a model, and this would not be one; name another file, or remove it";
            return Err(explain(path, io::Error::new(io::ErrorKind::AlreadyExists, refused)));
        }
        Output::replace(path)
    }

    /// The same, whatever lies there.
    pub fn replace(path: Option<&Path>) -> io::Result<Output> {
        match path {
            None => Ok(Output::Standard(BufWriter::with_capacity(BUFFER, io::stdout()))),
            Some(path) if path.as_os_str() == "-" => Output::replace(None),
            Some(path) if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) => {
                Ok(Output::Device(BufWriter::with_capacity(BUFFER, File::options().write(true).open(path)?)))
            }
            Some(path) => {
                let file = PendingFile::create(path)?;
                Ok(match Compression::of(path) {
                    None => Output::File(file),
                    Some(Compression::Gzip) => Output::Gzip(GzEncoder::new(file, Default::default())),
                    Some(Compression::Zstd) => Output::Zstd(zstd::Encoder::new(file, 0)?),
                })
            }
        }
    }

    /// Whether a person sees the results as they come.
    pub fn is_terminal(&self) -> bool {
        match self {
            Output::Standard(_) => io::stdout().is_terminal(),
            Output::File(_) | Output::Gzip(_) | Output::Zstd(_) => false,
            Output::Device(out) => out.get_ref().is_terminal(),
        }
    }

    /// Flushes, and gives a file its name. Without this call a file is never seen.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Output::Standard(mut out) => out.flush(),
            Output::Device(mut out) => out.flush(),
            Output::File(file) => file.commit(),
            Output::Gzip(encoder) => encoder.finish()?.commit(),
            Output::Zstd(encoder) => encoder.finish()?.commit(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Standard(out) => out.write(bytes),
            Output::File(file) => file.write(bytes),
            Output::Gzip(encoder) => encoder.write(bytes),
            Output::Zstd(encoder) => encoder.write(bytes),
            Output::Device(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Standard(out) => out.flush(),
            Output::File(file) => file.flush(),
            // Blocks that a reader can see before the end would compress less; nobody sees them before it.
            Output::Gzip(_) | Output::Zstd(_) => Ok(()),
            Output::Device(out) => out.flush(),
        }
    }
}

/// A piece of data as a line for people may show it: what a terminal would obey, or would take for the end of the
/// line, is written out.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_command) {
        return text.into();
    }
    let escape = |c: char| if is_command(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(escape).collect::<String>().into()
}

/// The same for several lines of our own.
pub fn shown_lines(text: &str) -> String {
    text.split('\n')
        .map(|line| line.split('\t').map(shown).collect::<Vec<_>>().join("\t"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Controls, ends of lines, and marks that turn the direction of writing.
fn is_command(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Refuses to write a file that is read as well.
pub fn keep_apart<'p>(written: &Path, read: impl IntoIterator<Item = &'p PathBuf>) -> Result<()> {
    let Ok(written) = fs::canonicalize(written) else { return Ok(()) };
    match read
        .into_iter()
        .find(|path| fs::canonicalize(path).is_ok_and(|path| path == written && path.is_file()))
    {
        Some(path) => {
            let path = path.display();
            Err(usage_error(format!(
                "{path} is read and would be written over; name another file for the output"
            )))
        }
        None => Ok(()),
    }
}

fn begins_as_model(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = |file: File| file.take(64).read_to_end(&mut beginning);
    path.is_file() && File::open(path).and_then(read).is_ok() && Model::has_signature(&beginning)
}

/// Writes a whole text to a file.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut output = Output::open(Some(path))?;
    output.write_all(text.as_bytes())?;
    output.finish()
}

/// A file that appears under its name only by [`PendingFile::commit`]; dropped before that, or interrupted,
/// it leaves nothing.
pub struct PendingFile {
    /// Present until it is committed or dropped.
    file: Option<AtomicFile>,
    temporary: PathBuf,
}

impl PendingFile {
    /// Begins a file that will be called `path`.
    pub fn create(path: &Path) -> io::Result<PendingFile> {
        let (file, temporary) = interrupt::create(|| {
            let file = AtomicFile::create(path)?;
            let temporary = file.temporary_path().to_path_buf();
            Ok((file, temporary))
        })
        .map_err(|error| explain(path, error))?;
        Ok(PendingFile { file: Some(file), temporary })
    }

    fn commit(mut self) -> io::Result<()> {
        let file = self.file.take();
        interrupt::release(&self.temporary, || file.map_or(Ok(()), AtomicFile::commit))
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Ok(0), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// How a file is compressed.
pub enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// By the file's name.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "gz" => Some(Self::Gzip),
            "zst" => Some(Self::Zstd),
            _ => None,
        }
    }
}

fn explain(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            interrupt::release(&self.temporary, || drop(file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_only_when_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let mut output = Output::open(Some(&path)).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        let mut output = Output::open(Some(&path)).unwrap();
        output.write_all(b"whole").unwrap();
        assert!(!path.exists());
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let error = Output::open(Some(folder.path())).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("cannot write") && error.contains(folder.path().to_str().unwrap()), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_in_place() {
        let mut output = Output::open(Some(Path::new("/dev/null"))).unwrap();
        assert!(matches!(output, Output::Device(_)));
        output.write_all(b"gone").unwrap();
        output.finish().unwrap();
    }
}
