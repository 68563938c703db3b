use std::fmt;
use std::fs::File;
use std::io::{self, Chain, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use crate::error::Error;
use crate::format::Format;

use super::DEFAULT_MAX_UNPACKED;
use super::blocks::{Block, check_text};

/// The name under which standard input appears in messages.
pub const STDIN: &str = "<stdin>";

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A named stream of bytes, decompressed if its first bytes say gzip or Zstandard, whatever its name says.
///
/// ```
/// use std::io::Read;
/// use consonant_text::input::Input;
///
/// let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
/// std::io::Write::write_all(&mut gz, b"plain again")?;
/// let mut input = Input::new(std::io::Cursor::new(gz.finish()?), "memory")?;
/// let mut text = String::new();
/// input.read_to_string(&mut text)?;
/// assert_eq!(text, "plain again");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Input {
    name: Arc<str>,
    stream: Box<dyn Read + Send>,
    is_packed: bool,
    /// How much may still come out of a compressed file, and how much that was at first.
    limit: Option<(u64, u64)>,
    /// Bytes that were looked at but not yet read.
    head: Vec<u8>,
}

/// How many bytes are looked at to tell a format.
const HEAD: usize = 1 << 13;

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        if path.as_os_str() == "-" {
            return Input::stdin();
        }
        // A name with an end of line or an escape in it would speak for us in messages.
        let shown = |c: char| if c.is_control() { c.escape_unicode().to_string() } else { c.to_string() };
        let name: Arc<str> = path.to_string_lossy().chars().map(shown).collect::<String>().into();
        let file = File::open(path).map_err(|error| Error::io(&name, error))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(Error::io(
                &name,
                io::Error::new(io::ErrorKind::IsADirectory, "is a folder, not a file"),
            ));
        }
        Input::new(file, name)
    }

    /// Standard input.
    pub fn stdin() -> Result<Self, Error> {
        Input::new(io::stdin(), STDIN)
    }

    /// Any stream, under a name that will appear in messages.
    pub fn new(mut stream: impl Read + Send + 'static, name: impl Into<Arc<str>>) -> Result<Self, Error> {
        let name = name.into();
        let head = peek(&mut stream).map_err(|error| Error::io(&name, error))?;
        let is_gzip = head.starts_with(&GZIP);
        let is_zstd = head.starts_with(&ZSTD);
        let whole: Chain<Cursor<Vec<u8>>, _> = Cursor::new(head).chain(stream);
        let stream: Box<dyn Read + Send> = if is_gzip {
            Box::new(flate2::read::MultiGzDecoder::new(io::BufReader::with_capacity(1 << 16, whole)))
        } else if is_zstd {
            Box::new(zstd::stream::read::Decoder::new(whole).map_err(|error| Error::io(&name, error))?)
        } else {
            Box::new(whole)
        };
        Ok(Input { name, stream, is_packed: is_gzip || is_zstd, limit: None, head: Vec::new() })
    }

    /// Lets no more than this many bytes come out of a compressed file; what is not compressed has no limit. For who
    /// keeps all that is read: a file as short as a letter can hold gigabytes.
    #[must_use]
    pub fn at_most(mut self, bytes: u64) -> Self {
        self.limit = self.is_packed.then_some((bytes, bytes));
        self
    }

    /// Reads what the stream has, within the limit.
    fn unpack(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        if let Some((left, most)) = &mut self.limit {
            *left = left.checked_sub(count as u64).ok_or_else(|| {
                let text = format!(
                    "more than {most} bytes come out of this compressed file; unpack it first, or allow more with --max-size"
                );
                io::Error::new(io::ErrorKind::FileTooLarge, text)
            })?;
        }
        Ok(count)
    }

    /// The format of what is inside: what the content looks like if that is telling, else what the name says,
    /// else text. Waits for the first bytes; they are still there to be read.
    pub fn format(&mut self) -> Result<Format, Error> {
        while self.head.len() < HEAD {
            let mut more = [0; HEAD];
            let count = match self.unpack(&mut more) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error::io(&self.name, error)),
            };
            self.head.extend_from_slice(&more[..count]);
            // A whole sentence or line is enough: a partner on a pipe may be waiting for an answer to it.
            if count == 0 || self.head.ends_with(b"\n") {
                break;
            }
        }
        let named = Format::from_path(&*self.name);
        Ok(match (Format::from_content(&self.head), named) {
            (Some(found @ (Format::Conllu | Format::Jsonl)), _) => found,
            (_, Some(named)) => named,
            (found, None) => found.unwrap_or(Format::Text),
        })
    }

    /// Whether nothing but white space has been read so far; to be asked after [`format`](Self::format).
    pub fn is_blank(&self) -> bool {
        self.head.iter().all(u8::is_ascii_whitespace)
    }

    /// All of it as text, for who needs the whole at once.
    ///
    /// # Errors
    /// If it cannot be read, or is not UTF-8, or has a NUL byte: the rule of all readers. If it is compressed and has
    /// more than was allowed by [`at_most`](Self::at_most), or than [`DEFAULT_MAX_UNPACKED`].
    pub fn into_text(mut self) -> Result<String, Error> {
        if self.limit.is_none() {
            self = self.at_most(DEFAULT_MAX_UNPACKED);
        }
        let mut bytes = Vec::new();
        let read = self.read_to_end(&mut bytes);
        read.map_err(|error| Error::io(&self.name, error))?;
        check_text(&Block { bytes: &bytes, first_line: 1 }, &self.name)?;
        String::from_utf8(bytes).map_err(|error| Error::io(&self.name, io::Error::other(error)))
    }

    /// The name that appears in messages.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.head.is_empty() {
            return self.unpack(buffer);
        }
        let count = self.head.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.head[..count]);
        self.head.drain(..count);
        Ok(count)
    }
}

fn peek(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(ZSTD.len());
    stream.take(ZSTD.len() as u64).read_to_end(&mut head)?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Input::new(Cursor::new(bytes), "test").unwrap().read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn the_whole_is_text_or_an_error_with_its_place() {
        let text = |bytes: &'static [u8]| Input::new(bytes, "t").unwrap().into_text();
        assert_eq!(text("\u{feff}Grüße\r\n".as_bytes()).unwrap(), "\u{feff}Grüße\r\n");
        assert_eq!(text(b"").unwrap(), "");
        let nul = "t:2:3: expected text, came a NUL byte; is this a binary file or UTF-16?";
        assert_eq!(text(b"a\nbc\0d").unwrap_err().to_string(), nul);
        assert!(
            text(b"ab\xffc").unwrap_err().to_string().starts_with("t:1:3: expected UTF-8, came byte 0xff")
        );
        assert!(text(&[0x1f, 0x8b, 8, 0, 0]).unwrap_err().to_string().starts_with("t: "));
    }

    #[test]
    fn a_small_file_does_not_become_a_large_text() {
        let packed = zstd::stream::encode_all(std::io::repeat(b'\n').take(1 << 20), 1).unwrap();
        assert!(packed.len() < 1000);
        let input = || Input::new(Cursor::new(packed.clone()), "t").unwrap();
        assert_eq!(input().at_most(1 << 20).into_text().unwrap().len(), 1 << 20);
        let mut looked_at = input().at_most((1 << 20) - 1);
        looked_at.format().unwrap();
        let error = looked_at.into_text().unwrap_err().to_string();
        assert!(error.starts_with("t: more than 1048575 bytes come out of this compressed file"), "{error}");
        assert!(error.contains("--max-size"), "{error}");
        let plain = Input::new(&b"not compressed"[..], "t").unwrap().at_most(3);
        assert_eq!(plain.into_text().unwrap(), "not compressed");
    }

    #[test]
    fn recognizes_compression_by_content() {
        let text = "Grüße, two members\n".repeat(1000).into_bytes();
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&text).unwrap();
        let gz = gz.finish().unwrap();
        assert_eq!(read([gz.clone(), gz.clone()].concat()).unwrap(), text.repeat(2));
        assert!(read(gz[..gz.len() / 2].to_vec()).is_err(), "a truncated file is an error");
        let zst = zstd::stream::encode_all(&text[..], 1).unwrap();
        assert_eq!(read([zst.clone(), zst.clone()].concat()).unwrap(), text.repeat(2));
        assert!(read(zst[..zst.len() - 1].to_vec()).is_err());
        for short in [&b""[..], b"\x1f", b"(", b"abc"] {
            assert_eq!(read(short.to_vec()).unwrap(), short);
        }
    }

    #[test]
    fn folder_and_missing_file_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = Input::open(folder.path()).err().unwrap().to_string();
        assert!(error.contains("is a folder"), "{error}");
        let missing = folder.path().join("none.conllu");
        assert!(Input::open(&missing).err().unwrap().to_string().contains("none.conllu"));
        let error = Input::open("a\nvalue 99\u{1b}").err().unwrap().to_string();
        assert!(error.starts_with("a\\u{a}value 99\\u{1b}: "), "{error}");
    }
}
