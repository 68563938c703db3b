//! Which files a command reads.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use consonant::Models;
use consonant::learn::model::Model;

use crate::context::Context;
use crate::{registry, usage_error};

/// The files that the user named, or standard input where none is; `-` may stand there once.
pub fn or_standard_input(mut files: Vec<PathBuf>, context: &Context) -> Result<Vec<PathBuf>> {
    if files.is_empty() {
        if io::stdin().is_terminal() {
            context.note("reading what you type; Ctrl-D on a line of its own ends it");
        }
        files.push("-".into());
    }
    if files.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(usage_error("standard input can be read only once"));
    }
    Ok(files)
}

/// A model: a file, or one that is part of the program.
pub fn model(path: &Path) -> Result<Model> {
    let Some(task) = path.to_str().and_then(|name| name.strip_prefix("embedded:")) else {
        return Ok(Model::open(path)?);
    };
    let models = Models::embedded()?;
    models.open(task)?.ok_or_else(|| {
        let tasks = registry();
        let names = tasks.tasks().map(|task| task.name()).filter(|name| models.has(name));
        let names: Vec<String> = names.map(|name| format!("embedded:{name}")).collect();
        usage_error(format!(
            "embedded:{task}: the program has no model of this name; try {}",
            names.join(", ")
        ))
    })
}

/// A file to read, and where it stands below the folder that was named; for a file that was named itself, its
/// name.
pub struct Found {
    pub path: PathBuf,
    pub place: PathBuf,
}

/// The files that the user named, and those of folders (with all below them, in order, but for hidden ones) and
/// patterns such as `news/*.txt` where no file has that name.
pub fn found(named: Vec<PathBuf>, context: &Context) -> Result<Vec<Found>> {
    let mut all = Vec::new();
    for path in or_standard_input(named, context)? {
        if path.is_dir() {
            let before = all.len();
            walk(&path, Path::new(""), &mut all)?;
            if all.len() == before {
                return Err(usage_error(format!("{} has no file", path.display())));
            }
        } else if !path.exists() && path.to_string_lossy().contains(['*', '?', '[']) {
            let pattern = path.to_string_lossy();
            let matches = glob::glob(&pattern).map_err(|e| usage_error(format!("{pattern}: {e}")))?;
            let before = all.len();
            for found in matches {
                let path = found?;
                if path.is_file() {
                    all.push(Found { place: name(&path), path });
                }
            }
            if all.len() == before {
                return Err(usage_error(format!("no file is called {pattern}")));
            }
        } else if !path.exists() && path.to_string_lossy().contains(' ') {
            // Who types a text where a file is wanted.
            bail!(
                "no file is called `{}`; give a text itself on standard input, as in: echo 'Ann lives in Kiel.' | consonant annotate",
                path.display()
            );
        } else {
            all.push(Found { place: name(&path), path });
        }
    }
    Ok(all)
}

fn name(path: &Path) -> PathBuf {
    path.file_name().map(PathBuf::from).unwrap_or_default()
}

fn walk(folder: &Path, place: &Path, all: &mut Vec<Found>) -> Result<()> {
    let cannot = || format!("cannot read {}", folder.display());
    let entries = std::fs::read_dir(folder).with_context(cannot)?;
    let mut entries: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>().with_context(cannot)?;
    entries.sort();
    for path in entries {
        let name = name(&path);
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        match path.is_dir() {
            true => walk(&path, &place.join(name), all)?,
            false => all.push(Found { place: place.join(name), path }),
        }
    }
    Ok(())
}
