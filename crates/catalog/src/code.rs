//! The code of definitions, ready for the runner: the functions in AIOS files and the bodies of
//! BTCP tools beside their manifests. Places in code are shown as places of the file it stands in.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright_exec::Entry;
use toolwright_exec::knowledge::{Code, Knowledge, Role, Show};
use toolwright_formats::Reading;
use toolwright_model::{Binding, ToolName};
use toolwright_source::{Document, Pointer};

/// Bytes of a body; what is larger is no body of a tool.
const MAX_BODY: u64 = 1 << 20;

/// What a definition knows, if it knows anything that could work.
pub fn knowledge(reading: &Reading) -> Option<Knowledge> {
    let place = |role: Role, n: usize| {
        let list = match role {
            Role::Helper => "helpers",
            Role::Processor => "processors",
            Role::Validator => "validators",
            Role::Body => return None,
        };
        let at = Pointer::root().child("knowledge").child(list).child(n).child("function");
        let at = reading.origin.value(&at)?.pointer();
        Some(in_document(Arc::clone(reading.origin.document()), at))
    };
    Knowledge::new(reading.toolset.knowledge.clone(), place)
}

/// Shows places of a text that stands somewhere in a document.
fn in_document(document: Arc<Document>, at: Pointer) -> Show {
    Arc::new(move |place| {
        let name = document.source().name();
        let byte = document
            .root()
            .find(&at)
            .map(|node| node.byte_at(place.byte_offset(node.text().unwrap_or_default())));
        match byte.map(|byte| document.source().line_column(byte)) {
            Some(place) => format!("{name}:{}:{}", place.line, place.column),
            None => name.to_owned(),
        }
    })
}

/// Where the body of a tool may be.
pub(crate) fn body_path(name: &ToolName, folder: &Path) -> PathBuf {
    folder.join(format!("{name}.js"))
}

/// Gives a tool its body, if it wants one and it is there. Returns where it was looked for.
pub(crate) fn embody(entry: &mut Entry, folder: &Path) -> Option<PathBuf> {
    if entry.tool.details.binding != Binding::Script {
        return None;
    }
    let path = body_path(&entry.tool.name, folder);
    let file = path.display().to_string();
    let body = read_body(&path).map_err(|why| format!("`{file}` {why}").into());
    let show: Show = Arc::new(move |place| format!("{file}:{}:{}", place.line, place.column));
    entry.body =
        body.map(|source| Arc::new(Code::body(entry.tool.name.to_string(), source, Some(show))));
    Some(path)
}

/// The text of a body; else what is wrong with the file.
fn read_body(path: &Path) -> Result<String, String> {
    // Asked before it is opened: opening a pipe waits for whoever writes to it.
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err("does not exist".to_owned());
        }
        Err(error) => return Err(format!("cannot be read: {}", crate::files::plain(&error))),
        Ok(file) if !file.is_file() => return Err("is no file".to_owned()),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(MAX_BODY + 1).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot be read: {}", crate::files::plain(&error)))?;
    if bytes.len() as u64 > MAX_BODY {
        return Err(format!("is larger than {} KiB", MAX_BODY >> 10));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        format!("is not UTF-8 (byte {} is wrong)", error.utf8_error().valid_up_to())
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
