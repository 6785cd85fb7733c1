//! Choices: `oneOf` as `anyOf`, keywords beside a choice moved into its branches, and the steps of
//! branches.
//!
//! ```text
//! {"oneOf": [A, B]}                          ─▶  {"anyOf": [A, B]}
//! {"anyOf": [{"const": "a"}, {"const": 1}]}  ─▶  {"enum": ["a", 1]}
//! {"required": ["x"], "anyOf": [A, B]}       ─▶  {"anyOf": [A and x required, B and x required]}
//! ```
//!
//! `oneOf` refuses a value that matches two branches. Without such a value, `anyOf` means the same,
//! so most of this file decides whether two schemas are certainly disjoint: by type, by listed
//! values, and for objects by a property that both require (a tag such as `kind`) or that one
//! requires and the other forbids. "Not certainly" is the safe answer: the rewrite is then reported
//! as wider, although it may be exact. Comparing looks only a few levels deep, since every pair of
//! branches is compared.
//!
//! Branches may have different restoring steps. Then a `Choose` step tries the written schemas of
//! the branches on the call, and the same test tells whether it can choose the wrong one.

use std::rc::Rc;

use serde_json::{Value, json};

use super::facts;
use super::full::NodeContext;
use super::merge::{both, listed_values, merge};
use super::normalize_node::{NormalNode, is_normal};
use super::source_tree::{
    BOTH, NodeContent, NodeKeyword, NodeKeywords, SchemaNode, Shared, SourceTree,
};
use super::types::TypeSet;
use super::words::add_words;
use super::{ChangeAction, ChangeList, ChangeReport, FullStyle, Rewriter, TooLarge, standard_form};
use crate::Dialect;
use crate::restore::{RestoreAction, RestoreBranch, RestoreStep, same_json};

/// The most branches that are compared with each other.
///
/// Comparing is quadratic; a longer choice counts as one whose branches may overlap.
const MAX_COMPARED: usize = 64;

/// The most branches of a choice inside a branch that are compared: the pairs multiply.
const MAX_INNER_BRANCHES: usize = 8;

/// The most values of a choice that become one list.
const MAX_JOINED_VALUES: usize = 500;

/// How deep required properties are compared.
const COMPARED_DEPTH: usize = 4;

/// The branches of a choice that a value can match.
pub(super) enum Branches<'t> {
    /// One of them matches everything.
    Trivial,
    /// The branches that are left, in their order. None of them: nothing matches.
    Some(Vec<SchemaNode<'t>>),
}

impl<'t> Rewriter<'t> {
    /// Turns `oneOf` into `anyOf`, which is exact if no value matches two branches.
    ///
    /// Each branch is merged with its siblings first: what tells two branches apart may be in a
    /// property that only the schema around them describes. If `anyOf` is there already, every pair
    /// of branches becomes a branch (`merge`).
    pub(super) fn one_of_to_any_of(&mut self, keywords: &mut NodeKeywords<'t>) {
        let Some(one_of) = keywords.take("oneOf") else { return };
        let NodeContent::List(branches) = one_of.content else { return };
        let are_disjoint = || {
            let siblings = keywords.clone();
            let views: Vec<NodeKeywords<'t>> = branches
                .iter()
                .map(|branch| {
                    let view = self.view(branch);
                    merge(NodeKeywords::clone(&view), &siblings)
                        .keywords
                        .unwrap_or(siblings.clone())
                })
                .collect();
            views.iter().enumerate().all(|(index, one)| {
                views[..index].iter().all(|other| {
                    self.are_disjoint(one, other, 0) || self.choices_are_disjoint(one, other)
                })
            })
        };
        let is_exact =
            have_disjoint_types(&branches) || branches.len() <= MAX_COMPARED && are_disjoint();
        if is_exact {
            let reason = "no value matches two branches, so `anyOf` means the same";
            self.record(one_of.place, "oneOf", ChangeAction::Rewritten, reason);
        } else {
            let words = "matches exactly one of the alternatives";
            add_words(keywords, words);
            let (action, words) = (ChangeAction::Widened, Some(words.to_owned()));
            let reason = "the target has `anyOf` only, which lets a value match several branches";
            self.record_words(one_of.place, "oneOf", action, reason, words);
        }
        match keywords.has("anyOf") {
            // Both choices have to match.
            true => {
                let mut choice = NodeKeywords::new(keywords.place);
                choice.set("anyOf", NodeContent::List(branches));
                let merged = merge(keywords.clone(), &choice);
                if let (Some(result), true) = (merged.keywords, merged.conflicts.is_empty()) {
                    *keywords = result;
                } else {
                    let reason = "two choices with many branches cannot be merged";
                    self.record(one_of.place, "oneOf", ChangeAction::Widened, reason);
                }
            }
            false => keywords.set("anyOf", NodeContent::List(branches)),
        }
    }

    /// The keywords of a node; of its definition if it is a reference with nothing beside it.
    ///
    /// Follows eight references at most, which also ends at a definition that is a reference to
    /// itself; the result is then a node without keywords, which is disjoint from nothing.
    fn view<'n>(&self, node: &SchemaNode<'n>) -> Rc<NodeKeywords<'n>>
    where
        't: 'n,
    {
        let mut node = node;
        for _ in 0..8 {
            let SchemaNode::Keywords(keywords) = node else { break };
            let is_alone = keywords.iter().all(|one| !one.is_assertion() || &*one.name == "$ref");
            match keywords.get("$ref").map(|keyword| &keyword.content) {
                Some(NodeContent::Reference(Some(index))) if is_alone => {
                    node = &self.tree.definitions[*index].node;
                }
                _ => return keywords.clone(),
            }
        }
        Rc::new(NodeKeywords::new(node.place()))
    }

    /// Whether certainly no value matches both, by a choice that is nested in one of them: every
    /// branch of the one is disjoint from every branch of the other. A schema without a choice
    /// counts as its only branch.
    ///
    /// A choice of more than `MAX_INNER_BRANCHES` branches is not looked into.
    fn choices_are_disjoint(&self, first: &NodeKeywords<'t>, second: &NodeKeywords<'t>) -> bool {
        let alternatives = |keywords: &NodeKeywords<'t>| {
            let mut choices = ["oneOf", "anyOf"].iter().map(|name| keywords.nodes(name));
            let choice = choices.find(|nodes| (1..=MAX_INNER_BRANCHES).contains(&nodes.len()));
            choice.map(|nodes| nodes.iter().map(|node| self.view(node)).collect::<Vec<_>>())
        };
        let (one, other) = (alternatives(first), alternatives(second));
        if one.is_none() && other.is_none() {
            return false;
        }
        let one = one.unwrap_or_else(|| vec![Rc::new(first.clone())]);
        let other = other.unwrap_or_else(|| vec![Rc::new(second.clone())]);
        one.iter().all(|one| other.iter().all(|other| self.are_disjoint(one, other, 0)))
    }

    /// Whether certainly no value matches both. `false` if that is not evident.
    ///
    /// Compares `type`, then `enum` and `const`; two schemas for objects alone are compared by
    /// their properties. References at the top have to be resolved by the caller (`view`).
    pub(super) fn are_disjoint<'n>(
        &self,
        first: &NodeKeywords<'n>,
        second: &NodeKeywords<'n>,
        depth: usize,
    ) -> bool
    where
        't: 'n,
    {
        let types = TypeSet::of(first).both(TypeSet::of(second));
        if types.is_empty() {
            return true;
        }
        match (listed_values(first), listed_values(second)) {
            (Some(one), Some(other)) => {
                let found = |value: &Value| other.iter().any(|other| same_json(other, value));
                if one.len().saturating_mul(other.len()) < 10_000 && !one.iter().any(found) {
                    return true;
                }
            }
            (Some(one), None) | (None, Some(one)) => {
                if one.iter().all(|value| !types.has(TypeSet::of_value(value))) {
                    return true;
                }
            }
            (None, None) => {}
        }
        let only_objects = types.without(TypeSet::OBJECT).is_empty();
        only_objects
            && depth < COMPARED_DEPTH
            && (self.objects_are_disjoint(first, second, depth)
                || requires_unknown(first, second)
                || requires_unknown(second, first))
    }

    /// Whether both require a property whose schemas are disjoint, such as `kind: {"const": "a"}`
    /// and `kind: {"const": "b"}`.
    ///
    /// A property that a schema requires and does not describe is no evidence: its values are
    /// unknown.
    fn objects_are_disjoint<'n>(
        &self,
        first: &NodeKeywords<'n>,
        second: &NodeKeywords<'n>,
        depth: usize,
    ) -> bool
    where
        't: 'n,
    {
        let (own, other) = (first.named("properties"), second.named("properties"));
        let required = second.required();
        first.required().iter().take(MAX_COMPARED).filter(|name| required.contains(name)).any(
            |name| {
                let find = |named: &[(Shared<'n, str>, SchemaNode<'n>)]| {
                    let found = named.iter().find(|(own, _)| **own == **name);
                    found.map_or(Vec::new(), |(_, node)| self.conjuncts(node, depth))
                };
                let (one, other) = (find(&own), find(&other));
                one.iter()
                    .any(|one| other.iter().any(|other| self.are_disjoint(one, other, depth + 1)))
            },
        )
    }

    /// The node, and the schemas in it that have to match as well. A property that both a branch
    /// and the schema around it describe has one of each.
    ///
    /// Two schemas are disjoint as soon as one conjunct of the first and one of the second are.
    fn conjuncts<'n>(&self, node: &SchemaNode<'n>, depth: usize) -> Vec<Rc<NodeKeywords<'n>>>
    where
        't: 'n,
    {
        let own = self.view(node);
        let mut found = Vec::new();
        for part in ["allOf", BOTH].iter().flat_map(|name| own.nodes(name).to_vec()) {
            if depth < COMPARED_DEPTH && found.len() < MAX_COMPARED {
                found.extend(self.conjuncts(&part, depth + 1));
            }
        }
        found.push(own);
        found
    }

    /// Turns a choice between listed values into one list. Branches that describe their values stay
    /// apart, because a list has no place for that.
    ///
    /// Only `const`, `enum` and `type` may be in the branches, and at least two of them must list
    /// values.
    ///
    /// `{"type": "null"}` counts as the list of `null`. A value that the `type` of its own branch
    /// excludes is left out, and a value in several branches is listed once.
    pub(super) fn choice_to_values(&mut self, keywords: &mut NodeKeywords<'t>) {
        if keywords.has("enum") || keywords.has("const") {
            return;
        }
        let branches = keywords.nodes("anyOf");
        let mut values: Vec<Value> = Vec::new();
        for branch in branches.iter() {
            let Some(own) = branch.keywords() else { return };
            let is_list = |one: &NodeKeyword<'t>| matches!(&*one.name, "const" | "enum" | "type");
            let types = TypeSet::of(own);
            let listed = match listed_values(own) {
                None if types == TypeSet::NULL => vec![Value::Null],
                None => return,
                Some(listed) => listed,
            };
            if !own.iter().all(is_list) {
                return;
            }
            values.extend(listed.into_iter().filter(|value| types.has(TypeSet::of_value(value))));
        }
        let is_list = |branch: &&SchemaNode<'t>| branch.keywords().is_some_and(has_listed_values);
        if branches.iter().filter(is_list).count() < 2 || values.len() > MAX_JOINED_VALUES {
            return;
        }
        let mut distinct: Vec<Value> = Vec::new();
        for value in values {
            if !distinct.iter().any(|other| same_json(other, &value)) {
                distinct.push(value);
            }
        }
        let reason = "a choice between listed values is one list";
        let own = branches.iter().filter_map(SchemaNode::keywords).flatten();
        for keyword in own {
            self.record(keyword.place, &keyword.name, ChangeAction::Rewritten, reason);
        }
        self.record(keywords.place_of("anyOf"), "anyOf", ChangeAction::Rewritten, reason);
        // In the place of the choice, so that the order of keywords stays.
        keywords.replace("anyOf", "enum", NodeContent::Data(Value::Array(distinct).into()));
    }

    /// Moves what is beside `anyOf` into its branches. Only annotations stay.
    ///
    /// Exact: a value has to match what is beside `anyOf` and one of the branches, so it may as
    /// well match both in one branch.
    ///
    /// `{"anyOf": [A, B], "required": ["x"]}` becomes `{"anyOf": [both(A, R), both(B, R)]}`, where
    /// `R` is `{"required": ["x"]}`. `both` only refers to the two parts, so nothing is copied.
    pub(super) fn push_into_branches(&mut self, keywords: &mut NodeKeywords<'t>) {
        let is_moved = |one: &NodeKeyword<'t>| &*one.name != "anyOf" && one.is_assertion();
        let moved = keywords.iter().filter(|one| is_moved(one)).cloned();
        let (unevaluated, moved): (Vec<_>, Vec<_>) = moved.partition(is_about_unevaluated);
        if unevaluated.is_empty() && moved.is_empty() {
            return;
        }
        let reason = "the target wants nothing beside `anyOf`; it is moved into the branches";
        self.record(keywords.place_of("anyOf"), "anyOf", ChangeAction::Rewritten, reason);
        keywords.retain(|one| !is_moved(one));
        let place = keywords.place;
        let branches = keywords.nodes("anyOf");
        if !unevaluated.is_empty() && !self.exclude_each_other(&branches) {
            let is_open = self.refuses(&facts::ADDITIONAL_PROPERTIES_FALSE);
            let is_kept =
                |one: &&NodeKeyword<'t>| !is_open || &*one.name != "unevaluatedProperties";
            for keyword in unevaluated.iter().filter(is_kept) {
                let reason = "a value that matches several branches has to be one of a single one";
                self.record(keyword.place, &keyword.name, ChangeAction::Narrowed, reason);
            }
        }
        let siblings = match moved.is_empty() {
            true => SchemaNode::All(place),
            false => NodeKeywords::of(place, moved).into_node(),
        };
        let pushed = branches.iter().map(|branch| {
            let pushed = both(branch, &siblings);
            if unevaluated.is_empty() {
                return pushed;
            }
            // Beside the branch and not in it, so that they see what it names.
            let mut around = NodeKeywords::of(place, unevaluated.iter().cloned());
            around.set(BOTH, NodeContent::List([pushed].into()));
            around.into_node()
        });
        keywords.set("anyOf", NodeContent::List(pushed.collect()));
    }

    /// Whether certainly no value matches two of the branches.
    fn exclude_each_other(&self, branches: &[SchemaNode<'t>]) -> bool {
        let views: Vec<Rc<NodeKeywords<'t>>> =
            branches.iter().take(MAX_COMPARED).map(|branch| self.view(branch)).collect();
        let are_disjoint =
            |one: usize| views[..one].iter().all(|other| self.are_disjoint(&views[one], other, 0));
        have_disjoint_types(branches)
            || branches.len() <= MAX_COMPARED && (0..views.len()).all(are_disjoint)
    }

    /// The branches that a value can match.
    ///
    /// A branch that only contains a choice is possible if one of that choice's branches is.
    ///
    /// Branches are normalized here only to look at them; what is returned is as in the source, and
    /// is normalized again when it is written.
    pub(super) fn possible_branches(
        &mut self,
        branches: &[SchemaNode<'t>],
        style: FullStyle,
    ) -> Result<Branches<'t>, TooLarge> {
        let mut possible = Vec::new();
        for branch in branches {
            // Most branches are a type and what is demanded of it.
            let demands_something = |own: &NodeKeywords<'t>| {
                is_normal(own) && !own.has("anyOf") && own.iter().any(NodeKeyword::is_assertion)
            };
            if branch.keywords().is_some_and(demands_something)
                || self.is_kept_reference(branch, style)
            {
                possible.push(branch.clone());
                continue;
            }
            match self.normalize(branch, &mut Vec::new())? {
                NormalNode::All => return Ok(Branches::Trivial),
                NormalNode::Nothing => {
                    let reason = "no value matches this branch";
                    self.record(branch.place(), "anyOf", ChangeAction::Rewritten, reason);
                }
                NormalNode::Keywords(keywords) => {
                    let only_choice =
                        keywords.iter().all(|one| &*one.name == "anyOf" || !one.is_assertion());
                    let inside = keywords.nodes("anyOf");
                    if only_choice && inside.is_empty() {
                        return Ok(Branches::Trivial);
                    }
                    if only_choice {
                        match self.possible_branches(&inside, style)? {
                            Branches::Trivial => return Ok(Branches::Trivial),
                            Branches::Some(none) if none.is_empty() => continue,
                            Branches::Some(_) => {}
                        }
                    }
                    possible.push(branch.clone());
                }
            }
        }
        Ok(Branches::Some(possible))
    }

    /// Writes the branches of `anyOf`, with a step that chooses between those that have steps.
    ///
    /// Each branch is a scope of its own. A nullable schema is the common choice, and needs no
    /// `Choose`: if one branch has steps and all others are `null`, the steps become steps of the
    /// node, since they leave `null` as it is.
    pub(super) fn write_branches(
        &mut self,
        branches: &[SchemaNode<'t>],
        context: NodeContext,
    ) -> Result<Vec<Value>, TooLarge> {
        let mut written = Vec::new();
        let mut steps: Vec<Vec<RestoreStep>> = Vec::new();
        for branch in branches {
            let inside = context.below();
            let (schema, own) = self.in_scope(|rewriter| rewriter.write(branch, inside))?;
            written.push(schema);
            steps.push(own);
        }
        if steps.iter().all(Vec::is_empty) {
            return Ok(written);
        }
        let is_null = |schema: &Value| *schema == json!({ "type": "null" });
        let with_steps: Vec<usize> = (0..steps.len()).filter(|n| !steps[*n].is_empty()).collect();
        let others_are_null = (0..steps.len()).all(|n| with_steps == [n] || is_null(&written[n]));
        if let ([index], true) = (with_steps.as_slice(), others_are_null) {
            // Steps leave `null` alone.
            for step in std::mem::take(&mut steps[*index]) {
                let at = self.call_path().into_iter().chain(step.at).collect();
                self.steps.push(RestoreStep { at, action: step.action });
            }
            return Ok(written);
        }
        let standard: Vec<Value> =
            written.iter().map(|schema| standard_form(self.target, schema)).collect();
        self.report_ambiguity(branches, &standard, &steps);
        let branches = standard.into_iter().zip(steps);
        let branches = branches.map(|(schema, steps)| RestoreBranch { schema, steps }).collect();
        self.push_step(RestoreAction::Choose { branches });
        Ok(written)
    }

    /// A call is restored by the steps of the branch that accepts it. If branches with different
    /// steps accept the same value, the wrong steps may be used.
    ///
    /// Two branches are told apart only if they are disjoint both in the source and as they are
    /// written. The written form matters because branches that send values as texts may then accept
    /// the same text.
    ///
    /// Only a report: the step is the same. Two branches with equal steps need no decision.
    fn report_ambiguity(
        &mut self,
        branches: &[SchemaNode<'t>],
        written: &[Value],
        steps: &[Vec<RestoreStep>],
    ) {
        // Nothing of what follows is written, so that nothing of it is a change.
        let (report, inexact) = (self.changes.report, self.changes.inexact);
        self.changes.report = ChangeReport::Unwanted;
        // Annotations beside a choice were moved into its branches, which are merged here.
        let views: Vec<Rc<NodeKeywords<'t>>> = branches
            .iter()
            .map(|branch| match self.normalize(branch, &mut Vec::new()) {
                Ok(NormalNode::Keywords(keywords)) => Rc::new(keywords),
                _ => self.view(branch),
            })
            .collect();
        (self.changes.report, self.changes.inexact) = (report, inexact);
        // As texts, values of different types may look the same.
        let target_views: Vec<_> = written
            .iter()
            .zip(&views)
            .map(|(schema, view)| {
                let mut changes = ChangeList::new(self.target, ChangeReport::Unwanted);
                let tree = SourceTree::read(schema, Dialect::Draft202012, &mut changes);
                let root = tree.ok().filter(|_| schema.get("$ref").is_none()).map(|tree| tree.root);
                root.map_or_else(|| view.clone(), |root| self.view(&root))
            })
            .collect();
        let overlap = |one: usize, other: usize| {
            let are_disjoint =
                |views: &[Rc<NodeKeywords<'_>>]| self.are_disjoint(&views[one], &views[other], 0);
            steps[one] != steps[other] && !(are_disjoint(&views) && are_disjoint(&target_views))
        };
        let count = views.len();
        let is_ambiguous =
            count > MAX_COMPARED || (0..count).any(|one| (0..one).any(|other| overlap(one, other)));
        if let (true, Some(first)) = (is_ambiguous, branches.first()) {
            let reason = "the branches overlap, so a call may be restored as one of another branch";
            self.record(first.place(), "anyOf", ChangeAction::Approximated, reason);
        }
    }
}

/// Whether a keyword is about what the others around it, and inside of them, do not name.
fn is_about_unevaluated(keyword: &NodeKeyword<'_>) -> bool {
    matches!(&*keyword.name, "unevaluatedProperties" | "unevaluatedItems")
}

/// Whether no type is in the `type` of two branches, the usual reason why no value matches both.
fn have_disjoint_types(branches: &[SchemaNode<'_>]) -> bool {
    let mut seen = TypeSet::NONE;
    branches.iter().all(|branch| {
        let types = branch.keywords().map_or(TypeSet::ALL, TypeSet::of);
        let is_new = !seen.has_any(types);
        seen = seen.or(types);
        is_new
    })
}

/// Whether the author listed values, with either keyword.
fn has_listed_values(keywords: &NodeKeywords<'_>) -> bool {
    keywords.has("const") || keywords.has("enum")
}

/// Whether `first` requires a property that `second` does not allow.
///
/// With the same schema twice, this tells whether an object requires more than it allows.
///
/// `additionalProperties: false` without patterns is the only way to forbid a name that is looked
/// for here.
pub(super) fn requires_unknown<'t>(first: &NodeKeywords<'t>, second: &NodeKeywords<'t>) -> bool {
    let is_closed = matches!(second.one("additionalProperties"), Some(SchemaNode::Nothing(_)))
        && !second.names_any("patternProperties");
    if !is_closed {
        return false;
    }
    let named = second.named("properties");
    let mut required = first.required().into_iter().take(MAX_COMPARED);
    required.any(|name| !named.iter().any(|(own, _)| **own == *name))
}
