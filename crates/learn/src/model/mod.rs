//! The one model file of all tasks: named sections of plain numbers, used as they lie.
//!
//! ```text
//! bytes 0..8    magic, "CNSNT\r\n\x1a": text conversions break it, so they are noticed
//!       8..12   version
//!      12..16   length of the header (48)
//!      16..24   length of the file
//!      24..32   length of the directory
//!      32..40   offset of the first section
//!      40..48   xxh3 of bytes 0..40 and of everything from 48 to the first section
//!      48..     directory: JSON with the task, its metadata, and for each section name, offset, length, xxh3
//! then sections, each at a multiple of 64 bytes; a section's checksum covers the padding that follows it
//! ```
//!
//! Numbers are little-endian. Everything is verified when the file is opened: xxh3 reads more than 10 GB a
//! second, so that a model of 50 MB costs about 5 ms, and no later read can meet a damaged byte.

mod section;

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use self::section::Backing;
pub use self::section::{Number, Section};
use crate::LearnError;
use crate::disk::DiskFile;
use crate::file::{AtomicFile, remove_orphans};

const MAGIC: &[u8; 8] = b"CNSNT\r\n\x1a";
const VERSION: u32 = 1;
const HEADER: usize = size_of::<Header>();
/// The part of the header that its checksum covers: all but the checksum itself.
const CHECKED: usize = HEADER - size_of::<u64>();
const ALIGNMENT: usize = 64;

#[derive(Debug, Serialize, Deserialize)]
struct Directory {
    task: String,
    metadata: Value,
    sections: Vec<Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    name: String,
    offset: usize,
    length: usize,
    checksum: u64,
}

/// An opened model: a task's name, its metadata and its sections. Cheap to clone; the clones share the
/// memory.
#[derive(Debug, Clone)]
pub struct Model {
    name: Arc<str>,
    backing: Arc<Backing>,
    /// Where the model begins in its backing: a model may be a section of another.
    start: usize,
    directory: Arc<Directory>,
}

impl Model {
    /// Reads the model file into memory and verifies it. What happens to the file later does not matter.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LearnError> {
        Self::load(path.as_ref(), Backing::read)
    }

    /// Maps the model file instead of reading it, and verifies it: processes that map the same file share its
    /// memory.
    ///
    /// # Safety
    /// Nobody may change or shorten the file while the model or anything made of it lives. Models that
    /// [`ModelWriter::write`] writes are renamed into place and never changed there; replacing one is fine,
    /// copying another over it is not.
    #[allow(unsafe_code)]
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self, LearnError> {
        // SAFETY: the map is read only, and the caller promises that the file stays as it is.
        Self::load(path.as_ref(), |file, _| {
            Ok(Backing::Mapped(unsafe { memmap2::Mmap::map(file.mapped()?) }?))
        })
    }

    fn load(
        path: &Path,
        backing: impl FnOnce(&mut DiskFile, usize) -> std::io::Result<Backing>,
    ) -> Result<Self, LearnError> {
        let io = |source| LearnError::Io { path: path.to_path_buf(), source };
        let damaged = |problem: String| LearnError::Damaged { name: path.display().to_string(), problem };
        let mut file = DiskFile::open(path).map_err(io)?;
        let about = file.metadata().map_err(io)?;
        if !about.is_file() {
            return Err(damaged("not a regular file, so not a model".into()));
        }
        // The beginning tells whether the rest is worth the memory.
        let mut header = Vec::with_capacity(HEADER);
        Read::by_ref(&mut file).take(HEADER as u64).read_to_end(&mut header).map_err(io)?;
        check_header(&header, about.len()).map_err(damaged)?;
        file.rewind().map_err(io)?;
        let length = usize::try_from(about.len()).map_err(|_| damaged("too long for this machine".into()))?;
        Self::verify(path.display().to_string(), backing(&mut file, length).map_err(io)?)
    }

    /// Opens a model that is part of the program (`include_bytes!`). It is used where it lies if the linker
    /// aligned it to eight bytes, and copied once otherwise.
    pub fn from_static(bytes: &'static [u8]) -> Result<Self, LearnError> {
        let backing = if bytes.as_ptr().align_offset(8) == 0 {
            Backing::Static(bytes)
        } else {
            Backing::aligned(bytes)
        };
        Self::verify("the embedded model".into(), backing)
    }

    /// Opens a model from bytes in memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LearnError> {
        Self::verify("the model in memory".into(), Backing::aligned(bytes))
    }

    fn verify(name: String, backing: Backing) -> Result<Self, LearnError> {
        let directory = read_directory(backing.bytes(), true)
            .map_err(|problem| LearnError::Damaged { name: name.clone(), problem })?;
        Ok(Self { name: name.into(), backing: Arc::new(backing), start: 0, directory: Arc::new(directory) })
    }

    /// The model that a section of this one is. It shares the memory, and the section's checksum vouches for
    /// it.
    pub fn inner(&self, section: &str) -> Result<Self, LearnError> {
        let entry = self.entry(section)?;
        let start = self.start + entry.offset;
        let directory = read_directory(&self.backing.bytes()[start..start + entry.length], false)
            .map_err(|problem| self.damaged(format!("section `{section}` {problem}")))?;
        Ok(Self { directory: Arc::new(directory), start, ..self.clone() })
    }

    /// The task the model was made for.
    pub fn task(&self) -> &str {
        &self.directory.task
    }

    /// Settings, data fingerprint, seed: whatever the task wrote about itself.
    pub fn metadata(&self) -> &Value {
        &self.directory.metadata
    }

    /// The file's name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The model itself if it was made for `task`, otherwise an error that says what it is.
    pub fn expect_task(&self, task: &str) -> Result<&Self, LearnError> {
        if self.task() == task {
            return Ok(self);
        }
        Err(LearnError::OtherTask {
            name: self.name.to_string(),
            found: self.task().to_string(),
            expected: task.to_string(),
        })
    }

    /// Whether bytes begin with the signature of model files.
    pub fn has_signature(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// What the task wrote about itself, if the model was made for `task`.
    pub fn settings<S: DeserializeOwned>(&self, task: &str) -> Result<S, LearnError> {
        S::deserialize(self.expect_task(task)?.metadata())
            .map_err(|error| self.damaged(format!("its description is incomplete: {error}")))
    }

    /// The names and lengths in bytes of all sections, in the order of the file.
    pub fn sections(&self) -> impl Iterator<Item = (&str, usize)> {
        self.directory.sections.iter().map(|entry| (entry.name.as_str(), entry.length))
    }

    /// Whether there is a section of this name.
    pub fn has(&self, section: &str) -> bool {
        self.directory.sections.iter().any(|entry| entry.name == section)
    }

    fn entry(&self, section: &str) -> Result<&Entry, LearnError> {
        let entry = self.directory.sections.iter().find(|entry| entry.name == section);
        entry.ok_or_else(|| LearnError::MissingSection {
            name: self.name.to_string(),
            section: section.to_string(),
        })
    }

    /// The numbers of a section, where they lie.
    pub fn array<T: Number>(&self, section: &str) -> Result<Section<T>, LearnError> {
        let entry = self.entry(section)?;
        Section::new(&self.backing, self.start + entry.offset, entry.length).ok_or_else(|| {
            self.damaged(format!(
                "section `{section}` of {} bytes does not hold numbers of {} bytes",
                entry.length,
                size_of::<T>()
            ))
        })
    }

    /// The text of a section.
    pub fn text(&self, section: &str) -> Result<String, LearnError> {
        let bytes = self.array::<u8>(section)?;
        String::from_utf8(bytes.to_vec())
            .map_err(|_| self.damaged(format!("section `{section}` is not UTF-8 text")))
    }

    /// An error about the contents of this model.
    pub fn damaged(&self, problem: impl Into<String>) -> LearnError {
        LearnError::Damaged { name: self.name.to_string(), problem: problem.into() }
    }
}

/// The first bytes of the file.
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    header_length: u32,
    file_length: u64,
    directory_length: u64,
    first: u64,
    checksum: u64,
}

/// Reads the header of a file of `length` bytes and says whether it can be a model for this program.
fn check_header(bytes: &[u8], length: u64) -> Result<Header, String> {
    if cfg!(target_endian = "big") {
        return Err("models hold little-endian numbers and cannot be used on this machine".into());
    }
    let Ok((header, _)) = Header::read_from_prefix(bytes) else {
        return Err(format!("{length} bytes are too few for a model: not a model, or cut off"));
    };
    if &header.magic != MAGIC {
        return Err(
            "does not begin with the mark of a consonant model; give a file written by `consonant train`"
                .into(),
        );
    }
    let Header { version, file_length, .. } = header;
    if version != VERSION {
        return Err(format!(
            "has model format {version}, this program reads format {VERSION}; train the model again with this version"
        ));
    }
    if file_length != length {
        return Err(format!(
            "is {length} bytes long but was written with {file_length}: the file is cut off or something was added"
        ));
    }
    Ok(header)
}

/// The checksum of the header and of the directory with its padding.
fn header_checksum(header: &[u8], directory: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(header);
    hasher.update(directory);
    hasher.digest()
}

/// Reads the directory and checks that the sections lie where it says; with `checksums`, that they are as
/// they were written.
fn read_directory(bytes: &[u8], checksums: bool) -> Result<Directory, String> {
    let Header { file_length, directory_length, first, checksum, .. } =
        check_header(bytes, bytes.len() as u64)?;
    let end =
        (HEADER as u64).checked_add(directory_length).filter(|&end| end <= first && first <= file_length);
    let Some(end) = end else {
        return Err("has a damaged header (impossible lengths); copy or train the model again".into());
    };
    let (end, first) = (end as usize, first as usize);
    if checksums && header_checksum(&bytes[..CHECKED], &bytes[HEADER..first]) != checksum {
        return Err("header checksum differs: the file is damaged; copy or train the model again".into());
    }
    let directory: Directory = serde_json::from_slice(&bytes[HEADER..end])
        .map_err(|error| format!("unreadable directory: {error}"))?;
    let mut at = first;
    for (index, entry) in directory.sections.iter().enumerate() {
        let next = directory.sections.get(index + 1).map_or(bytes.len(), |next| next.offset);
        let fits = entry.offset == at
            && at.is_multiple_of(ALIGNMENT)
            && entry.offset.checked_add(entry.length).is_some_and(|end| end <= next)
            && next <= bytes.len();
        if !fits {
            return Err(format!("section `{}` lies outside the file; the model is damaged", entry.name));
        }
        if checksums && xxh3_64(&bytes[entry.offset..next]) != entry.checksum {
            return Err(format!(
                "checksum of section `{}` differs: the file is damaged; copy or train the model again",
                entry.name
            ));
        }
        at = next;
    }
    if at != bytes.len() {
        return Err("has bytes after its last section; the model is damaged".into());
    }
    Ok(directory)
}

/// Collects sections and writes them as one model file.
#[derive(Debug)]
pub struct ModelWriter {
    task: String,
    metadata: Value,
    sections: Vec<(String, Vec<u8>)>,
}

impl ModelWriter {
    /// A model for `task`; `metadata` says whatever should be known about it later (settings, data
    /// fingerprint, seed).
    pub fn new(task: impl Into<String>, metadata: Value) -> Self {
        Self { task: task.into(), metadata, sections: Vec::new() }
    }

    /// A copy of a model, to add to.
    pub fn from_model(model: &Model) -> Result<Self, LearnError> {
        let mut writer = Self::new(model.task(), model.metadata().clone());
        for (name, _) in model.sections() {
            writer.array(name, &model.array::<u8>(name)?);
        }
        Ok(writer)
    }

    /// Adds something that should be known about the model to its metadata, which must be an object or nothing.
    pub fn note(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        if let Value::Null = self.metadata {
            self.metadata = Value::Object(Default::default());
        }
        if let Value::Object(metadata) = &mut self.metadata {
            metadata.insert(name.to_owned(), value.into());
        }
        self
    }

    /// Adds a section of numbers; one of the same name is replaced.
    pub fn array<T: Number>(&mut self, name: impl Into<String>, numbers: &[T]) -> &mut Self {
        let name = name.into();
        self.sections.retain(|(other, _)| *other != name);
        self.sections.push((name, numbers.as_bytes().to_vec()));
        self
    }

    /// Adds a section of text.
    pub fn text(&mut self, name: impl Into<String>, text: &str) -> &mut Self {
        self.array(name, text.as_bytes())
    }

    /// The file as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Offsets stand in the directory, whose length depends on them: sections begin after the longest it
        // can get.
        let mut directory =
            Directory { task: self.task.clone(), metadata: self.metadata.clone(), sections: Vec::new() };
        let widest = |(name, _): &(String, Vec<u8>)| Entry {
            name: name.clone(),
            offset: usize::MAX,
            length: usize::MAX,
            checksum: u64::MAX,
        };
        directory.sections = self.sections.iter().map(widest).collect();
        let longest = serialize(&directory).len();
        let first = (HEADER + longest).next_multiple_of(ALIGNMENT);
        let mut bytes = vec![0; first];
        for ((_, section), entry) in self.sections.iter().zip(&mut directory.sections) {
            (entry.offset, entry.length) = (bytes.len(), section.len());
            bytes.extend_from_slice(section);
            bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
            entry.checksum = xxh3_64(&bytes[entry.offset..]);
        }
        let text = serialize(&directory);
        bytes[HEADER..HEADER + text.len()].copy_from_slice(&text);
        let mut header = Header {
            magic: *MAGIC,
            version: VERSION,
            header_length: HEADER as u32,
            file_length: bytes.len() as u64,
            directory_length: text.len() as u64,
            first: first as u64,
            checksum: 0,
        };
        header.checksum = header_checksum(&header.as_bytes()[..CHECKED], &bytes[HEADER..first]);
        bytes[..HEADER].copy_from_slice(header.as_bytes());
        bytes
    }

    /// Writes the file so that nobody ever sees half a model.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), LearnError> {
        let path = path.as_ref();
        remove_orphans(path);
        let written = AtomicFile::create(path).and_then(|mut file| {
            file.write_all(&self.to_bytes())?;
            file.commit()
        });
        written.map_err(|source| LearnError::Io { path: path.to_path_buf(), source })
    }
}

fn serialize(directory: &Directory) -> Vec<u8> {
    serde_json::to_vec(directory).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> ModelWriter {
        let mut writer = ModelWriter::new("tagger", serde_json::json!({"seed": 1, "note": "ä"}));
        writer.array("numbers", &[1.0f32, 2.5, -3.0]).text("names", "N\nV").array("empty", &[0u32; 0]);
        writer
    }

    #[test]
    fn sections_come_back_from_a_file_from_memory_and_from_static_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        example().write(&path).unwrap();
        let leaked: &'static [u8] = example().to_bytes().leak();
        let mut outer = ModelWriter::new("outer", Value::Null);
        outer.array("first", &[1u8]).array("inner", &example().to_bytes());
        let outer = Model::from_bytes(&outer.to_bytes()).unwrap();
        assert!(outer.inner("first").is_err());
        // SAFETY: nobody changes the file of this test.
        #[allow(unsafe_code)]
        let mapped = unsafe { Model::map(&path) }.unwrap();
        for model in [
            mapped,
            outer.inner("inner").unwrap(),
            Model::open(&path).unwrap(),
            Model::from_bytes(leaked).unwrap(),
            Model::from_static(leaked).unwrap(),
        ] {
            assert_eq!(model.expect_task("tagger").unwrap().metadata()["note"], "ä");
            assert_eq!(&*model.array::<f32>("numbers").unwrap(), &[1.0, 2.5, -3.0]);
            assert_eq!(model.text("names").unwrap(), "N\nV");
            assert!(model.array::<u32>("empty").unwrap().is_empty());
            assert!(model.array::<u32>("absent").unwrap_err().to_string().contains("absent"));
            assert!(model.array::<u32>("names").unwrap_err().to_string().contains("3 bytes"));
            assert!(model.expect_task("parser").unwrap_err().to_string().contains("task `tagger`"));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
    }

    #[test]
    fn any_flipped_bit_and_any_truncation_is_refused() {
        let bytes = example().to_bytes();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            // Bytes 12..16 repeat the header's length; they are covered by the checksum too.
            assert!(Model::from_bytes(&flipped).is_err(), "bit {} of byte {at}", at % 8);
            assert!(Model::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(Model::from_bytes(&longer).is_err());
        assert!(Model::from_bytes(&bytes).is_ok());
    }
}
