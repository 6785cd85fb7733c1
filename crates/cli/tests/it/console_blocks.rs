//! Runs every fenced `console` block of README.md and docs/**/*.md and compares what is printed
//! with what the page shows, so that no page can show output that the program does not print.
//!
//! ```text
//! page ─ commands_of ─▶ commands of one block ─ sh in a copy of examples/ and docs/ ─▶ output
//!   ▲                                                                                   │
//!   └──────────── UPDATE_DOCS=1 writes it into the page ◀── differs from the page? ─────┘
//! ```
//!
//! The rules of a block:
//! - A line that starts with `$ ` is a command; a `\` at its end continues it on the next line. The
//!   lines up to the next command are its standard output and standard error together. Blank lines
//!   at their end do not count.
//! - A line `...` stands for any number of lines. Measured times (`1.25 ms`) are not compared.
//! - The commands of one block share a shell, so `cd` and variables last until the block ends.
//!   Every block starts at the root of a fresh copy and may write files there.
//! - Only the programs of this project and the `UTILITIES` can be found: a page must not need
//!   anything that a reader with a Rust toolchain might lack. Blocks that cannot run under these
//!   rules are tagged `sh` or `text` and are not run.

use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use similar::TextDiff;
use toolwright_testing::programs;

use crate::program::{project, state_home};

/// The programs of a Unix system that blocks may use, directly or through examples/.
const UTILITIES: &str = "awk basename cat chmod cp cut date diff dirname echo env false find grep \
    head ln ls mkdir mktemp mv printf pwd rm sed sh sleep sort tail tee test touch tr true uname \
    uniq wc xargs";

/// Printed after every command, to tell where its output ends.
const END_OF_OUTPUT: &str = "\u{1}end of output\u{1}\n";

/// A command of a page, and the lines behind it that show its output.
#[derive(Debug, PartialEq)]
struct ShownCommand {
    /// The text for the shell, without prompt and continuations' indentation.
    shell: String,
    /// Where the shown output is: indices of lines of the page, without blank lines at the end.
    output: Range<usize>,
    /// How far the block is indented, as within a list.
    indent: usize,
}

/// The commands of a page, block by block.
fn commands_of(page: &str) -> Vec<Vec<ShownCommand>> {
    let lines: Vec<&str> = page.lines().collect();
    let mut blocks: Vec<Vec<ShownCommand>> = Vec::new();
    let mut number = 0;
    while number < lines.len() {
        let fence = lines[number].trim_start();
        number += 1;
        // Fences of other languages are skipped as a whole: what they hold is not for us.
        let Some(language) = fence.strip_prefix("```") else { continue };
        let indent = lines[number - 1].len() - fence.len();
        let end = (number..lines.len())
            .find(|line| lines[*line].trim() == "```")
            .unwrap_or_else(|| panic!("line {number}: the block does not end"));
        if language.trim() == "console" {
            blocks.push(commands_in(&lines, number..end, indent));
        }
        number = end + 1;
    }
    blocks
}

fn commands_in(lines: &[&str], block: Range<usize>, indent: usize) -> Vec<ShownCommand> {
    let line = |number: usize| lines[number].get(indent..).unwrap_or_default();
    let mut commands: Vec<ShownCommand> = Vec::new();
    let mut number = block.start;
    while number < block.end {
        if let Some(start) = line(number).strip_prefix("$ ") {
            let mut shell = start.to_owned();
            while shell.ends_with('\\') && number + 1 < block.end {
                number += 1;
                shell = format!("{shell}\n{}", line(number));
            }
            commands.push(ShownCommand { shell, output: number + 1..number + 1, indent });
        } else if !line(number).trim().is_empty() {
            let last = commands.last_mut();
            last.unwrap_or_else(|| panic!("line {}: no command before it", number + 1))
                .output
                .end = number + 1;
        }
        number += 1;
    }
    commands
}

/// Whether printed lines are those of the page, where a line `...` stands for any lines.
fn fits(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == "..." => {
            (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..]))
        }
        Some((line, rest)) => printed.split_first().is_some_and(|(first, others)| {
            without_measurements(first) == without_measurements(line) && fits(rest, others)
        }),
    }
}

/// A line with every number in front of ` ms` and ` KiB` replaced: times differ between runs, and
/// the memory of a program between builds.
fn without_measurements(line: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let without = |line: &str, unit: &str| {
        let mut parts: Vec<&str> = line.split(unit).collect();
        let last = parts.pop().expect("there is always one part");
        let start =
            parts.iter().map(|part| part.trim_end_matches(is_number).to_owned() + "N" + unit);
        start.collect::<String>() + last
    };
    without(&without(line, " ms"), " KiB")
}

/// A page with the outputs that `run` gives for each block, and what differs from the page.
fn compare(
    page: &str,
    mut run: impl FnMut(&[ShownCommand]) -> Vec<Vec<String>>,
) -> (String, Vec<String>) {
    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    let mut differences = Vec::new();
    let mut replacements = Vec::new();
    for commands in commands_of(page) {
        for (command, printed) in commands.iter().zip(run(&commands)) {
            let shown: Vec<String> = lines[command.output.clone()]
                .iter()
                .map(|line| line.get(command.indent..).unwrap_or_default().to_owned())
                .collect();
            if !fits(&shown, &printed) {
                let (old, new) = (shown.join("\n") + "\n", printed.join("\n") + "\n");
                let mut difference = format!("$ {}\n", command.shell);
                let diff = TextDiff::from_lines(&old, &new);
                let _ = write!(difference, "{}", diff.unified_diff().header("page", "program"));
                differences.push(difference);
                let indented = |line: &String| {
                    format!("{:indent$}{line}", "", indent = command.indent).trim_end().to_owned()
                };
                let new_lines: Vec<String> = printed.iter().map(indented).collect();
                replacements.push((command.output.clone(), new_lines));
            }
        }
    }
    // From the end, so that the earlier ranges stay where they are.
    for (range, new_lines) in replacements.into_iter().rev() {
        lines.splice(range, new_lines);
    }
    (lines.join("\n") + "\n", differences)
}

/// Runs the commands of one block in a shell of their own; the lines that each printed.
fn run_block(commands: &[ShownCommand]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (programs, root) = (folder.path().join("programs"), folder.path().join("project"));
    link_programs(&programs);
    for copied in ["examples", "docs"] {
        copy_folder(&project().join(copied), &root.join(copied));
    }
    let mut script = "exec 2>&1\n".to_owned();
    for command in commands {
        let _ =
            write!(script, "{}\nprintf '%s\\n' '{}'\n", command.shell, END_OF_OUTPUT.trim_end());
    }
    let output = Command::new("/bin/sh")
        .args(["-c", &script])
        .current_dir(&root)
        .env_clear()
        .env("PATH", &programs)
        .envs([("HOME", "/nowhere"), ("LANG", "C.UTF-8"), ("NO_COLOR", "1"), ("TZ", "UTC")])
        .envs([("TERM", "dumb"), ("COLUMNS", "100"), ("XDG_STATE_HOME", state_home())])
        .stdin(Stdio::null())
        .output()
        .expect("a shell starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut outputs: Vec<Vec<String>> = text.split(END_OF_OUTPUT).map(trimmed_lines).collect();
    // Nothing follows the last mark, unless a command ended the shell; that then shows as output.
    outputs.truncate(commands.len());
    outputs.resize(commands.len(), vec!["(an earlier command ended the shell)".to_owned()]);
    outputs
}

/// The lines of an output, without white space at their ends and blank lines at the end of all.
fn trimmed_lines(output: &str) -> Vec<String> {
    output.trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
}

/// The programs of this project, each with its path. Those of other packages are built if
/// necessary, because `cargo test -p toolwright` builds only the binary `toolwright`.
static OUR_PROGRAMS: LazyLock<[(&str, PathBuf); 4]> = LazyLock::new(|| {
    let of_web = |name| (name, PathBuf::from(programs::binary("web", name)));
    [
        ("toolwright", PathBuf::from(env!("CARGO_BIN_EXE_toolwright"))),
        of_web("web-fetch-tool"),
        of_web("web-search-brave-tool"),
        of_web("web-search-google-tool"),
    ]
});

/// Fills a folder with links to the programs of this project and to the utilities.
fn link_programs(folder: &Path) {
    let link = |name: &str, target: &Path| {
        std::os::unix::fs::symlink(target, folder.join(name)).expect("a link");
    };
    fs::create_dir(folder).expect("a folder");
    OUR_PROGRAMS.iter().for_each(|(name, target)| link(name, target));
    for name in UTILITIES.split_whitespace() {
        // Systems differ in which of the two folders has a utility.
        let places = ["/bin", "/usr/bin"].map(|system| Path::new(system).join(name));
        if let Some(target) = places.iter().find(|target| target.exists()) {
            link(name, target);
        }
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file can be copied");
        }
    }
}

/// README.md and every Markdown file below docs/.
pub(crate) fn pages() -> Vec<PathBuf> {
    let mut pages = vec![project().join("README.md")];
    let mut folders = vec![project().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.extension().is_some_and(|ext| ext == "md") => pages.push(path),
                _ => {}
            }
        }
    }
    pages.sort();
    pages
}

#[test]
fn every_console_block_prints_what_its_page_shows() {
    let mut report = String::new();
    let mut blocks = 0;
    for path in pages() {
        let page = fs::read_to_string(&path).expect("a page");
        blocks += commands_of(&page).len();
        let (updated, differences) = compare(&page, run_block);
        if std::env::var_os("UPDATE_DOCS").is_some() && !differences.is_empty() {
            fs::write(&path, updated).expect("the page can be written");
            continue;
        }
        for difference in differences {
            let _ = writeln!(report, "{}\n{difference}", path.display());
        }
    }
    assert!(report.is_empty(), "\n{report}UPDATE_DOCS=1 writes these outputs into the pages");
    assert!(blocks > 5, "only {blocks} blocks were found: the pages have more");
}

const PAGE: &str = "Text.

```console
$ first \\
    --long
one
two 1.5 ms

$ second
```

```sh
$ not run
```

- item
  ```console
  $ third
  a
  ...
  z
  ```
";

#[test]
fn commands_and_outputs_are_found_in_a_page() {
    let blocks = commands_of(PAGE);
    let shells: Vec<Vec<&str>> = blocks
        .iter()
        .map(|block| block.iter().map(|command| command.shell.as_str()).collect())
        .collect();
    assert_eq!(shells, [vec!["first \\\n    --long", "second"], vec!["third"]]);
    let outputs: Vec<Range<usize>> =
        blocks.iter().flatten().map(|command| command.output.clone()).collect();
    assert_eq!(outputs, [5..7, 9..9, 18..21]);
}

#[test]
fn only_outputs_that_differ_are_rewritten() {
    let lines = |text: &str| trimmed_lines(text);
    let outputs = |second: &'static str, third: &'static str| {
        move |block: &[ShownCommand]| match block.len() {
            2 => vec![lines("one\ntwo 27.25 ms\n\n"), lines(second)],
            _ => vec![lines(third)],
        }
    };
    let (same, differences) = compare(PAGE, outputs("", "a\nb\nc\nz"));
    assert_eq!((same.as_str(), differences.as_slice()), (PAGE, &[][..]));
    let (changed, differences) = compare(PAGE, outputs("new", "a\n\ny"));
    assert_eq!(differences.len(), 2, "{differences:?}");
    assert!(differences[0].contains("$ second\n") && differences[0].contains("+new"));
    let expected = PAGE.replace("$ second\n", "$ second\nnew\n");
    assert_eq!(changed, expected.replace("  a\n  ...\n  z\n", "  a\n\n  y\n"));
}

#[test]
fn the_programs_of_a_block_share_a_shell_and_a_copy_of_the_project() {
    let commands = |texts: &[&str]| -> Vec<ShownCommand> {
        let command =
            |text: &&str| ShownCommand { shell: (*text).to_owned(), output: 0..0, indent: 0 };
        texts.iter().map(command).collect()
    };
    let outputs = run_block(&commands(&[
        "cd examples && ls aios/git.yaml && rm -r aios",
        "ls aios/git.yaml >/dev/null 2>&1 || echo gone; echo error >&2",
        "for p in toolwright cat cargo python3 node; do command -v $p >/dev/null && echo $p; done",
        "exit 3",
        "echo never",
    ]));
    assert_eq!(outputs[0], ["aios/git.yaml"]);
    assert_eq!(outputs[1], ["gone", "error"]);
    assert_eq!(outputs[2], ["toolwright", "cat"]);
    assert_eq!(outputs[3], [""; 0]);
    assert_eq!(outputs[4], ["(an earlier command ended the shell)"]);
    assert!(project().join("examples/aios/git.yaml").exists(), "only the copy was changed");
}
