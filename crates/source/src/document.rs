//! A parsed file: its text, its tree, and the problems of the text.
//!
//! Every input becomes a [`Document`]. A broken text has an incomplete tree and problems; a text
//! that is too large or not UTF-8 has an empty tree and a single problem. So callers never branch
//! on whether parsing worked: they read what is there, and report the problems beside their own
//! findings.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use crate::json::JsonDialect;
use crate::tree::{NodeId, Tree, TreeBuilder};
use crate::{
    Diagnostic, DocumentPath, MAX_BYTES, Node, Source, Span, TextOrigin, codes, json, yaml,
};

/// Which language a text is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON by RFC 8259. Comments and trailing commas are reported, and then read as meant.
    Json,
    /// JSON in which comments and trailing commas are allowed, as in the settings of VS Code and
    /// Zed. Never guessed: the caller knows which program reads the file.
    Jsonc,
    /// YAML 1.2 with the core schema, the merge key of 1.1, and one document per file.
    Yaml,
}

impl Syntax {
    /// Guesses the language of a text without a file name. A text that opens like JSON is JSON,
    /// unless only YAML reads it without a syntax error (flow-style YAML opens like JSON, too).
    /// Anything else is YAML. Costs up to two parses; callers with a file name use its ending
    /// instead.
    pub fn sniff(bytes: &[u8]) -> Syntax {
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let first = text.iter().find(|b| !b.is_ascii_whitespace());
        if !matches!(first, Some(b'{' | b'[' | b'"')) {
            return Syntax::Yaml;
        }
        // Duplicate keys and limits say nothing about the language, so only syntax errors count.
        let is_clean = |syntax| {
            let doc = Document::parse("", bytes, syntax);
            !doc.problems().iter().any(|d| d.code == &codes::INVALID_SYNTAX)
        };
        if !is_clean(Syntax::Json) && is_clean(Syntax::Yaml) { Syntax::Yaml } else { Syntax::Json }
    }
}

/// What a parser returns: always a tree, however broken the text is.
#[derive(Debug)]
pub(crate) struct ParsedText {
    /// Complete in itself: every container is closed, every key has a value.
    pub(crate) tree: Tree,
    /// In the order they were found; [`Document::parse`] sorts them and adds their paths.
    pub(crate) problems: Vec<Diagnostic>,
    /// Whether reading stopped before the end of the text.
    pub(crate) incomplete: bool,
}

/// A parsed file. Immutable; an edited text becomes a new document. Readers share one behind an
/// `Arc`, together with the `Origin` of what they read.
#[derive(Debug)]
pub struct Document {
    source: Arc<Source>,
    syntax: Syntax,
    pub(crate) tree: Tree,
    problems: Vec<Diagnostic>,
    incomplete: bool,
    /// The slots that aliases repeat, collected on first use: only fixes need them.
    anchored: OnceLock<HashSet<NodeId>>,
}

impl Document {
    /// Decodes and parses the bytes of a file; `name` is what diagnostics call it. Never fails: see
    /// [`Document::problems`].
    pub fn parse(name: &str, bytes: impl Into<Vec<u8>>, syntax: Syntax) -> Document {
        Document::parse_from(name, TextOrigin::File, bytes, syntax)
    }

    /// [`Document::parse`] for a text that may have come from elsewhere than a file.
    pub fn parse_from(
        name: &str,
        origin: TextOrigin,
        bytes: impl Into<Vec<u8>>,
        syntax: Syntax,
    ) -> Document {
        let bytes = bytes.into();
        if bytes.len() > MAX_BYTES {
            return Document::too_large(name, origin, syntax);
        }
        let source = match Source::decode(name, bytes) {
            Ok(source) => Arc::new(source.with_origin(origin)),
            Err(error) => {
                // The valid part is kept, so that the diagnostic points behind the last character
                // that was readable.
                let source = Source::new(name, error.valid.clone()).with_origin(origin);
                let source = Arc::new(source);
                let end = source.text().len();
                let message =
                    format!("the file is not UTF-8: {} at byte {}", error.what, error.offset);
                let problem =
                    Diagnostic::at(&codes::INVALID_ENCODING, &source, Span::new(end, end), message)
                        .help("save the file as UTF-8");
                return Document::without_tree(source, syntax, problem);
            }
        };
        let mut parsed = match syntax {
            Syntax::Json => json::parse(&source, JsonDialect::Strict),
            Syntax::Jsonc => json::parse(&source, JsonDialect::Relaxed),
            Syntax::Yaml => yaml::parse(&source),
        };
        // The parsers reserve for a dense document. What a sparse one leaves unused goes back,
        // because `check` holds thousands of documents at once.
        parsed.tree.slots.shrink_to_fit();
        let mut doc = Document {
            source,
            syntax,
            tree: parsed.tree,
            problems: Vec::new(),
            incomplete: parsed.incomplete,
            anchored: OnceLock::new(),
        };
        // A problem's path is found from its byte, and that needs the finished tree. Parsers could
        // not name the path themselves: a mistake may stand before the value it belongs to.
        doc.problems = parsed.problems;
        doc.problems.sort_by_key(|p| p.span.map_or(0, |s| s.start));
        let places = doc.problems.iter().map(|p| p.span.map_or(0, |s| s.start));
        let paths: Vec<DocumentPath> = places.map(|byte| doc.at_byte(byte).pointer()).collect();
        doc.problems.iter_mut().zip(paths).for_each(|(problem, path)| problem.path = path);
        doc
    }

    /// The innermost value whose key or text covers `byte`; in a gap, the value around the gap.
    pub fn at_byte(&self, byte: u32) -> Node<'_> {
        // Slots are in the order of the text, so the last one that starts at or before `byte` is
        // the innermost candidate; if it ended before `byte`, one of its parents is the answer.
        let after = self.tree.slots.partition_point(|slot| slot.span.start <= byte);
        let id = after.saturating_sub(1).try_into().unwrap_or(0);
        let mut node = Node { doc: self, id }.value();
        while node.span().end < byte {
            let Some(parent) = node.parent() else { break };
            node = parent;
        }
        node
    }

    /// A document of more than [`MAX_BYTES`]. Its text is dropped, so the diagnostic has no
    /// excerpt.
    fn too_large(name: &str, origin: TextOrigin, syntax: Syntax) -> Document {
        let source = Arc::new(Source::new(name, String::new()).with_origin(origin));
        let message =
            format!("the file has more than {MAX_BYTES} bytes, the most a document may have");
        let problem = Diagnostic::at(&codes::TOO_LARGE, &source, Span::default(), message);
        Document::without_tree(source, syntax, problem)
    }

    /// A document whose text could not be parsed at all: its root is `null`.
    fn without_tree(source: Arc<Source>, syntax: Syntax, problem: Diagnostic) -> Document {
        let mut builder = TreeBuilder::default();
        builder.add_null(0);
        Document {
            source,
            syntax,
            tree: builder.tree,
            problems: vec![problem],
            incomplete: true,
            anchored: OnceLock::new(),
        }
    }

    /// The text it was parsed from.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The language it is in.
    pub fn syntax(&self) -> Syntax {
        self.syntax
    }

    /// The whole document; `null` if there is nothing in it.
    pub fn root(&self) -> Node<'_> {
        Node { doc: self, id: 0 }
    }

    /// What is wrong with the text itself, in the order of the text.
    pub fn problems(&self) -> &[Diagnostic] {
        &self.problems
    }

    /// Whether reading stopped inside `node`. A member that seems to be missing in such a node may
    /// stand further down in the text, so readers do not report it as missing.
    pub fn is_unfinished(&self, node: Node<'_>) -> bool {
        // The parser was inside the last slot and everything around it when it stopped.
        let last = self.tree.slots.len().saturating_sub(1) as u32;
        let mut around = self.incomplete.then_some(Node { doc: self, id: last });
        while let Some(inner) = around {
            if inner.id == node.id {
                return true;
            }
            around = inner.parent();
        }
        false
    }

    /// Whether an alias repeats `node` or a container around it, so that editing it changes other
    /// places of the document as well.
    pub(crate) fn is_shared(&self, node: Node<'_>) -> bool {
        let anchored = self.anchored.get_or_init(|| self.tree.aliased().collect());
        let mut around = (!anchored.is_empty()).then(|| node.resolved());
        while let Some(inner) = around {
            if anchored.contains(&inner.id) {
                return true;
            }
            around = inner.parent();
        }
        false
    }

    /// Where comments stand, in order, with their `#`, `//` or `/*`.
    pub fn comments(&self) -> &[Span] {
        &self.tree.comments
    }
}
