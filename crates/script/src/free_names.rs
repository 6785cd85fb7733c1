//! Names that the code uses although neither the code nor the sandbox has them.
//!
//! Such a use is a `ReferenceError` when it is reached, so a function with free names is probably
//! not self-contained: it was cut out of a file with imports, or expects Node. Left out are names
//! that cannot be judged (inside `with`) and those that are only probed with `typeof`.
//!
//! ```text
//! function f(args) { return _.upper(args.text); }                  `_` is free
//! function f(args) { if (typeof _ === "function") return 1; }      only probed
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use oxc_ast::AstKind;
use oxc_ast::ast::IdentifierReference;
use oxc_semantic::NodeId;

use crate::facts::shorten;
use crate::parse::range;
use crate::resolve::ResolvedTree;
use crate::{FreeName, MAX_LISTED};

/// The first use of every free name, in source order. `reported` are names that were reported as
/// forbidden calls already: one mistake is one finding.
pub(crate) fn find(tree: &ResolvedTree, reported: &BTreeSet<&str>) -> Vec<FreeName> {
    let mut first: BTreeMap<&str, Range<usize>> = BTreeMap::new();
    for node in tree.nodes() {
        let AstKind::IdentifierReference(identifier) = node.kind() else { continue };
        let name = identifier.name.as_str();
        let here = range(identifier.span);
        // The order of nodes is the parser's own, not promised to be that of the text.
        let is_first = first.get(name).is_none_or(|known| here.start < known.start);
        if is_first && !reported.contains(name) && is_missing(tree, identifier, node.id()) {
            first.insert(name, here);
        }
    }
    let mut first: Vec<(&str, Range<usize>)> = first.into_iter().collect();
    first.sort_by_key(|(_, range)| range.start);
    first.truncate(MAX_LISTED);
    first.into_iter().map(|(name, range)| FreeName { name: shorten(name), range }).collect()
}

/// Whether this use would throw a `ReferenceError`.
fn is_missing(tree: &ResolvedTree, identifier: &IdentifierReference, node: NodeId) -> bool {
    let name = identifier.name.as_str();
    if tree.is_provided(name) || !tree.is_undeclared(identifier) || tree.is_typeof_operand(node) {
        return false;
    }
    // Every function that is not an arrow function has `arguments` without declaring it.
    let is_arguments = name == "arguments" && is_in_function(tree, node);
    !is_arguments && !is_in_with(tree, node)
}

fn is_in_function(tree: &ResolvedTree, node: NodeId) -> bool {
    tree.ancestors(node).any(|kind| matches!(kind, AstKind::Function(_)))
}

/// Inside `with`, any name may be a property of its object.
fn is_in_with(tree: &ResolvedTree, node: NodeId) -> bool {
    tree.ancestors(node).any(|kind| matches!(kind, AstKind::WithStatement(_)))
}
