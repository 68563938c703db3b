//! The `consonant` program.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    consonant_cli::run(std::env::args_os())
}
