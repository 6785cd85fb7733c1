//! Members of the page's objects that a tool's body uses although the façade has none of them, such
//! as `document.write`. What an element lacks cannot be seen here: only running the code tells
//! which expressions are elements.

use oxc_ast::AstKind;

use crate::facts::shorten;
use crate::page_globals::is_lacking;
use crate::parse::range;
use crate::resolve::ResolvedTree;
use crate::{FreeName, MAX_LISTED};

/// The uses in source order, as `document.write`. Only globals that the caller provides count.
pub(crate) fn find(tree: &ResolvedTree<'_, '_>) -> Vec<FreeName> {
    let mut found = Vec::new();
    for node in tree.nodes() {
        let AstKind::StaticMemberExpression(member) = node.kind() else { continue };
        let name = member.property.name.as_str();
        // Also behind `window.`.
        let Some(object) = tree.global_name(&member.object) else { continue };
        let is_probed = tree.is_typeof_operand(node.id());
        if tree.is_provided_by_caller(object) && is_lacking(object, name) && !is_probed {
            let name = shorten(&format!("{object}.{name}"));
            found.push(FreeName { name, range: range(member.span) });
        }
    }
    found.sort_by_key(|it| it.range.start);
    found.truncate(MAX_LISTED);
    found
}
