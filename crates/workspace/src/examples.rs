//! Every example of every definition as a test case, with the expected outcome. Running the cases
//! needs the sandbox and is not done here.
//!
//! | format | an example is | a case checks |
//! |---|---|---|
//! | AIOS | a scenario | that the validators of its command accept or refuse the input |
//! | others | a call | that input and output match the schemas of the tool |

use std::collections::HashMap;

use toolwright_formats::Reading;
use toolwright_model::{Draft, Example, ExampleKind, InputSchema, Json};
use toolwright_source::RecordPath;

use crate::load::LoadResult;

/// One example, and what it must come to.
#[derive(Clone, Debug)]
pub struct ExampleCase {
    /// The number of its document among those that were loaded.
    pub document: usize,
    /// The name of the document.
    pub file: String,
    /// The line of the example, from 1.
    pub line: usize,
    /// The id of its tool.
    pub tool: String,
    /// What a call has to name: the id, and the version of a tool that has one.
    pub reference: String,
    /// What reports call it: scenario and description, or its number.
    pub name: String,
    /// The name of its tool within the toolset, by which validators are found.
    pub command: String,
    /// The example itself.
    pub example: Example,
    /// The outcome that the call must have.
    pub expectation: Expectation,
    /// An earlier file with a tool of the same id: a call would reach that tool instead.
    pub shadowed_by: Option<String>,
}

/// The outcome that an example promises, against which its call is compared.
#[derive(Clone, Debug)]
pub enum Expectation {
    /// Nothing: it stands under a name that is not a command of its toolset.
    NotACommand,
    /// The validators of its command must accept or refuse it (AIOS scenarios).
    Validators,
    /// Its input and output must match the schemas of its tool.
    Schemas {
        /// The input schema, if it is written.
        input: Option<Json>,
        /// The output schema, if there is one.
        output: Option<Json>,
    },
}

impl ExampleCase {
    /// Whether the id of the tool or the name of the example contains `part`, in any case.
    pub fn matches(&self, part: &str) -> bool {
        let part = part.to_lowercase();
        format!("{} {}", self.tool, self.name).to_lowercase().contains(&part)
    }
}

/// The examples of all documents, in order.
pub fn cases(load: &LoadResult) -> Vec<ExampleCase> {
    let readings =
        || load.documents.iter().enumerate().flat_map(|(n, it)| Some((n, it.reading.as_ref()?)));
    // The first document with an id is the one that calls reach, as in the catalog.
    let mut first_file: HashMap<String, &str> = HashMap::new();
    for (_, reading) in readings() {
        let drafts = reading.toolset.tools.iter();
        for draft in drafts {
            let Some(id) = reference(draft, reading) else { continue };
            first_file.entry(id).or_insert(reading.origin.document().source().name());
        }
    }
    let mut cases: Vec<ExampleCase> =
        readings().flat_map(|(n, reading)| CaseReader { document: n, reading }.cases()).collect();
    for case in &mut cases {
        // Two tools of one document with the same id are reported by DUPLICATE_ID; only other files
        // count here.
        let file = first_file.get(&case.reference).filter(|file| **file != case.file);
        case.shadowed_by = file.map(|file| (*file).to_owned());
    }
    cases
}

/// `namespace:name:version`, or the id of a tool without a version. Without a namespace a version
/// has no place in a reference.
fn reference(draft: &Draft, reading: &Reading) -> Option<String> {
    let id = draft.id(reading.toolset.namespace.ok())?;
    Some(match (&id.namespace, draft.version.ok()) {
        (Some(_), Some(version)) => format!("{id}:{}", version.release()),
        _ => id.to_string(),
    })
}

/// Makes the cases of one document.
struct CaseReader<'a> {
    document: usize,
    reading: &'a Reading,
}

impl CaseReader<'_> {
    /// The cases of all tools in order, then those under names that are not commands.
    fn cases(&self) -> Vec<ExampleCase> {
        let toolset = &self.reading.toolset;
        let mut cases = Vec::new();
        for (n, draft) in toolset.tools.iter().enumerate() {
            // Without a valid name there is nothing to call. The mistake is reported by `check`.
            let Some(id) = draft.id(toolset.namespace.ok()) else { continue };
            let id = id.to_string();
            let first = cases.len();
            // The id has the namespace in it, but validators name the bare command.
            let command = draft.name.ok().map(ToString::to_string).unwrap_or_default();
            let at = RecordPath::root().child("tools").child(n);
            for (m, example) in draft.details.examples.iter().enumerate() {
                let at = at.child("examples").child(m);
                let name = name_of(example, m);
                cases.push(self.case(&at, &id, name, &command, example, self.expectation(draft)));
            }
            for (m, input) in self.schema_examples(draft).iter().enumerate() {
                // Only an input: an example of a schema promises nothing about the result.
                let example = Example { input: Some(input.clone()), ..Example::default() };
                let at = at.child("inputSchema").child("examples").child(m);
                let name = format!("example {} of its schema", m + 1);
                cases.push(self.case(&at, &id, name, &command, &example, self.expectation(draft)));
            }
            for case in &mut cases[first..] {
                case.reference = reference(draft, self.reading).unwrap_or_default();
            }
        }
        cases.extend(self.stray_cases());
        cases
    }

    /// Examples under names that are not commands. They test nothing, and are shown as skipped.
    fn stray_cases(&self) -> Vec<ExampleCase> {
        let toolset = &self.reading.toolset;
        // Made by hand: the name is not that of a tool, so there is no id to format.
        let prefix = toolset.namespace.ok().map(|it| format!("{it}:")).unwrap_or_default();
        let mut cases = Vec::new();
        for (command, examples) in &toolset.stray_examples {
            let at = RecordPath::root().child("strayExamples").child(command);
            let tool = format!("{prefix}{command}");
            for (n, example) in examples.iter().enumerate() {
                let (name, at) = (name_of(example, n), at.child(n));
                cases.push(self.case(&at, &tool, name, command, example, Expectation::NotACommand));
            }
        }
        cases
    }

    /// One case at its line. `cases` fills in what is known only together with other documents.
    fn case(
        &self,
        at: &RecordPath,
        tool: &str,
        name: String,
        command: &str,
        example: &Example,
        expectation: Expectation,
    ) -> ExampleCase {
        let source = self.reading.origin.document().source();
        // The line of the example, so that a terminal or an editor can jump to a failed case.
        let byte = self.reading.origin.location(at).value.start as usize;
        ExampleCase {
            document: self.document,
            file: source.name().to_owned(),
            line: source.line_column(byte).line,
            tool: tool.to_owned(),
            reference: tool.to_owned(),
            name,
            command: command.to_owned(),
            example: example.clone(),
            expectation,
            shadowed_by: None,
        }
    }

    /// What an example of this tool promises, by the conventions of its format.
    fn expectation(&self, draft: &Draft) -> Expectation {
        match self.reading.toolset.conventions.examples {
            ExampleKind::Scenarios => Expectation::Validators,
            ExampleKind::Calls => {
                let input = draft.input.ok().and_then(InputSchema::written).cloned();
                Expectation::Schemas { input, output: draft.output.ok().cloned() }
            }
        }
    }

    /// The `examples` of an input schema, which is where MCP tools have them. Scenarios are not
    /// plain inputs, so a format that has them does not use these.
    fn schema_examples<'d>(&self, draft: &'d Draft) -> &'d [Json] {
        if self.reading.toolset.conventions.examples == ExampleKind::Scenarios {
            return &[];
        }
        let schema = draft.input.ok().and_then(InputSchema::written);
        // Indexing a JSON value that has no such key gives null, which is not an array.
        schema.and_then(|it| it["examples"].as_array()).map(Vec::as_slice).unwrap_or_default()
    }
}

fn name_of(example: &Example, n: usize) -> String {
    match (&example.scenario, &example.description) {
        // A scenario alone is the same for many commands, so the description is added.
        (Some(scenario), Some(description)) => format!("{scenario}: {}", description.trim()),
        (Some(only), None) | (None, Some(only)) => only.trim().to_owned(),
        (None, None) => format!("example {}", n + 1),
    }
}
