//! `explain`, `completions` and `man`.

use crate::calling::run;
use crate::checking::assert_one_line;
use crate::program::folder;

#[test]
fn explain_prints_the_manual_of_a_code() {
    let folder = folder(&[]);
    let explain = |args: &[&str]| run(folder.path(), &[&["explain"], args].concat());
    let upper = explain(&["INVALID_SCHEMA"]);
    assert_eq!((upper.code, upper.stderr.as_str()), (0, ""));
    for words in
        ["INVALID_SCHEMA (error)\n\n", "\nWrong:\n\n", "\nerror[INVALID_SCHEMA]: ", "\nRight:\n\n"]
    {
        assert!(upper.stdout.contains(words), "{words}: {upper:?}");
    }
    assert_eq!(explain(&["invalid_schema"]).stdout, upper.stdout);
    for (name, help) in [
        ("INVALID_SHEMA", "there is no code `INVALID_SHEMA` (did you mean `INVALID_SCHEMA`?)"),
        ("invalid_shema", "(did you mean `INVALID_SCHEMA`?)"),
        ("zzz", "`toolwright explain` lists all codes"),
    ] {
        let run = explain(&[name]);
        assert_one_line(&run, &[help]);
        assert_eq!(run.stdout, "");
    }
    let list = explain(&[]);
    assert_eq!((list.code, list.stderr.as_str()), (0, ""));
    let listed: Vec<&str> =
        list.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let mut all: Vec<&str> = toolwright_workspace::codes::all().map(|code| code.name).collect();
    all.sort_unstable();
    assert_eq!(listed, all);
    assert!(list.stdout.lines().all(|line| line.split_whitespace().count() > 4), "{}", list.stdout);
    // A code without a sample has a manual text, too.
    let bare = explain(&["LOOKALIKE_NAME"]);
    assert!(bare.code == 0 && bare.stdout.starts_with("LOOKALIKE_NAME (warning)\n\n"), "{bare:?}");
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let folder = folder(&[]);
    let run = |args: &[&str]| run(folder.path(), args);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let completions = run(&["completions", shell]);
        assert_eq!((completions.code, completions.stderr.as_str()), (0, ""), "{shell}");
        for word in ["check", "explain", "unsafe-fixes"] {
            assert!(completions.stdout.contains(word), "{shell} lacks {word}");
        }
    }
    let unknown = run(&["completions", "csh"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("possible values"), "{unknown:?}");
    let program = run(&["man"]);
    assert_eq!((program.code, program.stderr.as_str()), (0, ""));
    assert!(
        program.stdout.contains(".TH toolwright 1")
            && program.stdout.contains("toolwright\\-check(1)")
    );
    let check = run(&["man", "check"]);
    assert_eq!((check.code, check.stderr.as_str()), (0, ""));
    for words in
        [".TH toolwright-check 1", "toolwright check", "\\-\\-unsafe\\-fixes", "\\-\\-fail\\-on"]
    {
        assert!(check.stdout.contains(words), "{words}: {}", check.stdout);
    }
    let typo = run(&["man", "chekc"]);
    assert_one_line(&typo, &["unknown command `chekc` (did you mean `check`?)"]);
    assert_one_line(&run(&["man", "zzzzzz"]), &["unknown command `zzzzzz`"]);
    let command = run(&["chekc"]);
    assert!(
        command.code == 2 && command.stdout.is_empty() && command.stderr.contains("'check'"),
        "{command:?}"
    );
}
