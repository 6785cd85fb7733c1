//! One walk over all texts of a document for the rules about poisoned text. Each text is met once:
//! aliases and merge keys are not followed, because what they repeat is met where it stands.

use toolwright_source::{Member, Node, Syntax, ValueKind};

use super::{hidden_text, model_instruction, secret_in_definition};
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::tool_poisoning::{self, InstructionDetector};

pub(crate) static RULE: Rule = Rule { check };

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let document = subject.origin.document();
    let text = document.source().text();
    let yaml = (document.syntax() == Syntax::Yaml).then_some(text);
    let hides = tool_poisoning::can_hide_text(text);
    let mut walk = TextWalk {
        aios: subject.is_format("aios"),
        yaml,
        hides,
        instructions: InstructionDetector::default(),
    };
    walk.value(document.root(), TextUse::Prose, None, out);
}

/// What a text is, by the key that leads to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextUse {
    Prose,
    /// JavaScript has rules of its own, and its strings are no words to a model.
    Code,
    /// The address of a schema, which may look as random as a secret.
    Address,
}

struct TextWalk<'d> {
    aios: bool,
    /// The text, if it can have aliases.
    yaml: Option<&'d str>,
    /// Whether anything can be hidden in the document.
    hides: bool,
    instructions: InstructionDetector,
}

impl TextWalk<'_> {
    /// Recursion ends where the nesting of documents does. `label` is what the text is the value
    /// of.
    fn value(&mut self, node: Node<'_>, text: TextUse, label: Option<&str>, out: &mut Report<'_>) {
        if self.is_alias(node) || out.is_full() {
            return;
        }
        match node.kind() {
            ValueKind::String => self.look(node, text, label, out),
            ValueKind::List => {
                node.items().for_each(|item| self.value(item, TextUse::Prose, None, out))
            }
            ValueKind::Map => {
                // What is told twice would be noticed later, but a megabyte that is merged a
                // thousand times would have to be read first.
                node.written_members().for_each(|entry| self.member(node, &entry, out));
            }
            ValueKind::Null | ValueKind::Bool | ValueKind::Number => {}
        }
    }

    fn member(&mut self, owner: Node<'_>, entry: &Member<'_>, out: &mut Report<'_>) {
        // Servers to start, as other clients keep them: their environment is their own business.
        if entry.is("mcpServers") && owner.parent().is_none() {
            return;
        }
        if self.hides && !self.is_alias(entry.key) {
            hidden_text::look_at_key(entry, out);
        }
        let text = match entry.name() {
            "function" if self.aios && is_function(owner) => TextUse::Code,
            "$schema" | "$ref" | "$id" | "$dynamicRef" => TextUse::Address,
            _ => TextUse::Prose,
        };
        // `{name: API_KEY, value: …}`: a variable of the environment.
        let variable = self.aios && entry.is("value");
        let label = if variable { owner.get("name").and_then(Node::text) } else { None };
        self.value(entry.value, text, label, out);
    }

    fn look(&mut self, node: Node<'_>, text: TextUse, label: Option<&str>, out: &mut Report<'_>) {
        let words = node.raw();
        if self.hides {
            hidden_text::look(node, words, out);
        }
        if text != TextUse::Code {
            model_instruction::look(node, words, &mut self.instructions, out);
        }
        if text == TextUse::Prose {
            secret_in_definition::look(node, words, label, out);
        }
    }

    /// No plain text of YAML begins with `*`.
    fn is_alias(&self, node: Node<'_>) -> bool {
        let first = |text: &str| text.as_bytes().get(node.span().range().start).copied();
        self.yaml.and_then(first) == Some(b'*')
    }
}

/// Whether this is a helper, processor or validator: elsewhere `function` is a word like any other.
fn is_function(owner: Node<'_>) -> bool {
    let section = owner.parent().and_then(Node::parent).and_then(Node::key);
    section.is_some_and(|key| key.raw() == "executable_knowledge")
}
