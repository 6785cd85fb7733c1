//! One pass over all texts of a document, for the three rules about poisoned text: `HIDDEN_TEXT`,
//! `MODEL_INSTRUCTION` and `SECRET_IN_DEFINITION`.
//!
//! The pass reads the document and not the record, because an attack may be in a field that no
//! format defines: a model that receives the definition reads that field all the same. Each text is
//! read once. YAML aliases and merge keys are not followed, because the text that they repeat is
//! read where it is written, and following them would multiply the work without a bound.
//!
//! Not here: what counts as hidden, as an instruction or as a secret. That is in `tool_poisoning`.
//!
//! ```text
//! text of a value │ HIDDEN_TEXT │ MODEL_INSTRUCTION │ SECRET_IN_DEFINITION
//! prose           │ yes         │ yes               │ yes
//! code            │ yes         │ no                │ no
//! address         │ yes         │ yes               │ no
//! key             │ yes         │ no                │ no
//! mcpServers      │ no          │ no                │ no
//! ```

use toolwright_source::{Member, Node, Syntax, ValueKind};

use super::model_instruction::InstructionReport;
use super::{hidden_text, model_instruction, secret_in_definition};
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::tool_poisoning;

pub(crate) static RULE: Rule = Rule {
    codes: &[
        &hidden_text::HIDDEN_TEXT,
        &model_instruction::MODEL_INSTRUCTION,
        &secret_in_definition::SECRET_IN_DEFINITION,
    ],
    check,
};

/// Walks the whole document, not the record: an attack may be in a field that no format defines.
/// `check_texts` in `lib.rs` calls it by itself, without the other rules.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let document = subject.document();
    let text = document.source().text();
    // JSON has no aliases, so a text that starts with `*` is a text there.
    let yaml = (document.syntax() == Syntax::Yaml).then_some(text);
    // One scan of the whole text decides whether each single text needs the search for hidden
    // characters. Most documents are plain ASCII without suspicious escapes.
    let may_hide_text = tool_poisoning::can_hide_text(text);
    let mut walk = TextWalk {
        aios: subject.has_typed_sections(),
        yaml,
        may_hide_text,
        instructions: InstructionReport::new(subject),
    };
    // Prose until a key says otherwise, so a text in an unexpected place is read by all rules.
    walk.value(document.root(), TextUse::Prose, None, out);
    walk.instructions.finish(out);
}

/// What a text is for, which decides the rules that read it. The key of the text determines it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextUse {
    /// Anything that a model may read. All rules apply.
    Prose,
    /// JavaScript of an AIOS function. It is not sent to a model itself, but the texts in it may
    /// be, as errors and results: these are searched for instructions.
    Code,
    /// The address of a schema. Such addresses may look as random as a key, so the search for
    /// secrets leaves them out.
    Address,
}

/// The state of the pass over one document.
struct TextWalk<'s, 'd> {
    /// Whether the document is an AIOS tool, which has functions and environment variables.
    aios: bool,
    /// The text of the document, if it is YAML and may have aliases.
    yaml: Option<&'d str>,
    /// Whether the document has any character that could hide text.
    may_hide_text: bool,
    instructions: InstructionReport<'s, 'd>,
}

impl TextWalk<'_, '_> {
    /// Reads a value and all values inside it. `label` is the name of the variable whose value this
    /// is, if the definition names one. The recursion is bounded: documents nest at most 128
    /// levels.
    fn value(&mut self, node: Node<'_>, text: TextUse, label: Option<&str>, out: &mut Report<'_>) {
        if self.is_alias(node) || out.is_full(&model_instruction::MODEL_INSTRUCTION) {
            return;
        }
        match node.kind() {
            ValueKind::String => self.check_text(node, text, label, out),
            ValueKind::List => {
                // A list under `$ref` or `function` is not what these keys hold, so its texts are
                // prose.
                node.items().for_each(|item| self.value(item, TextUse::Prose, None, out))
            }
            ValueKind::Map => {
                // Members that a merge key adds are left out. The report would drop repeated
                // findings, but a megabyte of text that is merged a thousand times would have to be
                // read a thousand times first.
                node.written_members().for_each(|entry| self.member(node, &entry, out));
            }
            ValueKind::Null | ValueKind::Bool | ValueKind::Number => {}
        }
    }

    /// Reads a key and its value, and determines what the value is for.
    ///
    /// Only at the root is `mcpServers` left out: an attacker could use the key to hide a text
    /// elsewhere.
    fn member(&mut self, owner: Node<'_>, entry: &Member<'_>, out: &mut Report<'_>) {
        // Configuration of servers, as clients keep it beside definitions. It is not sent to
        // models, and the environment of a server is the place where secrets belong.
        if entry.is("mcpServers") && owner.parent().is_none() {
            return;
        }
        if self.may_hide_text && !self.is_alias(entry.key) {
            hidden_text::check_key(entry, out);
        }
        let text = match entry.name() {
            "function" if self.aios && is_function(owner) => TextUse::Code,
            "$schema" | "$ref" | "$id" | "$dynamicRef" => TextUse::Address,
            _ => TextUse::Prose,
        };
        // `{name: API_KEY, value: …}` is an environment variable. Its name says whether a value
        // that looks harmless is a secret.
        let variable = self.aios && entry.is("value");
        let label = if variable { owner.get("name").and_then(Node::text) } else { None };
        self.value(entry.value, text, label, out);
    }

    /// Runs the rules that apply to a text.
    fn check_text(
        &mut self,
        node: Node<'_>,
        text: TextUse,
        label: Option<&str>,
        out: &mut Report<'_>,
    ) {
        // The decoded text, without quotes and escapes: `\u200b` in JSON is a hidden character.
        let words = node.raw();
        if self.may_hide_text {
            hidden_text::check_text(node, words, out);
        }
        match text {
            TextUse::Code => self.instructions.check_code(node, words, out),
            TextUse::Prose | TextUse::Address => self.instructions.check_text(node, words, out),
        }
        if text == TextUse::Prose {
            secret_in_definition::check_text(node, words, label, out);
        }
    }

    /// Whether the value is written as an alias, such as `*name`. The first character is enough:
    /// YAML does not allow a plain text to start with `*`. Always false for JSON, which has no
    /// aliases.
    fn is_alias(&self, node: Node<'_>) -> bool {
        let first = |text: &str| text.as_bytes().get(node.span().range().start).copied();
        self.yaml.and_then(first) == Some(b'*')
    }
}

/// Whether an object is a helper, processor or validator, by the section around it. Elsewhere a key
/// `function` is an ordinary key, and an attacker could use it to hide text from the rules.
/// `executable_knowledge` > list > function: two levels up.
fn is_function(owner: Node<'_>) -> bool {
    let section = owner.parent().and_then(Node::parent).and_then(Node::key);
    section.is_some_and(|key| key.raw() == "executable_knowledge")
}
