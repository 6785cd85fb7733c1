//! Names that the target holds. A name that it does not hold, and a namespace that it has no place
//! for, give way to a name that stands for the id; the table of a conversion turns it back.
//!
//! ```text
//! ids           notes:add      files:add
//! BTCP, AIOS    add            add          in a document for each namespace
//! OpenAI        notes__add     files__add   (`exposed_names`)
//! ```
//!
//! Names are chosen for all tools of a request together, in an order that does not depend on that
//! of the tools: the same set of tools gets the same names every time.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use toolwright_formats::WriteTarget;
use toolwright_model::{FieldValue, Json, Namespace, Tool, ToolName, Toolset, Version};

use super::loss::{LossEffect, LossList};
use crate::ExposedNames;

/// The id of a tool, and the version that it declares.
pub(crate) type VersionedId<'t> = (Cow<'t, str>, Option<&'t Version>);

/// The ids of tools as `call` takes them: `a:b:1.0.0` for a tool that has several versions.
pub(crate) fn with_versions(tools: Vec<VersionedId<'_>>) -> Vec<String> {
    let versions = versions_of_repeated(&tools);
    let several: HashSet<String> = versions.keys().map(|id| (*id).to_owned()).collect();
    let id = |(id, version): VersionedId<'_>| match version {
        Some(version) if several.contains(&*id) => format!("{id}:{}", version.release()),
        _ => id.into_owned(),
    };
    tools.into_iter().map(id).collect()
}

/// The versions of each id that occurs more than once.
fn versions_of_repeated<'t>(tools: &'t [VersionedId<'_>]) -> HashMap<&'t str, Vec<&'t Version>> {
    let mut seen = HashSet::with_capacity(tools.len());
    let repeated: HashSet<&str> =
        tools.iter().map(|(id, _)| &**id).filter(|id| !seen.insert(*id)).collect();
    let mut versions: HashMap<&str, Vec<&Version>> = HashMap::new();
    for (id, version) in tools.iter().filter(|(id, _)| repeated.contains(&**id)) {
        versions.entry(id).or_default().extend(version);
    }
    versions
}

/// The ids of all tools as `call` takes them, in order.
pub(super) fn ids(toolsets: &[Toolset<Tool>]) -> Vec<String> {
    let ids = toolsets.iter().flat_map(|toolset| {
        let namespace = toolset.namespace.ok();
        toolset.tools.iter().map(move |tool| (id_text(tool, namespace), tool.version.as_ref()))
    });
    with_versions(ids.collect())
}

/// The id of a tool in a toolset of this namespace. Without one it is the name.
fn id_text<'t>(tool: &'t Tool, namespace: Option<&Namespace>) -> Cow<'t, str> {
    match tool.namespace.is_some() || namespace.is_some() {
        true => tool.id(namespace).to_string().into(),
        false => tool.name.as_str().into(),
    }
}

/// Gives every tool a name that the target holds, and that no other tool of these sets has.
///
/// A target with a place for the namespace keeps plain names where all tools share it. In all
/// others the namespace becomes a part of each name.
pub(super) fn choose_names(toolsets: &mut [Toolset<Tool>], target: WriteTarget) {
    if target.holds_namespace() {
        toolsets.iter_mut().for_each(|toolset| lift_namespace(toolset, target));
    }
    // Names of MCP may repeat in different namespaces, and are names already.
    if target == WriteTarget::Mcp {
        return;
    }
    let ids = toolsets.iter().flat_map(|toolset| {
        let own = toolset.namespace.ok();
        toolset.tools.iter().map(move |tool| {
            // A manifest has one namespace for all tools.
            let is_own = tool.namespace.as_ref().is_none_or(|other| Some(other) == own);
            let id = match target.holds_namespace() && is_own {
                true => tool.name.as_str().into(),
                false => id_text(tool, own),
            };
            (id, tool.version.as_ref())
        })
    });
    let ids: Vec<VersionedId<'_>> = ids.collect();
    let mut names = names_for(&ids, target).into_iter();
    for toolset in toolsets {
        for (tool, name) in toolset.tools.iter_mut().zip(&mut names) {
            // The shapes are parts of what a name may be, so this never fails.
            if let Ok(name) = ToolName::parse(&name) {
                tool.name = name;
            }
            tool.namespace = None;
        }
        if !target.holds_namespace() {
            toolset.namespace = FieldValue::Missing;
        }
    }
}

/// The names of ids in a target. Where two ids get the same name the one that sorts first keeps it,
/// so that the names do not depend on the order of the tools. Of several versions the newest has
/// the name of the id, and the others names of the id with their version.
///
/// Also used by `vendor_calls`, which has to find the same names again without a conversion.
pub(crate) fn names_for(tools: &[VersionedId<'_>], target: WriteTarget) -> Vec<String> {
    let versions = versions_of_repeated(tools);
    let ids: Vec<Cow<'_, str>> = tools.iter().map(|tool| told_apart(tool, &versions)).collect();
    let mut sorted: Vec<usize> = (0..ids.len()).collect();
    sorted.sort_by_key(|n| &ids[*n]);
    let in_order = sorted.iter().map(|n| &*ids[*n]);
    let (_, given) = ExposedNames::of_shape(in_order, &target.names());
    let mut names = vec![String::new(); ids.len()];
    for (n, name) in sorted.into_iter().zip(given) {
        names[n] = name;
    }
    names
}

/// The id of a tool, with the version of one that has a newer one.
fn told_apart<'t>(
    (id, version): &'t VersionedId<'_>,
    versions: &HashMap<&str, Vec<&Version>>,
) -> Cow<'t, str> {
    let others = versions.get(&**id).map(Vec::as_slice).unwrap_or_default();
    match version {
        Some(own) if others.iter().any(|other| other.precedence(own).is_gt()) => {
            format!("{id}:{}", own.release()).into()
        }
        _ => Cow::Borrowed(&**id),
    }
}

/// Makes the only namespace of the tools that of the toolset, which has none.
///
/// Tools of MCP state their namespaces themselves; a manifest has one for all of them.
fn lift_namespace(toolset: &mut Toolset<Tool>, target: WriteTarget) {
    let namespaces: HashSet<Option<&str>> =
        toolset.tools.iter().map(|tool| tool.namespace.as_ref().map(Namespace::as_str)).collect();
    let is_alone = namespaces.len() == 1 && toolset.namespace.ok().is_none();
    if target != WriteTarget::Mcp
        && is_alone
        && let Some(namespace) = toolset.tools.first().and_then(|tool| tool.namespace.clone())
    {
        toolset.namespace = FieldValue::Valid(namespace);
        toolset.tools.iter_mut().for_each(|tool| tool.namespace = None);
    }
}

/// Adds a loss if the toolset has another namespace now, or none.
pub(super) fn compare_namespaces(
    source: &Toolset<Tool>,
    back: &Toolset<Tool>,
    target: WriteTarget,
    losses: &mut LossList<'_>,
) {
    let Some(before) = source.namespace.ok() else { return };
    // MCP has it with each tool.
    if target == WriteTarget::Mcp || back.namespace.ok() == Some(before) {
        return;
    }
    let reason = match back.namespace.ok() {
        Some(after) => format!("the target has the name `{after}`"),
        None => "it is a part of the names of the tools".to_owned(),
    };
    losses.add(None, "/namespace", "namespace", LossEffect::Renamed, reason);
    let after = back.namespace.ok().map(|after| Json::from(after.as_str()));
    losses.set_values(Json::from(before.as_str()), after);
}

/// Adds a loss if the tool has another id now.
///
/// A vendor's model calls the new name, and the table of the conversion turns it back. For other
/// formats the new name is what it is called from now on.
pub(super) fn compare_names(
    tool: &Tool,
    source: &Toolset<Tool>,
    own: &Tool,
    back: &Toolset<Tool>,
    n: usize,
    losses: &mut LossList<'_>,
) {
    let before = tool.id(source.namespace.ok()).to_string();
    let after = own.id(back.namespace.ok()).to_string();
    if before != after {
        // Only calls of vendors' models are turned back.
        let restored = match losses.target().vendor() {
            Some(_) => format!("; `toolwright call --as {}` restores it", losses.target().id()),
            None => String::new(),
        };
        let reason = format!("the target has the name `{after}`{restored}");
        losses.add(Some(n), "/name", "name", LossEffect::Renamed, reason);
        losses.set_values(Json::from(before), Some(Json::from(after)));
    }
}
