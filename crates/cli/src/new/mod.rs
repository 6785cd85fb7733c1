//! `toolwright new`: writes a small definition that checks clean, with what is needed to run it and
//! an example that passes.
//!
//! ```text
//! templates/ ─ name filled in ─▶ NewFile list ─ checked in memory ─▶ written, if none is there
//! ```
//!
//! A name that breaks a rule of its format is found by the check itself, before anything is
//! written. The formats of vendors are not here: nobody writes them by hand, `convert` does.
//!
//! The templates are whole files with `__NAME__` and `__TITLE__` in them, so that they can be read
//! and checked as what they become. A new format is a template, a variant of `NewFormat`, and an
//! arm of `files`.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::ValueEnum;
use toolwright_model::ToolName;
use toolwright_source::render::visible;
use toolwright_source::{Diagnostic, Severity};
use toolwright_workspace::{CheckOptions, replace_file};

use crate::args::{NewArgs, NewFormat};
use crate::messages::print_note;
use crate::output::ExitStatus;
use crate::sources;

/// Writes the definition.
///
/// Nothing is ever replaced. If a file in the middle cannot be written, those before it stay.
///
/// # Errors
/// If the name does not fit the format, or one of the files exists or cannot be written.
pub(crate) fn run(args: &NewArgs) -> anyhow::Result<ExitStatus> {
    let files = files(args)?;
    // All of them before the first is written.
    if let Some(file) = files.iter().find(|file| file.path.symlink_metadata().is_ok()) {
        bail!(
            "`{}` is there already, and was left as it is; `-o` names another file",
            file.path.display()
        );
    }
    check(args, &files)?;
    for file in &files {
        // The message below names the files, so that a misspelled folder is noticed.
        if let Some(folder) = file.path.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
        }
        replace_file(&file.path, None, file.text.as_bytes()).map_err(|why| anyhow!(why))?;
        if file.is_program {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&file.path)?.permissions().mode();
            // Executable for those who can read it.
            let permissions = PermissionsExt::from_mode(mode | (mode & 0o444) >> 2);
            std::fs::set_permissions(&file.path, permissions)
                .with_context(|| format!("cannot make `{}` a program", file.path.display()))?;
        }
    }
    let names: Vec<String> = files.iter().map(|file| visible(&shown(&file.path))).collect();
    let first = shown(&files[0].path);
    print_note(&format!(
        "written: {}; `toolwright check {first}` checks it, `toolwright test {first}` tries its \
         example",
        names.join(", ")
    ));
    Ok(ExitStatus::Clean)
}

/// The path as it is typed. A program in this folder needs a `./`.
fn shown(path: &Path) -> String {
    match path.components().count() {
        1 if path.extension().is_none() => format!("./{}", path.display()),
        _ => path.display().to_string(),
    }
}

/// A file that is to be written.
///
/// All of them are made in memory first.
struct NewFile {
    /// Relative to the working directory, as the person named it, unless `-o` is absolute.
    path: PathBuf,
    text: String,
    /// Whether it gets the permission to be executed.
    is_program: bool,
}

/// The files of a definition; the first one is the definition itself.
///
/// ```text
/// btcp-tool  NAME.json, NAME.js            ikigai  NAME-tool, a program that prints its schema
/// btcp       NAME.json, reverseText.js     mcp     NAME.json
/// aios       NAME.yaml, NAME.py
/// ```
///
/// # Errors
/// If the name could not be one in any format, or `-o` has an ending by which the file would not be
/// recognised as one of its format.
fn files(args: &NewArgs) -> anyhow::Result<Vec<NewFile>> {
    let name = args.name.as_str();
    let format = args.format.id();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || ToolName::parse(name).is_err() {
        bail!(
            "`{}` is not a name: a name starts with a letter and has letters, digits, `_`, `-` and \
             `.`, at most 128 characters",
            visible(name)
        );
    }
    let fill = |template: &str| {
        template.replace("__NAME__", name).replace("__TITLE__", &title(name)).trim_end().to_owned()
            + "\n"
    };
    let file =
        |path: PathBuf, template: &str| NewFile { path, text: fill(template), is_program: false };
    let output = |ending: &str| {
        args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}{ending}")))
    };
    // What runs the tool is found beside its definition.
    let beside = |definition: &Path, own: String| definition.with_file_name(own);
    Ok(match args.format {
        NewFormat::BtcpTool => {
            let path = output(".json");
            let body = beside(&path, format!("{name}.js"));
            vec![
                file(path, include_str!("templates/btcp-tool.json")),
                file(body, include_str!("templates/body.js")),
            ]
        }
        NewFormat::Btcp => {
            let path = output(".json");
            let body = beside(&path, "reverseText.js".to_owned());
            vec![
                file(path, include_str!("templates/btcp.json")),
                file(body, include_str!("templates/body.js")),
            ]
        }
        NewFormat::Aios => {
            let path = output(".yaml");
            if !path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
                bail!("`-o {}`: a file of {format} ends in `.yaml`", path.display());
            }
            let script = beside(&path, format!("{name}.py"));
            vec![
                file(path, include_str!("templates/aios.yaml")),
                file(script, include_str!("templates/script.py")),
            ]
        }
        NewFormat::Ikigai => {
            // The ending by which folders of programs are searched.
            let path = output("-tool");
            if !path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("-tool")) {
                bail!("`-o {}`: a program of {format} ends in `-tool`", path.display());
            }
            let schema = fill(include_str!("templates/ikigai.json"));
            let text =
                include_str!("templates/program.sh").replace("__SCHEMA__", schema.trim_end());
            vec![NewFile { path, text, is_program: true }]
        }
        NewFormat::Mcp => vec![file(output(".json"), include_str!("templates/mcp.json"))],
    })
}

/// `fetch-page` and `fetchPage` as `Fetch page`. A capital letter inside of the name begins a word.
fn title(name: &str) -> String {
    let mut words = String::new();
    for (n, c) in name.chars().enumerate() {
        if n > 0 && c.is_ascii_uppercase() && !words.ends_with(' ') {
            words.push(' ');
        }
        match c {
            '-' | '_' | '.' => words.push(' '),
            c if n == 0 => words.push(c.to_ascii_uppercase()),
            c => words.push(c.to_ascii_lowercase()),
        }
    }
    words.trim().to_owned()
}

/// Checks the definition in memory, under a path that does not exist.
///
/// Only the definition is checked; for a program, the schema that it will print.
///
/// The file is in the overlay of the workspace only, which is read in place of the disk.
///
/// # Errors
/// With the first finding but advice, such as that a name has a verb: the templates are clean, so
/// the name is what is wrong.
fn check(args: &NewArgs, files: &[NewFile]) -> anyhow::Result<()> {
    let mut workspace = sources::workspace();
    let (path, text) = match args.format {
        NewFormat::Ikigai => {
            let text = include_str!("templates/ikigai.json").replace("__NAME__", &args.name);
            (PathBuf::from(format!("{}.json", args.name)), text)
        }
        _ => (files[0].path.clone(), files[0].text.clone()),
    };
    workspace.overlay.set(path.clone(), text);
    let report = workspace.check(&[path], &CheckOptions::default());
    if let Some(failure) = report.load.failures.first() {
        return Err(failure.clone().into());
    }
    // The script is written after this.
    let is_about_script = |message: &str| message.starts_with("there is no script");
    let is_wrong = |d: &&Diagnostic| d.severity > Severity::Info && !is_about_script(&d.message);
    match report.diagnostics().find(is_wrong) {
        Some(found) => {
            let help: String = found.help.iter().map(|help| format!("; {help}")).collect();
            bail!(
                "`{}` does not fit {}: {}{}",
                visible(&args.name),
                args.format.id(),
                visible(&found.message),
                visible(&help)
            )
        }
        None => Ok(()),
    }
}

impl NewFormat {
    /// The word on the command line.
    fn id(self) -> String {
        let value = self.to_possible_value();
        value.map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
