//! The pages keep their word: every `console` block of README.md and of the pages in docs/, models/ and bench/ is run, and what
//! it prints must be what the page shows.
//!
//! Commands start with `$ ` and run in a copy of `examples/`, one block after another of a page in the same folder. `...` on a
//! line of its own stands for any number of lines. `$ cargo run --release --quiet --` is the program; other lines that
//! start with `$ cargo`, `$ git` or `$ ./test` are not run: who runs this test has done that. `DOCUMENTATION=overwrite cargo test
//! -p consonant --test documentation` writes what the commands print into the pages; read the difference before you commit it.
#![cfg(all(unix, feature = "embedded-models"))]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FENCE: &str = "```";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("models/README.md")];
    let docs = fs::read_dir(root().join("docs")).expect("docs/").map(|entry| entry.expect("an entry").path());
    pages.extend(docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    pages.sort();
    pages
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// Runs a command and gives what it prints on both streams, without the line end at the end.
fn run(command: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_consonant")).parent().expect("its folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", path)
        .env_remove("COLUMNS")
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    assert!(output.status.success(), "`{command}` failed: {text}");
    text
}

/// Whether a text is what a page shows, where a line `...` stands for anything.
fn matches(shown: &str, printed: &str) -> bool {
    fn lines(shown: &[&str], printed: &[&str]) -> bool {
        match shown.split_first() {
            None => printed.is_empty(),
            Some((&"...", rest)) => (0..=printed.len()).any(|skipped| lines(rest, &printed[skipped..])),
            Some((line, rest)) => {
                printed.first().is_some_and(|first| first.trim_end() == line.trim_end())
                    && lines(rest, &printed[1..])
            }
        }
    }
    lines(&shown.lines().collect::<Vec<_>>(), &printed.lines().collect::<Vec<_>>())
}

/// Runs the blocks of a page; gives the page as it should be, and what differs.
fn check(page: &str, folder: &Path) -> (String, Vec<String>) {
    let (mut written, mut differences) = (String::new(), Vec::new());
    let mut lines = page.lines().peekable();
    let mut in_console = false;
    while let Some(line) = lines.next() {
        written += line;
        written.push('\n');
        if line.starts_with(FENCE) {
            in_console = line == "```console";
        }
        let Some(mut command) = line.strip_prefix("$ ").filter(|_| in_console).map(str::to_owned) else {
            continue;
        };
        while command.ends_with('\\')
            && let Some(more) = lines.next()
        {
            written = written + more + "\n";
            command = command + "\n" + more;
        }
        let mut shown = Vec::new();
        while let Some(output) = lines.next_if(|line| !line.starts_with("$ ") && !line.starts_with(FENCE)) {
            shown.push(output);
        }
        let shown = shown.join("\n");
        let printed = if let Some(ours) = command.strip_prefix("cargo run --release --quiet -- ") {
            run(&format!("consonant {ours}"), folder)
        } else if command.starts_with("cargo") || command.starts_with("git") || command.starts_with("./test")
        {
            shown.clone()
        } else {
            run(&command, folder)
        };
        if matches(shown.trim_end(), &printed) {
            written += &shown;
            written += if shown.is_empty() { "" } else { "\n" };
        } else {
            differences.push(format!("$ {command}\n--- shown\n{shown}\n--- printed\n{printed}\n"));
            written += &printed;
            written += if printed.is_empty() { "" } else { "\n" };
        }
    }
    (written, differences)
}

#[test]
fn every_console_block_prints_what_is_shown() {
    let overwrite = std::env::var("DOCUMENTATION").is_ok_and(|value| value == "overwrite");
    let mut differences = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).expect("a page");
        let folder = tempfile::tempdir().expect("a folder");
        copy(&root().join("examples"), &folder.path().join("examples"));
        let (written, found) = check(&page, folder.path());
        if overwrite && !found.is_empty() {
            fs::write(&path, written).expect("the page is written");
        } else {
            differences
                .extend(found.into_iter().map(|difference| format!("{}\n{difference}", path.display())));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Pictures in the pages, and the commands that draw them.
const PICTURES: [(&str, &str); 2] = [
    (
        "docs/tree.svg",
        "echo 'Ann Smith has not seen the new bridge in London.' | consonant annotate --format svg",
    ),
    ("docs/summary.svg", "consonant summarize examples/news/*.txt --words 50 --format svg --quiet"),
];

#[test]
fn pictures_are_what_the_program_draws() {
    let overwrite = std::env::var("DOCUMENTATION").is_ok_and(|value| value == "overwrite");
    for (picture, command) in PICTURES {
        let drawn = run(command, &root()) + "\n";
        let path = root().join(picture);
        if overwrite {
            fs::write(&path, &drawn).expect("the picture is written");
        }
        assert!(
            fs::read_to_string(&path).is_ok_and(|file| file == drawn),
            "{picture} is not what `{command}` draws"
        );
    }
}

#[test]
fn dots_stand_for_any_lines() {
    assert!(matches("a\n...\nd", "a\nb\nc\nd") && matches("...\nd", "d") && matches("", ""));
    assert!(!matches("a\n...", "b") && !matches("a", "a\nb") && !matches("", "x"));
}
