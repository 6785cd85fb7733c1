//! Finds the browser's program.
//!
//! Distributions put a shell script on the PATH. Debian's for `chromium-headless-shell` does not
//! `exec`, so it would stay between us and the browser; the program behind it is started instead.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::{BrowserSettings, PageError, PageErrorCode};

/// Names of programs that only run without a window; they start fastest.
const HEADLESS_NAMES: &[&str] =
    &["chromium-headless-shell", "chrome-headless-shell", "headless_shell"];

/// Names of whole browsers.
const NAMES: &[&str] =
    &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/// Scripts that start browsers are a few kilobytes.
const LONGEST_SCRIPT: u64 = 64 * 1024;

/// The program that these settings start.
///
/// # Errors
///
/// Says which program is missing and how to install one.
pub fn find_browser(settings: &BrowserSettings) -> Result<PathBuf, PageError> {
    if let Some(program) = &settings.program {
        let found = if program.components().count() > 1 {
            Some(program.clone()).filter(|path| is_executable(path))
        } else {
            settings.path.iter().map(|folder| folder.join(program)).find(|it| is_executable(it))
        };
        let missing = || format!("the browser `{}` is not a program", program.display());
        return found
            .map(|it| behind_script(&it))
            .ok_or_else(|| PageError::new(PageErrorCode::NoBrowser, missing()));
    }
    let headless = if settings.headless { HEADLESS_NAMES } else { &[] };
    let names = headless.iter().chain(NAMES);
    let mut places = names.flat_map(|name| settings.path.iter().map(move |it| it.join(name)));
    places.find(|path| is_executable(path)).map(|path| behind_script(&path)).ok_or_else(|| {
        PageError::new(
            PageErrorCode::NoBrowser,
            "no Chromium is installed: install `chromium` (Debian: `apt-get install chromium \
             chromium-headless-shell`), or name its program in `[browser] program`",
        )
    })
}

/// The program that a script starts, if the path is a script and that can be found out; else the
/// path itself. A script that stays in between still works: the whole process group is killed.
///
/// Nothing of the script is run. Its words are only looked at, so a script that computes the path
/// in another way is started as it is.
fn behind_script(path: &Path) -> PathBuf {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let Some(script) = script_text(&real) else { return path.to_owned() };
    named_programs(&script)
        .chain(siblings(&real))
        .find(|program| is_binary(program))
        .unwrap_or_else(|| path.to_owned())
}

/// The words of a script that are absolute paths, with its simple variables filled in.
fn named_programs(script: &str) -> impl Iterator<Item = PathBuf> {
    let mut variables: HashMap<&str, String> = HashMap::new();
    let mut words = Vec::new();
    for line in script.lines().map(str::trim) {
        if let Some((name, value)) = line.split_once('=')
            && !name.is_empty()
            && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
        {
            let value = expand(value.trim_matches(['"', '\'']), &variables);
            // The first value: later ones are usually conditional.
            variables.entry(name).or_insert(value);
        }
        words
            .extend(line.split_whitespace().map(|word| expand(word.trim_matches('"'), &variables)));
    }
    words.into_iter().filter(|word| word.starts_with('/')).map(PathBuf::from)
}

/// A word with `$NAME` and `${NAME}` replaced.
fn expand(word: &str, variables: &HashMap<&str, String>) -> String {
    let mut names: Vec<_> = variables.iter().collect();
    // The longest first: `$APPNAME` is not `$APP` and `NAME`.
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    names.into_iter().fold(word.to_owned(), |text, (name, value)| {
        text.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value)
    })
}

/// Google's script starts the program `chrome` beside it.
fn siblings(script: &Path) -> impl Iterator<Item = PathBuf> {
    let folder = script.parent().unwrap_or(Path::new("/")).to_owned();
    ["chrome", "chromium", "headless_shell"].into_iter().map(move |name| folder.join(name))
}

fn script_text(path: &Path) -> Option<String> {
    let mut text = Vec::new();
    fs::File::open(path).ok()?.take(LONGEST_SCRIPT).read_to_end(&mut text).ok()?;
    text.starts_with(b"#!").then(|| String::from_utf8_lossy(&text).into_owned())
}

fn is_binary(path: &Path) -> bool {
    is_executable(path) && script_text(path).is_none()
        // A word such as `/usr/bin/env` is a program, too.
        && path.file_name().is_some_and(|name| {
            let name = name.to_string_lossy();
            name.contains("chrom") || name.contains("headless")
        })
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executable(path: &Path, content: &str) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
    }

    #[test]
    fn the_program_behind_a_script_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let real = folder.path().join("lib/chromium/chromium");
        executable(&real, "\x7fELF");
        let lib = folder.path().join("lib");
        let scripts = [
            format!("#!/bin/sh -e\n\n{} \"$@\"\n", real.display()),
            format!(
                "#!/bin/sh\nAPPNAME=chromium\nLIBDIR={}/$APPNAME\nexec $LIBDIR/$APPNAME \"$@\"\n",
                lib.display()
            ),
        ];
        for script in scripts {
            let wrapper = folder.path().join("bin/chromium");
            executable(&wrapper, &script);
            assert_eq!(behind_script(&wrapper), real, "{script}");
        }
        let google = folder.path().join("opt/google-chrome");
        executable(&google, "#!/bin/bash\nexec -a \"$0\" \"$HERE/chrome\" \"$@\"\n");
        executable(&folder.path().join("opt/chrome"), "\x7fELF");
        assert_eq!(behind_script(&google), folder.path().join("opt/chrome"));
        // Nothing to be found: the script itself.
        let other = folder.path().join("other/chromium");
        executable(&other, "#!/bin/sh\nexec somewhere \"$@\"\n");
        assert_eq!(behind_script(&other), other);
    }
}
