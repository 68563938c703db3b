//! The pages keep their word: every command in README.md, CONTRIBUTING.md, the pages in docs/, models/ and
//! bench/, and the examples of `--help`, is run.
//!
//! - `console` blocks: commands start with `$ `, and what they print must be what the page shows. `...` on a
//!   line of its own stands for any number of lines. `DOCUMENTATION=overwrite cargo test -p consonant-cli
//!   --test documentation` writes what the commands print into the pages; read the difference before you
//!   commit it.
//! - `sh` blocks: every line is a command that must succeed and leave the files that it names as its outputs.
//! - other blocks have no commands.
//!
//! A page's commands run one after another in one folder, which has `examples/` and the files of
//! [`material`]. What cannot run there is named in [`NOT_RUN`] with the reason.
#![cfg(all(unix, feature = "embedded-models"))]

mod material;
mod papers;
mod recording;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use consonant::tagger::Column;
use consonant::text::Layer;

/// How commands begin that are not run, and why.
const NOT_RUN: [(&str, &str); 10] = [
    ("cargo ", "who runs this test has built the program"),
    ("DOCUMENTATION=", "this test, writing"),
    ("PICTURES=", "needs a browser"),
    ("git ", "needs the network, or a commit of one's own"),
    ("./test", "this test is part of it"),
    ("models/train ", "needs treebanks, and minutes"),
    ("bench/", "needs data and other people's programs; its flags are compared with its --help"),
    ("CONSONANT_DATA=", "needs data"),
    ("consonant serve", "serves until it is ended; tests of the server start it"),
    ("curl ", "asks a server"),
];

/// Flags of the program that name a file it writes.
const OUTPUTS: [&str; 10] = [
    "--output",
    "--model",
    "--report",
    "--lp",
    "--trace",
    "--plot",
    "--diagram",
    "--graphs",
    "--certificates",
    "--checkpoint",
];

const FENCE: &str = "```";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn pages() -> Vec<PathBuf> {
    let named = ["README.md", "CONTRIBUTING.md", "models/README.md", "bench/README.md"];
    let mut pages: Vec<PathBuf> = named.iter().map(|page| root().join(page)).collect();
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
fn run(command: &str, folder: &Path) -> Result<String, String> {
    let program = Path::new(env!("CARGO_BIN_EXE_consonant")).parent().expect("its folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", path)
        .env("HOME", folder)
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    if output.status.success() { Ok(text) } else { Err(format!("`{command}` failed: {text}")) }
}

/// The reason why a command is not run, if there is one.
fn not_run(command: &str) -> Option<&'static str> {
    NOT_RUN.iter().find(|(beginning, _)| command.starts_with(beginning)).map(|&(_, reason)| reason)
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

/// A command of a page that only has to work.
fn check_command(command: &str, folder: &Path) -> Result<(), String> {
    if command.starts_with("bench/") {
        return check_flags(command);
    }
    if not_run(command).is_some() {
        return Ok(());
    }
    run(command, folder)?;
    let words: Vec<&str> = command.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
    let missing = words.windows(2).find(|pair| {
        let writes = OUTPUTS.contains(&pair[0]) && (pair[0] != "--model" || command.contains(" train "));
        writes && !folder.join(pair[1]).exists()
    });
    missing.map_or(Ok(()), |pair| Err(format!("`{command}` did not write {}", pair[1])))
}

/// Whether a script knows the flags and names that a page gives it.
fn check_flags(command: &str) -> Result<(), String> {
    let command = command.split('#').next().expect("a first part");
    let mut words = command.split_whitespace();
    let script = words.next().expect("a script");
    let Ok(output) = Command::new(root().join(script)).arg("--help").output() else {
        return Err(format!("{script} cannot be started"));
    };
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        // Scripts of the bench are Python; who only has Rust cannot start them.
        let python =
            Command::new("python3").arg("--version").output().is_ok_and(|python| python.status.success());
        return if python { Err(format!("{script} --help failed")) } else { Ok(()) };
    }
    let known: Vec<&str> = help.split(|letter: char| !letter.is_alphanumeric() && letter != '-').collect();
    let mut value_follows = false;
    for word in words {
        let is_flag = word.starts_with("--");
        let takes_value =
            |flag: &str| help.contains(&format!("{flag} ")) && !help.contains(&format!("[{flag}]"));
        if (is_flag || !value_follows) && !known.contains(&word) {
            return Err(format!("`{command}`: {script} does not know `{word}`"));
        }
        value_follows = is_flag && takes_value(word);
    }
    Ok(())
}

/// Runs the blocks of a page; gives the page as it should be, and what differs.
fn check(page: &str, folder: &Path) -> (String, Vec<String>) {
    let (mut written, mut faults) = (String::new(), Vec::new());
    let mut lines = page.lines().peekable();
    let mut block: Option<&str> = None;
    while let Some(line) = lines.next() {
        written += line;
        written.push('\n');
        if let Some(language) = line.strip_prefix(FENCE) {
            block = if block.is_some() { None } else { Some(language) };
            continue;
        }
        let mut command = match block {
            Some("console") => line.strip_prefix("$ ").unwrap_or_default().to_owned(),
            Some("sh") => line.to_owned(),
            _ => {
                let begins = line.trim_start_matches("$ ").trim_start();
                let indented = line.starts_with("    ") || block.is_some();
                if indented
                    && (begins.starts_with("consonant ") || not_run(begins).is_some())
                    && block != Some("text")
                {
                    faults.push(format!("`{line}` is in a block that is neither `console` nor `sh`"));
                }
                continue;
            }
        };
        if command.is_empty() {
            continue;
        }
        while command.ends_with('\\')
            && let Some(more) = lines.next()
        {
            written = written + more + "\n";
            command = command + "\n" + more;
        }
        if block == Some("sh") {
            faults.extend(check_command(&command, folder).err());
            continue;
        }
        let mut shown = Vec::new();
        while let Some(output) = lines.next_if(|line| !line.starts_with("$ ") && !line.starts_with(FENCE)) {
            shown.push(output);
        }
        let shown = shown.join("\n");
        let printed = if let Some(ours) = command.strip_prefix("cargo run --release -- ") {
            run(&format!("consonant {ours}"), folder)
        } else if not_run(&command).is_some() {
            Ok(shown.clone())
        } else {
            run(&command, folder)
        };
        let printed = printed.unwrap_or_else(|fault| fault);
        if matches(shown.trim_end(), &printed) {
            written += &shown;
            written += if shown.is_empty() { "" } else { "\n" };
        } else {
            faults.push(format!("$ {command}\n--- shown\n{shown}\n--- printed\n{printed}\n"));
            written += &printed;
            written += if printed.is_empty() { "" } else { "\n" };
        }
    }
    (written, faults)
}

/// Does something with each of many things, several at a time, and gives what went wrong.
fn faults_of<T: Sync>(things: &[T], check: impl Fn(&T) -> Vec<String> + Sync) -> Vec<String> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let found = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(thing) = things.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let faults = check(thing);
                    found.lock().expect("no panic").extend(faults);
                }
            });
        }
    });
    found.into_inner().expect("no panic")
}

#[test]
fn every_command_of_the_pages_does_what_they_say() {
    let overwrite = std::env::var("DOCUMENTATION").is_ok_and(|value| value == "overwrite");
    let faults = faults_of(&pages(), |path| {
        let page = fs::read_to_string(path).expect("a page");
        let folder = tempfile::tempdir().expect("a folder");
        material::lay_out(&path.display().to_string(), folder.path());
        let (written, mut found) = check(&page, folder.path());
        if overwrite && written != page {
            fs::write(path, written).expect("the page is written");
            found.retain(|fault| !fault.starts_with("$ "));
        }
        found.into_iter().map(|fault| format!("{}\n{fault}", path.display())).collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Commands that have no commands below them, as they are typed.
fn commands(above: &str) -> Vec<String> {
    let help = run(&format!("consonant {above} --help"), &root()).expect("help");
    let below = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names: Vec<&str> = below
        .take_while(|line| line.starts_with("  "))
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next().filter(|name| *name != "help"))
        .collect();
    if names.is_empty() {
        return vec![above.trim().to_owned()];
    }
    names.iter().flat_map(|name| commands(&format!("{above} {name}"))).collect()
}

#[test]
fn every_example_of_the_help_works() {
    let commands = commands("");
    assert!(commands.iter().any(|command| command == "train tagger"), "{commands:?}");
    let faults = faults_of(&commands, |command| {
        let folder = tempfile::tempdir().expect("a folder");
        material::lay_out(command, folder.path());
        for place in [".local/share/bash-completion/completions", ".local/share/man/man1"] {
            fs::create_dir_all(folder.path().join(place)).expect("a folder");
        }
        let help = run(&format!("COLUMNS=1000 consonant {command} --help"), folder.path()).expect("help");
        let examples = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
        let examples: Vec<&str> = examples.take_while(|line| line.starts_with("  ")).map(str::trim).collect();
        assert!(!examples.is_empty(), "{command} shows no example");
        // Reading a page needs `man`, which is not everywhere; that it was written is seen by its command's
        // success.
        let ours = |line: &str| line.split(" && man ").next().expect("a first part").to_owned();
        examples.iter().filter_map(|line| check_command(&ours(line), folder.path()).err()).collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn one_short_flag_names_the_output_of_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    for command in commands("") {
        let help = run(&format!("COLUMNS=1000 consonant {command} --help"), folder.path()).expect("help");
        let is_there = ["-o, --output <FILE>", "-o, --model <OUT>", "-o, --models <DIR>"]
            .iter()
            .any(|flag| help.contains(flag));
        let has_none = ["completions", "man", "serve", "verify"].contains(&command.as_str());
        assert!(is_there != has_none, "{command}");
    }
}

#[test]
fn help_names_every_column() {
    let help =
        |command: &str| run(&format!("COLUMNS=1000 consonant {command} --help"), &root()).expect("help");
    let named = |help: &str, column: &str| {
        let line = help.lines().skip_while(|line| !line.contains("--column <COLUMN>")).take(2);
        line.flat_map(|line| line.split([' ', ','])).any(|word| word == column)
    };
    for layer in Layer::ALL {
        assert!(named(&help("evaluate tags"), layer.name()), "{}", layer.name());
    }
    for column in Column::ALL {
        assert!(named(&help("train tagger"), column.name()), "{column}");
    }
}

/// The anchors of a page's headings, as forges and mdbook make them of their text.
fn anchors(page: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        inside ^= line.starts_with(FENCE);
        let Some(heading) = line.strip_prefix('#').filter(|_| !inside) else { continue };
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let same = anchors.iter().filter(|other| **other == anchor).count();
        anchors.push(if same == 0 { anchor } else { format!("{anchor}-{same}") });
    }
    anchors
}

/// The links of a page that lead nowhere: to files that are not there, or to headings that these do not have.
fn dead_links(path: &Path) -> Vec<String> {
    let page = fs::read_to_string(path).expect("a page");
    let folder = path.parent().expect("its folder");
    let targets = page.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let is_dead = |link: &&str| {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if file.is_empty() { path.to_path_buf() } else { folder.join(file) };
        let has_anchor = || {
            let page = fs::read_to_string(&target).unwrap_or_default();
            target.extension().is_none_or(|ending| ending != "md")
                || anchors(&page).iter().any(|own| own == anchor)
        };
        !link.contains("://") && !(target.exists() && (anchor.is_empty() || has_anchor()))
    };
    targets.filter(is_dead).map(|link| format!("{}: {link}", path.display())).collect()
}

#[test]
fn links_between_pages_lead_somewhere() {
    let more = ["ARCHITECTURE.md", "CHANGELOG.md"].map(|page| root().join(page));
    let dead: Vec<String> = pages().into_iter().chain(more).flat_map(|path| dead_links(&path)).collect();
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn dead_links_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("other.md", "# One `two`, three\n```\n# no heading\n```\n## Twice\n## Twice\n");
    write(
        "page.md",
        "# Here\n[1](other.md) [2](#here) [3](other.md#one-two-three) [4](other.md#twice-1) [5](https://no.where/#x)\n\
         [6](nowhere.md) [7](#there) [8](other.md#no-heading) [9](other.md#twice-2)\n",
    );
    let dead = dead_links(&folder.path().join("page.md"));
    let ends = ["nowhere.md", "#there", "other.md#no-heading", "other.md#twice-2"];
    assert_eq!(dead.len(), ends.len(), "{dead:?}");
    assert!(dead.iter().zip(ends).all(|(link, end)| link.ends_with(end)), "{dead:?}");
}

#[test]
fn the_book_has_every_page() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the contents");
    for path in pages().iter().filter(|path| path.parent() == Some(&root().join("docs"))) {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let count = summary.matches(&format!("]({name})")).count();
        assert_eq!(
            count,
            usize::from(name != "SUMMARY.md"),
            "{name} stands {count} times in docs/SUMMARY.md"
        );
    }
}

/// Pictures in the pages, and the commands that draw them.
const PICTURES: [(&str, &str); 2] = [
    (
        "docs/tree.svg",
        "echo 'Ann Smith has not seen the new bridge in London.' | consonant annotate --format svg",
    ),
    ("docs/summary.svg", "consonant summarize examples/earthquake/*.txt --words 60 --format svg --quiet"),
];

/// A picture of the pages must be what is drawn now; `DOCUMENTATION=overwrite` makes it so.
fn check_picture(picture: &str, drawn: &str) {
    let path = root().join(picture);
    if std::env::var("DOCUMENTATION").is_ok_and(|value| value == "overwrite") {
        fs::write(&path, drawn).expect("the picture is written");
    }
    assert!(
        fs::read_to_string(&path).is_ok_and(|file| file == drawn),
        "{picture} is not what the program draws; DOCUMENTATION=overwrite makes it anew"
    );
}

#[test]
fn pictures_are_what_the_program_draws() {
    for (picture, command) in PICTURES {
        check_picture(picture, &(run(command, &root()).expect("a picture") + "\n"));
        let struck_out =
            fs::read_to_string(root().join(picture)).expect("a picture").contains(r#"class="gone""#);
        assert_eq!(struck_out, picture.contains("summary"), "the picture of a summary shows what was cut");
    }
}

#[test]
fn recordings_are_what_a_terminal_shows() {
    for (picture, title, steps) in recording::RECORDINGS {
        let folder = tempfile::tempdir().expect("a folder");
        copy(&root().join("examples"), &folder.path().join("examples"));
        let columns = recording::COLUMNS;
        let shown = |(typed, command): &(&'static str, &str)| {
            (
                *typed,
                run(&format!("COLUMNS={columns}; export COLUMNS; {command}"), folder.path())
                    .expect("an answer"),
            )
        };
        check_picture(picture, &recording::recording(title, &steps.iter().map(shown).collect::<Vec<_>>()));
    }
}

#[test]
fn dots_stand_for_any_lines() {
    assert!(matches("a\n...\nd", "a\nb\nc\nd") && matches("...\nd", "d") && matches("", ""));
    assert!(!matches("a\n...", "b") && !matches("a", "a\nb") && !matches("", "x"));
}

#[test]
fn faults_of_pages_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let faults = |page: &str| check(page, folder.path()).1.len();
    assert_eq!(faults("```sh\ntrue\nfalse # no\n```\n"), 1);
    assert_eq!(faults("```\nconsonant check x\n```\n\n    bench/run map\n"), 2);
    assert_eq!(faults("```sh\ntouch a \\\n  b\nls a b\n: --output missing\n```\n"), 1);
    assert_eq!(faults("```console\n$ echo a\na\n$ echo b\na\n```\n"), 1);
    assert!(check_flags("bench/run crf --data DIR --report").is_ok());
    assert!(
        check_flags("bench/run crf --date DIR").is_err()
            && check_flags("bench/run graph --data DIR").is_err()
    );
}
