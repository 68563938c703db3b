//! Files of a folder that are complete or absent, so that the same command again does the rest.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, Result};
use consonant::Models;

use crate::inputs::Found;
use crate::output::{self, Output};
use crate::usage_error;

/// Says how the files of the folder were made.
const STAMP: &str = ".consonant";

/// The outputs of the inputs.
pub struct Shards<'a> {
    pub files: &'a [Found],
    folder: &'a Path,
    places: Vec<PathBuf>,
    /// Whether an input may have several outputs, which are numbered.
    numbered: bool,
}

impl<'a> Shards<'a> {
    /// Two inputs of one name would lose one of their outputs.
    pub fn new(folder: &'a Path, ending: &str, files: &'a [Found], numbered: bool) -> Result<Self> {
        let mut known: HashMap<PathBuf, &Path> = HashMap::new();
        let mut places = Vec::with_capacity(files.len());
        for Found { path, place } in files {
            if path.as_os_str() == "-" {
                return Err(usage_error(
                    "standard input has no name for a file of `--output-dir`; name files",
                ));
            }
            let output = folder.join(place).with_extension(ending);
            if output == *path {
                return Err(usage_error(format!("{} would be written over itself", path.display())));
            }
            if let Some(other) = known.insert(output.clone(), path) {
                let (other, path, output) = (other.display(), path.display(), output.display());
                return Err(usage_error(format!("{other} and {path} would both be written to {output}")));
            }
            places.push(output);
        }
        Ok(Self { files, folder, places, numbered })
    }

    /// Where an output goes.
    pub fn place(&self, file: usize, shard: usize) -> PathBuf {
        let place = &self.places[file];
        if !self.numbered {
            return place.clone();
        }
        let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        place.with_file_name(format!("{}-{shard:05}.{}", part(place.file_stem()), part(place.extension())))
    }

    /// Whether an output is there and no older than its input.
    pub fn is_there(&self, file: usize, place: &Path) -> bool {
        let time = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
        time(place).zip(time(&self.files[file].path)).is_some_and(|(output, input)| output >= input)
    }

    /// Begins an output.
    pub fn open(&self, place: &Path) -> Result<Output> {
        make(place.parent())?;
        Ok(Output::open(Some(place))?)
    }

    /// Removes what an earlier, longer input has left behind the last output.
    pub fn clear_from(&self, file: usize, first: usize) -> Result<()> {
        let stale = (first..).map(|shard| self.place(file, shard));
        for place in stale.take_while(|place| self.numbered && place.is_file()) {
            remove(&place)?;
        }
        Ok(())
    }

    /// Keeps what the same work has made before, and removes what other work has made under the same names; says how many files stay.
    pub fn resume<'b>(
        &self,
        made: &str,
        models: &Models,
        lists: impl Iterator<Item = &'b PathBuf>,
    ) -> Result<usize> {
        make(Some(self.folder))?;
        let stamp = self.folder.join(STAMP);
        let made = format!("consonant {}\n{made}\n{}", env!("CARGO_PKG_VERSION"), state(models, lists));
        if fs::read_to_string(&stamp).ok().as_ref() != Some(&made) {
            for (file, place) in self.places.iter().enumerate() {
                match self.numbered {
                    true => self.clear_from(file, 0)?,
                    false => remove(place)?,
                }
            }
            output::write(&stamp, &made)?;
            return Ok(0);
        }
        let most = if self.numbered { usize::MAX } else { 1 };
        let there = |file: usize| {
            (0..most).take_while(|&shard| self.is_there(file, &self.place(file, shard))).count()
        };
        Ok((0..self.places.len()).map(there).sum())
    }
}

fn remove(place: &Path) -> Result<()> {
    match fs::remove_file(place) {
        Err(error) if place.exists() => {
            Err(error).with_context(|| format!("cannot remove {}", place.display()))
        }
        _ => Ok(()),
    }
}

fn make(folder: Option<&Path>) -> Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// Which models and lists they are: files may be replaced.
fn state<'a>(models: &Models, lists: impl Iterator<Item = &'a PathBuf>) -> String {
    let mut state = format!("{models:?}");
    let mut files: Vec<PathBuf> = lists.cloned().collect();
    if let Models::Folder(folder) = models {
        files.extend(fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()));
    }
    files.sort();
    for file in files {
        let Ok(found) = fs::metadata(&file) else { continue };
        let time = found.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let _ = write!(state, "\n{} {} {time:?}", file.display(), found.len());
    }
    state
}
