//! Expansion of references to variables: tables of texts and results.

use std::path::Path;

use toolwright_workspace::{ExpandError, VariableScope, expand, workspace_of};

/// The environment of all tests.
pub(crate) fn variables(name: &str) -> Option<String> {
    let set = [
        ("HOME", "/home/ann"),
        ("USERPROFILE", "/home/ann"),
        ("TOKEN", "s3cret"),
        ("EMPTY", ""),
        ("REF", "${TOKEN}"),
        ("ProgramFiles(x86)", "/programs"),
    ];
    set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
}

pub(crate) fn scope() -> VariableScope<'static> {
    VariableScope { variables: &variables, workspace: Path::new("/project/my app") }
}

#[test]
fn references_are_expanded() {
    let slash = std::path::MAIN_SEPARATOR;
    let cases = [
        ("", ""),
        ("plain é", "plain é"),
        ("${TOKEN}", "s3cret"),
        ("Bearer ${TOKEN}!", "Bearer s3cret!"),
        ("${TOKEN}${TOKEN}", "s3crets3cret"),
        ("é${TOKEN}ü", "és3cretü"),
        ("${TOKEN:-x}", "s3cret"),
        ("${NONE:-x y}", "x y"),
        ("${NONE:-}", ""),
        ("${NONE:-a:-b}", "a:-b"),
        ("${EMPTY}", ""),
        // A variable that is set to the empty text is set.
        ("${EMPTY:-x}", ""),
        ("${env:TOKEN}", "s3cret"),
        ("${env:ProgramFiles(x86)}", "/programs"),
        ("${env:NONE:-x}", "x"),
        ("${userHome}/x", "/home/ann/x"),
        ("${workspaceFolder}/x", "/project/my app/x"),
        ("${workspaceFolderBasename}", "my app"),
        ("a${pathSeparator}b${/}c", &format!("a{slash}b{slash}c")),
        // Not references.
        ("$TOKEN $$ $ $(x) {TOKEN} }", "$TOKEN $$ $ $(x) {TOKEN} }"),
        ("$${TOKEN}", "$s3cret"),
        // The value of a variable is not expanded again.
        ("${REF}", "${TOKEN}"),
        ("${NONE:-$TOKEN}", "$TOKEN"),
    ];
    for (text, filled) in cases {
        assert_eq!(expand(text, &scope()).as_deref(), Ok(filled), "{text}");
    }
}

#[test]
fn invalid_references_are_errors() {
    use ExpandError::*;
    let name = |text: &str| text.to_owned();
    let cases = [
        ("a ${NONE}", Unset(name("NONE"))),
        ("${env:NONE}", Unset(name("NONE"))),
        ("${TOKEN} ${NONE}", Unset(name("NONE"))),
        // Names of variables are case-sensitive.
        ("${token}", Unset(name("token"))),
        ("${input:github-token}", Input(name("github-token"))),
        ("${input:id:-x}", Input(name("id"))),
        ("${file:/etc/passwd}", Kind(name("file"))),
        ("${command:x.y}", Kind(name("command"))),
        ("${Env:TOKEN}", Kind(name("Env"))),
        ("${}", Unknown),
        ("${env:}", Kind(name("env"))),
        ("${ TOKEN }", Unknown),
        ("${dir%/}", Unknown),
        ("${p@ss:word}", Unknown),
        ("${TOKEN", Unclosed),
        ("${TOKEN} ${", Unclosed),
        ("${NONE:-${TOKEN}}", Nested(name("NONE"))),
        ("${TOKEN:-${NONE}}", Nested(name("TOKEN"))),
    ];
    for (text, error) in cases {
        assert_eq!(expand(text, &scope()), Err(error), "{text}");
    }
}

#[test]
fn errors_have_help() {
    let rendered = |text| {
        let error = expand(text, &scope()).expect_err(text);
        format!("{}: {error}; {}", error.code().name, error.help())
    };
    let cases = [
        "${NONE}",
        "${env:no(x86)}",
        "${input:github-token}",
        "${input:2fa}",
        "${file:x}",
        "${x y}",
        "${x",
        "${A:-${B}}",
    ];
    insta::assert_snapshot!(cases.map(rendered).join("\n"));
}

#[test]
fn a_missing_home_is_reported_as_an_unset_variable() {
    let scope = VariableScope { variables: &|_| None, workspace: Path::new("/") };
    let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    assert_eq!(expand("${userHome}", &scope), Err(ExpandError::Unset(home.to_owned())));
    assert_eq!(expand("${workspaceFolderBasename}", &scope).as_deref(), Ok(""));
}

#[test]
fn the_workspace_folder_is_that_of_the_servers_file() {
    for (file, folder) in [
        ("/p/.mcp.json", "/p"),
        ("/p/.vscode/mcp.json", "/p"),
        ("/p/.cursor/mcp.json", "/p"),
        ("/p/vscode/mcp.json", "/p/vscode"),
        ("/p/.vscode/x/mcp.json", "/p/.vscode/x"),
        ("mcp.json", ""),
        (".vscode/mcp.json", ""),
    ] {
        assert_eq!(workspace_of(Path::new(file)), Path::new(folder), "{file}");
    }
}
