//! Reads what a running server lists. The reader of a finding cannot edit the server, so a mistake
//! that is an error in a document excludes a tool here only if the tool cannot be used.
//!
//! | finding | severity |
//! |---|---|
//! | a tool has no name | error: there is nothing to call it by |
//! | a schema cannot be used | error: the tool is listed, and calls are refused |
//! | a mistake of a schema has an evident meaning | warning: the schema is used with that meaning |
//! | more tools than are read | error: the others are lost |
//! | `null` for an optional field or a keyword | note: serialisers write it for "none" |
//! | everything else that is an error in a document | warning |
//!
//! Nothing is lost by this: warnings and notes have the code, the place and the message of the
//! error.
//!
//! | the server says | the record has |
//! |---|---|
//! | a name that MCP does not allow | a name that stands for it; the server's own is kept |
//! | a namespace | none, and the server's is kept: see [`use_claimed_namespace`] |
//! | a name twice, in different namespaces | for all but one a name that stands for both |
//! | `null` for a schema or a version | none |
//!
//! What is kept is in the `Rest` of the tool under its own pointer, and so in `show --json`.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolwright_model::{Conventions, Draft, FieldValue, Json, Namespace, Rest, ToolName};
use toolwright_source::codes::{
    DUPLICATE_ID, EXTERNAL_REF, INVALID_SCHEMA, TOO_LARGE, UNSUPPORTED_DIALECT,
};
use toolwright_source::{Document, Finding, Node, RecordPath, Severity, ValueKind};

use crate::codes::{INVALID_TYPE, MISSING_REQUIRED_FIELD};
use crate::{Reading, mcp};

/// The pointers under which [`read_live`] keeps what a server says.
const NAME: &str = "/name";
const NAMESPACE: &str = "/namespace";

/// Reads the answer of a server to `tools/list`.
pub fn read_live(document: &Arc<Document>) -> Reading {
    let mut reading = crate::read(document, mcp::ID);
    // What MCP demands beyond the shape of fields is a demand on authors, too.
    reading.toolset.conventions = &Conventions::NONE;
    for n in 0..reading.toolset.tools.len() {
        use_stand_in_name(&mut reading, n);
        let tool = &mut reading.toolset.tools[n];
        leave_out_null(&mut tool.input);
        leave_out_null(&mut tool.output);
        leave_out_null(&mut tool.version);
        match std::mem::take(&mut tool.namespace) {
            FieldValue::Missing => {}
            FieldValue::Invalid(claimed) => tool.details.rest.keep(mcp::ID, NAMESPACE, claimed),
            FieldValue::Valid(claimed) => {
                tool.details.rest.keep(mcp::ID, NAMESPACE, claimed.as_str().into());
            }
        }
    }
    separate_namespaces(&mut reading);
    reading
}

/// Gives names of their own to tools that have the same name in different namespaces. The namespace
/// is not part of the id, so without this all but one of them would be lost.
///
/// One keeps the name: that without a namespace, otherwise that of the first namespace in the order
/// of the alphabet. The order of the list does not count, because a server may change it, and an id
/// must not stand for another tool then.
fn separate_namespaces(reading: &mut Reading) {
    let mut by_name: BTreeMap<ToolName, BTreeMap<Option<String>, Vec<usize>>> = BTreeMap::new();
    for (n, tool) in reading.toolset.tools.iter().enumerate() {
        let Some(name) = tool.name.ok() else { continue };
        let namespace = claimed_namespace(&tool.details.rest).map(|it| it.to_string());
        by_name.entry(name.clone()).or_default().entry(namespace).or_default().push(n);
    }
    for (name, namespaces) in by_name {
        for (namespace, tools) in namespaces.into_iter().skip(1) {
            let namespace = namespace.unwrap_or_default();
            let Some(own) = ToolName::stand_in_for(&format!("{namespace}:{name}")) else {
                continue;
            };
            for n in tools {
                let at = RecordPath::root().child("tools").child(n).child("name");
                let message = format!("another tool of the server is called `{name}`, too");
                let help = format!(
                    "it is listed, served and called as `{own}`; a request to the server names \
                     `{name}` alone, so the server decides which of them runs"
                );
                let place = reading.origin.document_path(&at);
                reading.findings.push(Finding::new(&DUPLICATE_ID, place, message).help(help));
                let tool = &mut reading.toolset.tools[n];
                if name_on_server(&tool.details.rest).is_none() {
                    tool.details.rest.keep(mcp::ID, NAME, name.as_str().into());
                }
                tool.name = FieldValue::Valid(own.clone());
            }
        }
    }
}

/// The name by which a server knows a tool that [`read_live`] read, if that is not the tool's name.
pub fn name_on_server(rest: &Rest) -> Option<&str> {
    rest.get(mcp::ID, NAME).and_then(Json::as_str)
}

/// The namespace that a server gives to a tool that [`read_live`] read. It is not part of the id:
/// servers of one configuration could take each other's names.
pub fn claimed_namespace(rest: &Rest) -> Option<Namespace> {
    Namespace::parse(rest.get(mcp::ID, NAMESPACE)?.as_str()?).ok()
}

/// Makes the namespace that a server gives to a tool a part of its id, as in a document. For a
/// server to which nobody gave a name.
pub fn use_claimed_namespace(draft: &mut Draft) {
    if let Some(namespace) = claimed_namespace(&draft.details.rest) {
        draft.details.rest.take(mcp::ID, NAMESPACE);
        draft.namespace = FieldValue::Valid(namespace);
        // The namespace tells it from the others of the same name.
        let own = name_on_server(&draft.details.rest).and_then(|own| ToolName::parse(own).ok());
        if let Some(own) = own {
            draft.details.rest.take(mcp::ID, NAME);
            draft.name = FieldValue::Valid(own);
        }
    }
}

/// The severity that a finding has at most in what a server lists: the table above.
pub fn severity(finding: &Finding, document: &Document) -> Severity {
    let node = document.root().find(&finding.at);
    let is_null = node.is_some_and(|node| node.kind() == ValueKind::Null);
    let is_about =
        |fields: &[&str]| finding.at.last().is_some_and(|field| fields.contains(&&*field));
    let is_schema_error =
        [&INVALID_SCHEMA, &UNSUPPORTED_DIALECT, &EXTERNAL_REF].contains(&finding.code);
    let has_wrong_type = finding.code == &INVALID_TYPE;
    match () {
        // Marked as tolerable: the field is optional, or a keyword of a schema.
        () if is_null && finding.tolerable => Severity::Info,
        () if finding.tolerable => Severity::Warning,
        // Without a schema the tool takes any arguments.
        () if is_null && is_about(&["inputSchema"]) => Severity::Warning,
        () if is_schema_error || finding.code == &TOO_LARGE => Severity::Error,
        () if has_wrong_type && is_about(&["inputSchema", "outputSchema"]) => Severity::Error,
        () if has_wrong_type && is_about(&["name"]) => Severity::Error,
        () if finding.code == &MISSING_REQUIRED_FIELD && is_about(&["name"]) => Severity::Error,
        () => Severity::Warning,
    }
}

fn leave_out_null<T>(field: &mut FieldValue<T>) {
    if matches!(field, FieldValue::Invalid(Json::Null)) {
        *field = FieldValue::Missing;
    }
}

/// Gives tool `n` a name that can be part of an id, if its own cannot.
fn use_stand_in_name(reading: &mut Reading, n: usize) {
    if !reading.toolset.tools[n].name.is_invalid() {
        return;
    }
    let at = RecordPath::root().child("tools").child(n).child("name");
    // From the document, because the record shows a number as text, too.
    let own = reading.origin.value(&at).and_then(Node::text).map(str::to_owned);
    let Some(own) = own else { return };
    let Some(name) = ToolName::stand_in_for(&own) else { return };
    let place = reading.origin.document_path(&at);
    for finding in reading.findings.iter_mut().filter(|finding| finding.at == place) {
        finding.help.push(format!("it is listed, served and called as `{name}`"));
    }
    let tool = &mut reading.toolset.tools[n];
    tool.details.rest.keep(mcp::ID, NAME, own.into());
    tool.name = FieldValue::Valid(name);
}
