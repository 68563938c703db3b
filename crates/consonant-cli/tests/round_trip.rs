//! CoNLL-U comes out of `convert` byte for byte, on every treebank of a data folder that the user names.

use std::path::{Path, PathBuf};
use std::process::Command;

fn treebanks(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder that can be listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            treebanks(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "conllu") {
            found.push(path);
        }
    }
}

#[test]
fn every_treebank_comes_out_byte_for_byte() {
    let Some(folder) = std::env::var_os("CONSONANT_DATA") else {
        println!("skipped: CONSONANT_DATA names no data folder");
        return;
    };
    let mut files = Vec::new();
    treebanks(Path::new(&folder), &mut files);
    files.sort();
    for path in &files {
        let output = Command::new(env!("CARGO_BIN_EXE_consonant"))
            .args(["convert", "--from", "conllu", "--to", "conllu"])
            .arg(path)
            .output()
            .expect("the program runs");
        assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
        let original = std::fs::read(path).expect("a file that can be read");
        assert!(output.stdout == original, "{} came out changed", path.display());
    }
    println!("{} files round-trip byte for byte", files.len());
}
