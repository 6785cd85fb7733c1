//! Expands references to variables in the settings of servers, as MCP clients do.
//!
//! | reference | Claude Code | VS Code | Cursor | Gemini CLI |
//! |---|---|---|---|---|
//! | `${VAR}` | yes | – | – | yes |
//! | `${VAR:-default}` | yes | – | – | – |
//! | `$VAR` | – | – | – | yes |
//! | `${env:VAR}` | – | yes | yes | – |
//! | `${userHome}`, `${workspaceFolder}`, `${workspaceFolderBasename}` | – | yes | yes | – |
//! | `${pathSeparator}`, `${/}` | – | yes | yes | – |
//! | `${input:id}` | – | asks the user; here the variable `ID`, or its default | – | – |
//!
//! No two clients give one reference different meanings, so all of them are supported everywhere,
//! but for `$VAR`: in the files of other clients it is text, such as the argument of a shell. Where
//! Gemini CLI wrote the file, [`with_braces`] makes it the first form.
//! One difference is deliberate: an unset variable is an error. Claude Code passes the reference on
//! as it is written and VS Code passes nothing; a server that gets `${TOKEN}` as its token fails
//! later and with a worse message.
//!
//! `$$` has no meaning to any client and stays as it is. The result of an expansion is not expanded
//! again, so the value of a variable cannot refer to another one.

use std::path::{MAIN_SEPARATOR, Path};

use toolwright_source::DiagnosticCode;

use crate::codes;
use crate::server_rules::names_secret;
use crate::text_forms::is_variable_name;

/// Looks up an environment variable. The binary supplies the function; libraries do not read the
/// environment.
pub type Variables<'v> = dyn Fn(&str) -> Option<String> + 'v;

/// The values that references can have.
#[derive(Clone, Copy)]
pub struct VariableScope<'v> {
    /// Looks up a variable of the environment.
    pub variables: &'v Variables<'v>,
    /// The value of `${workspaceFolder}`; for a servers file, [`workspace_of`] determines it.
    pub workspace: &'v Path,
}

/// Why a reference cannot be expanded. Messages name the variable and quote nothing else of the
/// text, which may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// The variable is not set, and the reference has no default.
    #[error("environment variable `{0}` is not set")]
    Unset(String),
    /// VS Code would ask its user for this value, and no variable stands for it.
    #[error("`${{input:{0}}}` asks the user for a value, which is not possible here")]
    Input(String),
    /// `${kind:…}` with a kind that no client has.
    #[error("`${{{0}:…}}` is not a reference that can be expanded here")]
    Kind(String),
    /// Other text in braces.
    #[error("`${{` does not start a reference that can be expanded here")]
    Unknown,
    /// The closing brace is missing.
    #[error("`${{` has no closing `}}`")]
    Unclosed,
    /// `${A:-${B}}`, which clients expand in different ways.
    #[error("the default of `{0}` has a reference inside")]
    Nested(String),
}

impl ExpandError {
    /// The code it is reported under.
    pub fn code(&self) -> &'static DiagnosticCode {
        match self {
            ExpandError::Unset(_) | ExpandError::Input(_) => &codes::UNSET_VARIABLE,
            _ => &codes::INVALID_REFERENCE,
        }
    }

    /// How to fix it, for the help of the diagnostic.
    pub fn help(&self) -> String {
        match self {
            // A default would be a secret in the file.
            ExpandError::Unset(name) if names_secret(name) => {
                "set it where this program is started".to_owned()
            }
            ExpandError::Unset(name) if is_variable_name(name) => {
                format!("set it, or give a default: `${{{name}:-…}}`")
            }
            ExpandError::Unset(_) => "set it, or write the value here".to_owned(),
            ExpandError::Input(id) => {
                let name = variable_for(id);
                format!("set environment variable `{name}`, which stands for it here")
            }
            ExpandError::Kind(_) | ExpandError::Unknown => {
                "use `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${userHome}` or \
                 `${workspaceFolder}`"
                    .to_owned()
            }
            ExpandError::Unclosed => "close it: `${VAR}`".to_owned(),
            ExpandError::Nested(_) => "a default is plain text".to_owned(),
        }
    }
}

/// The environment variable that stands for an input: `github-token` gives `GITHUB_TOKEN`.
pub(crate) fn variable_for(id: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = id.chars().map(word).collect();
    if is_variable_name(&name) { name } else { format!("INPUT_{name}") }
}

/// A text of Gemini CLI with `${NAME}` for every `$NAME`.
pub(crate) fn with_braces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (word, behind) = after.split_at(after.find(|c| !is_word(c)).unwrap_or(after.len()));
        out += before;
        match is_variable_name(word) {
            true => out += &format!("${{{word}}}"),
            false => out += &format!("${word}"),
        }
        rest = behind;
    }
    out + rest
}

/// The text with every reference expanded.
pub fn expand(text: &str, scope: &VariableScope<'_>) -> Result<String, ExpandError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        // References do not nest, so the first `}` closes.
        let (reference, behind) = after.split_once('}').ok_or(ExpandError::Unclosed)?;
        out.push_str(before);
        out.push_str(&reference_value(reference, scope)?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// The value of the reference between the braces.
fn reference_value(reference: &str, scope: &VariableScope<'_>) -> Result<String, ExpandError> {
    // `${userHome}` is the only reference whose variable depends on the system.
    let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    match reference {
        "userHome" => variable(home, None, scope),
        "workspaceFolder" => Ok(scope.workspace.to_string_lossy().into_owned()),
        "workspaceFolderBasename" => {
            Ok(scope.workspace.file_name().unwrap_or_default().to_string_lossy().into_owned())
        }
        "pathSeparator" | "/" => Ok(MAIN_SEPARATOR.to_string()),
        _ => {
            // At the first `:-`, so that a default may contain another one.
            let (name, default) = match reference.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (reference, None),
            };
            named_value(name, default, scope)
        }
    }
}

/// The value of a reference that names a variable, with or without `env:`.
fn named_value(
    name: &str,
    default: Option<&str>,
    scope: &VariableScope<'_>,
) -> Result<String, ExpandError> {
    match name.split_once(':') {
        None if is_variable_name(name) => variable(name, default, scope),
        None => Err(ExpandError::Unknown),
        // After `env:` any name goes, such as `ProgramFiles(x86)`: the prefix already marks it as a
        // variable.
        Some(("env", name)) if !name.is_empty() => variable(name, default, scope),
        // VS Code asks its user. A server that starts in the background has nobody to ask.
        Some(("input", id)) => {
            (scope.variables)(&variable_for(id)).ok_or_else(|| ExpandError::Input(id.to_owned()))
        }
        // Only a kind that is a plain word is quoted: other text may be part of a secret.
        Some((kind, _)) if is_variable_name(kind) => Err(ExpandError::Kind(kind.to_owned())),
        Some(_) => Err(ExpandError::Unknown),
    }
}

/// The value of an environment variable, or the default.
fn variable(
    name: &str,
    default: Option<&str>,
    scope: &VariableScope<'_>,
) -> Result<String, ExpandError> {
    match default {
        // Checked also if the variable is set, so that the mistake does not depend on the machine.
        Some(default) if default.contains("${") => Err(ExpandError::Nested(name.to_owned())),
        default => (scope.variables)(name)
            .or_else(|| default.map(str::to_owned))
            .ok_or_else(|| ExpandError::Unset(name.to_owned())),
    }
}

/// The value of `${workspaceFolder}` in the servers file `file`: the folder it is in, or the folder
/// above for a file in `.vscode/` or `.cursor/`, because editors open the project and not their own
/// folder.
pub fn workspace_of(file: &Path) -> &Path {
    let folder = file.parent().unwrap_or(file);
    let of_editor = folder.file_name().is_some_and(|name| name == ".vscode" || name == ".cursor");
    folder.parent().filter(|_| of_editor).unwrap_or(folder)
}
