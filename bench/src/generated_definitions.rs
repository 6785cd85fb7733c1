//! Definitions in the four formats, generated from the project's examples: of the sizes and shapes
//! that people write, each with another name, so that none is a copy of another.

use toolwright_source::Syntax;

/// The content of one file.
pub(crate) struct GeneratedDefinition {
    pub(crate) syntax: Syntax,
    pub(crate) text: String,
}

/// Templates in JSON, each with the text that is replaced to give it another name.
const JSON: [(&str, &str); 5] = [
    (include_str!("../../examples/btcp/page-tools.json"), "page-tools"),
    (include_str!("../../examples/btcp/count-words.json"), "countWords"),
    (include_str!("../../examples/ikigai/convert-units.json"), "convert_units"),
    (include_str!("../../examples/mcp/clock.json"), "\"now\""),
    (include_str!("../../examples/mcp/read-file.json"), "read_file"),
];

/// Templates in YAML.
const YAML: [(&str, &str); 4] = [
    (include_str!("../../examples/aios/tickets.yaml"), "id: tickets"),
    (include_str!("../../examples/aios/git.yaml"), "id: git"),
    (include_str!("../../examples/aios/slugs.yaml"), "id: slugs"),
    (include_str!("../../examples/aios/triage.yaml"), "id: triage"),
];

/// `count` definitions, JSON and YAML in turn.
pub(crate) fn definitions(count: usize) -> Vec<GeneratedDefinition> {
    (0..count)
        .map(|n| {
            let (syntax, (template, name)) = if n % 2 == 0 {
                (Syntax::Json, JSON[n / 2 % JSON.len()])
            } else {
                (Syntax::Yaml, YAML[n / 2 % YAML.len()])
            };
            let renamed = match name.strip_suffix('"') {
                Some(open) => format!("{open}{n}\""),
                None => format!("{name}{n}"),
            };
            GeneratedDefinition { syntax, text: template.replacen(name, &renamed, 1) }
        })
        .collect()
}
