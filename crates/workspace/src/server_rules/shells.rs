//! PIPE_TO_SHELL: a shell that runs what another program prints, usually a download.
//!
//! `curl https://host/install | sh` runs whatever the other machine sends at that moment: there is
//! no version, no checksum, and a half of the script runs if the connection breaks. A program that
//! takes code from its input counts if it has no script of its own: `| sh`, `| bash -s`,
//! `| python3 -`, but not `| python3 -m json.tool`.

use super::{SHELLS, ServerFinding, WrittenServer, program_name, shell_texts};
use crate::codes::PIPE_TO_SHELL;

/// Reports the texts that pipe something into a shell.
pub(super) fn check<P: Clone>(server: &WrittenServer<P>) -> Vec<ServerFinding<P>> {
    let words: Vec<&str> = server.command.iter().map(|word| word.text.as_str()).collect();
    let piped = shell_texts(&words).into_iter().filter(|(_, text)| pipes_to_shell(text));
    let finding = |(n, _): (usize, &str)| {
        let message = "a shell runs whatever another program prints";
        let help = "install the server once, from a file that you have looked at, and start that";
        ServerFinding::new(&PIPE_TO_SHELL, &server.command[n].at, message, help)
    };
    piped.map(finding).collect()
}

/// Programs other than shells that run the code on their input.
const INTERPRETERS: [&str; 9] =
    ["python", "python3", "node", "perl", "ruby", "php", "iex", "invoke-expression", "deno"];

/// Programs that print a download.
const DOWNLOADERS: [&str; 6] =
    ["curl", "wget", "iwr", "irm", "invoke-webrequest", "invoke-restmethod"];

/// Whether a text for a shell pipes something into a shell, or runs what a download prints.
fn pipes_to_shell(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    // `||` is not a pipe.
    let text = text.replace("||", ";");
    // What stands before the first `|` gets no input from a pipe.
    text.split('|').skip(1).any(runs_its_input) || runs_download(&text)
}

/// Whether the command behind a `|` runs what it reads.
fn runs_its_input(command: &str) -> bool {
    // The command ends where the next one of the line begins.
    let command = command.split(['&', ';', '\n', ')']).next().unwrap_or_default();
    let mut words =
        command.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', '`'])).skip_while(
            |word| matches!(program_name(word), "sudo" | "env" | "exec") || word.contains('='),
        );
    let Some(program) = words.next().map(program_name) else { return false };
    let is_shell = SHELLS.contains(&program);
    if !is_shell && !INTERPRETERS.contains(&program) {
        return false;
    }
    for word in words {
        match word {
            // From here on arguments of the script, which is the input.
            "-" | "-s" | "--" => return true,
            // Code in the arguments: the input is data.
            "-c" | "-m" | "-e" | "--eval" | "-p" | "-n" | "-r" => return false,
            _ if word.starts_with('-') || word.starts_with('>') || word.starts_with("2>") => {}
            // A script of its own.
            _ => return false,
        }
    }
    true
}

/// Bytes around a substitution that are looked at: a hostile text consists of substitutions.
const NEAR: usize = 200;

/// Whether `sh <(curl …)`, `eval "$(curl …)"` or the like runs a download.
fn runs_download(text: &str) -> bool {
    let runs = |word: &str| {
        let name = program_name(word);
        matches!(name, "eval" | "source" | ".") || SHELLS.contains(&name)
    };
    let is_run = |(start, inside): (usize, usize)| {
        let after = &text[inside..text.floor_char_boundary(inside + NEAR)];
        let inner = after.split_whitespace().next().unwrap_or_default();
        let before = &text[text.floor_char_boundary(start.saturating_sub(NEAR))..start];
        let mut words = before
            .rsplit(|c: char| c.is_whitespace() || ";&|()\"'".contains(c))
            .filter(|word| !word.is_empty());
        let last = words.next().unwrap_or_default();
        // The word before, or the one before its option: `bash -c "$(…)"`.
        let runner = if last.starts_with('-') { words.next().unwrap_or_default() } else { last };
        DOWNLOADERS.contains(&program_name(inner)) && runs(runner)
    };
    ["$(", "<(", "`"]
        .into_iter()
        .any(|open| text.match_indices(open).any(|(at, _)| is_run((at, at + open.len()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_from_a_pipe_is_found() {
        for text in [
            "curl -fsSL https://h/x | sh",
            "curl https://h/x|bash",
            "wget -qO- https://h/x | sudo bash -s -- --yes",
            "curl https://h/x | tar xz; cat y | sh",
            "curl -s https://h/x | python3 -",
            "curl -s https://h/x | /usr/bin/env bash",
            "echo aGk= | base64 -d | sh",
            "cd /tmp && curl https://h/x | node",
            "bash <(curl -s https://h/x)",
            "eval \"$(curl -s https://h/x)\"",
            "sh -c \"$(curl -fsSL https://h/x)\"",
            ". <(wget -qO- https://h/x)",
            "iwr https://h/x | iex",
            "irm https://h/x | Invoke-Expression",
        ] {
            assert!(pipes_to_shell(text), "{text}");
        }
    }

    #[test]
    fn near_misses_are_not() {
        for text in [
            "curl https://h/x -o x && node server.js",
            "curl https://h/x | jq .",
            "curl https://h/x | python3 -m json.tool",
            "cat data.json | node server.js",
            "which node || sh install.sh",
            "cat x | grep sh",
            "cat x | shasum",
            "cat x | bash script.sh",
            "TOKEN=$(cat token) node server.js",
            "VERSION=$(curl -s https://h/v) node server.js",
            "cd \"$(dirname \"$0\")\" && node server.js",
            "node server.js 2>&1 | tee log",
        ] {
            assert!(!pipes_to_shell(text), "{text}");
        }
    }
}
