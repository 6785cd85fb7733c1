//! The JavaScript of definitions, prepared for the runner. There are two kinds:
//!
//! - functions in AIOS files (helpers, processors, validators), which stand as text inside YAML;
//! - bodies of BTCP tools, each in a file `<tool name>.js` beside its manifest or in the folder
//!   that the configuration names as `implementations`.
//!
//! The sandbox counts lines from the start of the code. Authors need lines of the file, so each
//! function gets a [`LocationFormatter`] that translates. Nothing is parsed or run here: rules
//! about code are in `toolwright_check`, execution is in `toolwright_exec::knowledge`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright_exec::RegisteredTool;
use toolwright_exec::knowledge::{
    FileLocation, FunctionRole, KnowledgeFunction, LocationFormatter, RunnableKnowledge, ShareId,
};
use toolwright_formats::Reading;
use toolwright_model::{Binding, ContentHash, ToolName};
use toolwright_source::{Document, DocumentPath, RecordPath};
use toolwright_workspace::code_files::CodeFile;
use toolwright_workspace::content_hash;

/// The largest body in bytes. Bounds the memory that a wrong file behind the name can take.
const MAX_BODY: u64 = 1 << 20;

/// The functions and notes of an AIOS definition that affect a call; `None` if there are none, as
/// in all other formats.
pub fn knowledge(reading: &Reading) -> Option<RunnableKnowledge> {
    let place = |role: FunctionRole, n: usize| {
        let list = match role {
            FunctionRole::Helper => "helpers",
            FunctionRole::Processor => "processors",
            FunctionRole::Validator => "validators",
            FunctionRole::Body => return None,
        };
        let at = RecordPath::root().child("knowledge").child(list).child(n).child("function");
        let at = reading.origin.value(&at)?.pointer();
        Some(in_document(Arc::clone(reading.origin.document()), at))
    };
    let names = reading.toolset.tools.iter().filter_map(|tool| tool.name.ok());
    let commands = names.map(ToString::to_string).collect();
    RunnableKnowledge::new(reading.toolset.knowledge.clone(), commands, place)
}

/// Translates positions in a text value of a document, such as a YAML block, into positions of the
/// file. `byte_at` accounts for indentation and escapes.
fn in_document(document: Arc<Document>, at: DocumentPath) -> LocationFormatter {
    Arc::new(move |place| {
        let name = document.source().name();
        let byte = document
            .root()
            .find(&at)
            .map(|node| node.byte_at(place.byte_offset(node.text().unwrap_or_default())));
        let place = byte.map(|byte| document.source().line_column(byte));
        let line_column = place.map(|place| (place.line, place.column));
        FileLocation { file: name.to_owned(), line_column }
    })
}

/// The file of a tool's body. The name cannot leave the folder: a tool name has no separators.
pub(crate) fn body_path(name: &ToolName, folder: &Path) -> PathBuf {
    folder.join(format!("{name}.js"))
}

/// Reads the body of a BTCP tool; tools with another binding are left alone. A body that is missing
/// or unreadable becomes the reason why a call fails. All bodies of a toolset are in one `share` of
/// the sandbox. `code` are the files of the tool as they were hashed.
pub(crate) fn attach_body(
    entry: &mut RegisteredTool,
    folder: &Path,
    share: ShareId,
    code: &[CodeFile],
) {
    if entry.tool.details.binding != Binding::Script {
        return;
    }
    let path = body_path(&entry.tool.name, folder);
    let file = path.display().to_string();
    let hashed = code.first().map(|file| &file.hash);
    let body = read_body(&path, hashed).map_err(|why| format!("`{file}` {why}").into());
    let formatter: LocationFormatter = Arc::new(move |place| FileLocation {
        file: file.clone(),
        line_column: Some((place.line as usize, place.column as usize)),
    });
    let name = entry.tool.name.to_string();
    entry.body =
        body.map(|source| Arc::new(KnowledgeFunction::body(name, source, share, Some(formatter))));
}

/// The text of a body. What runs must be what was hashed: a link may lead to another file now.
///
/// # Errors
/// What is wrong with the file, as the end of a sentence that starts with its name.
fn read_body(path: &Path, hashed: Option<&ContentHash>) -> Result<String, String> {
    // Before it is opened: opening a named pipe blocks until another process opens its other end.
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err("does not exist".to_owned());
        }
        Err(error) => {
            return Err(format!("cannot be read: {}", toolwright_workspace::io_reason(&error)));
        }
        Ok(file) if !file.is_file() => return Err("is not a file".to_owned()),
        Ok(_) => {}
    }
    // Limited while reading, not by the size above: the file may grow in between.
    let mut bytes = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(MAX_BODY + 1).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot be read: {}", toolwright_workspace::io_reason(&error)))?;
    if bytes.len() as u64 > MAX_BODY {
        return Err(format!("is larger than {} KiB", MAX_BODY >> 10));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        format!("is not UTF-8 (byte {} is wrong)", error.utf8_error().valid_up_to())
    })?;
    if hashed.is_some_and(|hashed| content_hash::hash(&text) != *hashed) {
        return Err("has just changed".to_owned());
    }
    // Some editors write a byte order mark. It is not part of the code, and positions in the code
    // are counted without it.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_the_file_that_was_hashed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("print.js");
        let text = "\u{feff}export default () => 1;";
        std::fs::write(&path, text).expect("a file");
        let hash = content_hash::hash(text);
        assert_eq!(read_body(&path, Some(&hash)).as_deref(), Ok("export default () => 1;"));
        std::fs::write(&path, "export default () => 2;").expect("a file");
        assert_eq!(read_body(&path, Some(&hash)), Err("has just changed".to_owned()));
    }
}
