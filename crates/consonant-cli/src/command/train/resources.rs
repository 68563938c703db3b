//! Files that templates may refer to: clusters, gazetteers, word vectors.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::Result;
use consonant_sequence::features::{Clusters, Gazetteer, Resources, Vectors};
use consonant_text::input::Input;

/// Reads what the user named.
pub fn read(
    clusters: Option<&Path>,
    gazetteers: &[(String, PathBuf)],
    vectors: Option<&Path>,
) -> Result<Resources> {
    let name = |path: &Path| path.display().to_string();
    let clusters = clusters.map(|path| anyhow::Ok(Clusters::read(&name(path), open(path)?)?)).transpose()?;
    let vectors = vectors.map(|path| anyhow::Ok(Vectors::read(&name(path), open(path)?)?)).transpose()?;
    let gazetteers = gazetteers.iter().map(|(name, path)| anyhow::Ok(Gazetteer::read(name, open(path)?)?));
    Ok(Resources { clusters, gazetteers: gazetteers.collect::<Result<_>>()?, vectors })
}

fn open(path: &Path) -> Result<BufReader<Input>> {
    Ok(BufReader::new(Input::open(path)?))
}
