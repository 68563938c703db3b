//! Finds the models that become part of the library: those of `CONSONANT_MODELS`, or of the repository's
//! `models/`. A package from a registry has neither, and is built without models.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-env-changed=CONSONANT_MODELS");
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the package's folder"));
    let folder = env::var_os("CONSONANT_MODELS").map_or_else(|| here.join("../../models"), PathBuf::from);
    let mut code = String::from("pub const MODELS: &[(&str, &[u8])] = &[\n");
    if env::var_os("CARGO_FEATURE_EMBEDDED_MODELS").is_some()
        && let Ok(entries) = fs::read_dir(&folder)
    {
        println!("cargo:rerun-if-changed={}", folder.display());
        let mut models: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        models.retain(|path| path.extension().is_some_and(|extension| extension == "model"));
        models.sort();
        for path in models {
            println!("cargo:rerun-if-changed={}", path.display());
            let task = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let path = path.canonicalize().expect("the model is there");
            writeln!(code, "    ({task:?}, embed!({path:?})),").expect("strings can be written to");
        }
    }
    code.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder")).join("embedded.rs");
    fs::write(out, code).expect("the build folder can be written to");
}
