//! Which files a command reads.

use std::path::PathBuf;

use anyhow::Result;

use crate::usage_error;

/// The files that the user named, or standard input where none is; `-` may stand there once.
pub fn or_standard_input(mut files: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    if files.is_empty() {
        files.push("-".into());
    }
    if files.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(usage_error("standard input can be read only once"));
    }
    Ok(files)
}
