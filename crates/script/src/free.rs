//! Names that the code uses and neither it nor the sandbox has.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use oxc_ast::AstKind;
use oxc_ast::ast::IdentifierReference;
use oxc_semantic::NodeId;

use crate::Free;
use crate::scene::Scene;
use crate::syntax::range;

/// The first use of every such name, less those that have been reported otherwise.
pub(crate) fn find(scene: &Scene, spoken_for: &BTreeSet<&str>) -> Vec<Free> {
    let mut first: BTreeMap<&str, Range<usize>> = BTreeMap::new();
    for node in scene.nodes() {
        let AstKind::IdentifierReference(identifier) = node.kind() else { continue };
        let name = identifier.name.as_str();
        let here = range(identifier.span);
        let is_first = first.get(name).is_none_or(|known| here.start < known.start);
        if is_first && !spoken_for.contains(name) && is_missing(scene, identifier, node.id()) {
            first.insert(name, here);
        }
    }
    let mut free: Vec<Free> =
        first.into_iter().map(|(name, range)| Free { name: name.to_owned(), range }).collect();
    free.sort_by_key(|free| free.range.start);
    free
}

fn is_missing(scene: &Scene, identifier: &IdentifierReference, node: NodeId) -> bool {
    let name = identifier.name.as_str();
    if scene.is_known(name) || !scene.is_free(identifier) || scene.is_probe(node) {
        return false;
    }
    let is_given = name == "arguments" && in_function(scene, node);
    !is_given && !in_with(scene, node)
}

fn in_function(scene: &Scene, node: NodeId) -> bool {
    scene.ancestors(node).any(|kind| matches!(kind, AstKind::Function(_)))
}

/// Inside `with`, any name may be a property of its object.
fn in_with(scene: &Scene, node: NodeId) -> bool {
    scene.ancestors(node).any(|kind| matches!(kind, AstKind::WithStatement(_)))
}
