//! What one of several edits of a schema contributes to the difference of the whole.
//!
//! An edit that is made alone may have an effect that another edit takes back: `const` that becomes
//! `enum` is a removed keyword, which widens, and an added one, which narrows, and nothing changed.
//! So a value counts only if the edit alone *and* all edits together judge it alike:
//!
//! ```text
//! value ─┬─ first ──────────── refuses ─┐
//!        ├─ first, edited once ─ accepts ├─▶ this edit widens
//!        └─ last ───────────── accepts ─┘
//! ```
//!
//! If no such value is found, edits around the place are taken together: the keywords of the
//! schema there, then all of the schema there, then everything. There a value counts only if the
//! last schema would judge it otherwise with this one edit taken back (`edited_part`): it is not
//! the value of another edit nearby.

use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::{Map, Value};

use super::edit_direction::EditDirection;
use super::{
    EditedPart, Judge, SchemaComparison, UpgradedPair, Verdict, compare_compiled,
    compare_restored_compiled, depth_of_both, judge_by_canonical_form, with_stack, witness,
};
use crate::measure::values_in;
use crate::restore::{CallRestorer, RestoreStep, same_json};
use crate::{Dialect, Schema};

/// The most values of schemas that are compared for all edits of one schema: some seconds. Real
/// schemas take a fiftieth of it.
const MAX_WORK: usize = 1_000_000;

/// A schema and what several edits made of it.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::EditedSchema;
///
/// let old = json!({ "const": "a" });
/// let new = json!({ "enum": ["a"] });
/// let edited = EditedSchema::new(&old, &new, &[]);
/// // Removing `const` alone would widen the schema, but `enum` takes its place.
/// assert!(edited.effect_of("/const", Some(&json!({})), true).is_equal());
/// ```
///
/// Used by `convert`, which reports each edit with its effect. The whole comparison is made once,
/// and only if an edit needs it.
pub struct EditedSchema<'a> {
    /// The schema before all edits.
    first: &'a Value,
    /// The schema after all edits.
    last: &'a Value,
    /// Empty if calls of `last` have the form of `first`.
    steps: &'a [RestoreStep],
    /// Runs `steps` in both directions, with one budget for all edits.
    restorer: CallRestorer<'a>,
    /// `first` and `last`, compiled. `None` if one does not compile or nests too deep; then no
    /// effect is shown.
    compiled: Option<(Schema, Schema)>,
    /// What all edits together do, on first use.
    whole: OnceLock<SchemaComparison>,
    /// Values of both schemas.
    size: usize,
    /// Values of schemas that may still be compared, edit by edit.
    work_left: AtomicUsize,
}

impl<'a> EditedSchema<'a> {
    /// `steps` restore calls of the last schema, if they have another form than those of the first.
    pub fn new(first: &'a Value, last: &'a Value, steps: &'a [RestoreStep]) -> EditedSchema<'a> {
        let compiled = depth_of_both(first, last)
            .and_then(|_| Some((Schema::compile(first).ok()?, Schema::compile(last).ok()?)));
        EditedSchema {
            first,
            last,
            steps,
            restorer: CallRestorer::new(steps),
            compiled,
            whole: OnceLock::new(),
            size: values_in(first) + values_in(last),
            work_left: AtomicUsize::new(MAX_WORK),
        }
    }

    /// What all edits together do.
    pub fn whole(&self) -> &SchemaComparison {
        self.whole.get_or_init(|| {
            let compared = self.compiled.as_ref().and_then(|compiled| {
                let depth = depth_of_both(self.first, self.last)?;
                with_stack(depth, || match self.steps {
                    [] if self.first == self.last => Some(equal()),
                    [] => Some(compare_compiled(self.first, self.last, compiled)),
                    steps => compare_restored_compiled(self.first, self.last, compiled, steps),
                })
            });
            compared.flatten().unwrap_or_else(not_shown)
        })
    }

    /// What one edit at the pointer `at` does. `alone` is the first schema with this edit alone, if
    /// that can be made. `only_widens` states that the edit adds no rule.
    ///
    /// Tries in this order, and takes the first answer with a witness:
    ///
    /// 1. the edit alone, by values that the last schema judges the same way;
    /// 2. the share that the edited part has in such a value (`EditedPart`);
    /// 3. all edits of the keywords around the place, then all edits of the schema around it;
    /// 4. all edits: the share of the part in them, or all of them if the place is at the root.
    ///
    /// ```text
    ///    values from                      a value counts if                      answers with
    /// 1  first and `alone`                last judges it as `alone` does         equal, a witness
    /// –  first and last                                                          equal
    /// 2  first and `alone`                first and last differ, `part` agrees   a witness
    /// 3  first with keywords of last,     last judges it as the copy does,       equal, a witness
    ///    then with the schema of last     `part` agrees
    /// 4  first and last                   as in 2                                anything
    /// ```
    ///
    /// Each step takes in more edits than the one before, so a value may be due to another edit.
    /// That is why `part` is asked from the second step on. Without a part, the last step answers
    /// for the whole, but only if there is no smaller place. Everything is "not shown" if a schema
    /// does not compile, or if the budget for all edits is used up.
    pub fn effect_of(
        &self,
        at: &str,
        alone: Option<&Value>,
        only_widens: bool,
    ) -> SchemaComparison {
        let Some((_, last)) = &self.compiled else { return not_shown() };
        // Each edit is compared with the whole: thousands of them in a large schema take minutes.
        let left = |left: usize| left.checked_sub(self.size);
        if self.work_left.fetch_update(Relaxed, Relaxed, left).is_err() {
            return not_shown();
        }
        let last =
            LastForm { schema: last, restorer: &self.restorer, has_steps: !self.steps.is_empty() };
        let direction = alone.and_then(|alone| EditDirection::of(self.first, alone, at));
        // What such an edit cannot do is the doing of others.
        let possible = if only_widens { Some(EditDirection::OnlyWidens) } else { direction };
        let found = alone.and_then(|alone| self.within_whole(alone, &last, None, direction));
        if let Some(found) = found {
            let mut effect = found.effect;
            if effect.is_equal() {
                return effect;
            }
            if has_witness(&effect) {
                // What the edit does alone in the other direction may be undone by others.
                let whole = found.is_undone.then(|| self.whole());
                let directions = [
                    (&mut effect.wider, whole.map(|whole| &whole.wider)),
                    (&mut effect.narrower, whole.map(|whole| &whole.narrower)),
                ];
                for (direction, whole) in directions {
                    if *direction == Verdict::NotShown && whole == Some(&Verdict::No) {
                        *direction = Verdict::No;
                    }
                }
                return effect;
            }
        }
        if self.whole().is_equal() {
            return self.whole().clone();
        }
        let part = EditedPart::new(self.first, at, possible);
        let part = part.as_ref();
        if let (Some(part), Some(_)) = (part, alone)
            && let Some(found) = self.share_of(part, alone, &last)
            && has_witness(&found)
        {
            return found;
        }
        // From here on, edits nearby are taken together with this one.
        let place = property_around(at);
        for around in [self.with_keywords_of_last(place), self.with_schema_of_last(place)] {
            let found = around.and_then(|around| self.within_whole(&around, &last, part, None));
            let Some(found) = found else { continue };
            if has_witness(&found.effect) || found.effect.is_equal() {
                return found.effect;
            }
        }
        // Everything is the place of what is at the root, and of what has another place now.
        let is_elsewhere = place.is_empty() || self.last.pointer(place).is_none();
        match part {
            Some(part) => self.share_of(part, None, &last).unwrap_or_else(not_shown),
            None if is_elsewhere || self.has_other_form() => self.whole().clone(),
            None => not_shown(),
        }
    }

    /// What the edit of a part contributes to the difference of the whole. Values at the edges of
    /// the edit are judged, or without it those at the edges of all edits.
    ///
    /// The judge has no second schema here: a value is judged by the first and the last one, and
    /// `part` decides whether it belongs to the edit.
    ///
    /// A direction that the whole does not have is answered with `No`, without a witness.
    fn share_of(
        &self,
        part: &EditedPart,
        alone: Option<&Value>,
        last: &LastForm<'_>,
    ) -> Option<SchemaComparison> {
        let (first, _) = self.compiled.as_ref()?;
        let depth = depth_of_both(self.first, alone.unwrap_or(self.last))?;
        let whole = alone.is_none().then(|| self.whole());
        let found = with_stack(depth.max(depth_of_both(self.last, self.last)?), || {
            let mut judge = Judge {
                second: None,
                last: Some(last),
                part: Some(part),
                ..Judge::new(first, first)
            };
            match (alone, whole) {
                (Some(alone), _) => {
                    let pair = UpgradedPair::new(self.first, alone)?;
                    witness::search(&pair.first, &pair.second, &mut judge);
                }
                (None, Some(whole)) => {
                    // Calls that show a difference of the whole are tried before the search.
                    let known = [whole.wider.witness(), whole.narrower.witness()];
                    let mut known = known.into_iter().flatten();
                    if known.try_for_each(|call| judge.judge(call.clone())).is_continue() {
                        self.search_between(&mut judge);
                    }
                }
                (None, None) => {}
            }
            self.note_costs(&judge);
            Some(judge.into_comparison())
        });
        let mut found = found.flatten()?;
        if let Some(whole) = whole {
            let directions =
                [(&mut found.wider, &whole.wider), (&mut found.narrower, &whole.narrower)];
            for (direction, whole) in directions {
                if *whole == Verdict::No {
                    *direction = Verdict::No;
                }
            }
        }
        Some(found)
    }

    /// Compares the first schema with a copy of it, by values that the last schema judges as the
    /// copy does. `direction` is the only one that is possible, if that is known.
    ///
    /// `edited` is the first schema with this edit, or with all edits around its place. An edit
    /// that is undone by others is searched for once more with values between the first and the
    /// last schema: they may show what the others leave of it. `None` if a schema nests too deep or
    /// does not compile.
    fn within_whole(
        &self,
        edited: &Value,
        last: &LastForm<'_>,
        part: Option<&EditedPart>,
        direction: Option<EditDirection>,
    ) -> Option<EffectWithin> {
        if edited == self.first {
            return Some(EffectWithin { effect: equal(), is_undone: false });
        }
        let depth = depth_of_both(self.first, edited)?.max(depth_of_both(self.last, edited)?);
        let (first, _) = self.compiled.as_ref()?;
        let found = with_stack(depth, || {
            let compiled = Schema::compile(edited).ok()?;
            let pair = UpgradedPair::new(self.first, edited)?;
            let mut judge = Judge { last: Some(last), part, ..Judge::new(first, &compiled) };
            match direction {
                Some(EditDirection::OnlyWidens) => judge.narrower = Verdict::No,
                Some(EditDirection::OnlyNarrows) => judge.wider = Verdict::No,
                None => {}
            }
            witness::search(&pair.first, &pair.second, &mut judge);
            if judge.is_undone() {
                self.search_between(&mut judge);
            }
            if !judge.is_decided() {
                judge_by_canonical_form(&pair, &mut judge);
            }
            self.note_costs(&judge);
            let is_undone = judge.is_undone();
            Some(EffectWithin { effect: judge.into_comparison(), is_undone })
        });
        found.flatten()
    }

    /// Compares no further edits if the schemas are too costly for this one.
    /// The other edits are made of the same schemas, and would cost as much.
    fn note_costs(&self, judge: &Judge<'_>) {
        if judge.has_given_up() {
            self.work_left.store(0, Relaxed);
        }
    }

    /// Judges values at the edges of what differs between the first and the last schema.
    ///
    /// With restoring steps, the calls of the last schema have another form: they are restored
    /// first, because the judge gets calls of the first schema.
    fn search_between(&self, judge: &mut Judge<'_>) {
        let Some(pair) = UpgradedPair::new(self.first, self.last) else { return };
        if self.steps.is_empty() {
            witness::search(&pair.first, &pair.second, judge);
            return;
        }
        let calls = witness::candidates(&pair.second, super::MAX_RESTORED);
        let restored = calls.into_iter().filter_map(|call| self.restorer.restore(call).ok());
        let own = witness::candidates(&pair.first, super::MAX_RESTORED);
        let _ = restored.chain(own).try_for_each(|call| judge.judge(call));
    }

    /// Whether parts of the last schema have another meaning in the first one.
    fn has_other_form(&self) -> bool {
        !self.steps.is_empty() || Dialect::of(self.first).ok() != Dialect::of(self.last).ok()
    }

    /// The first schema with the keywords that the last one has at `place`, apart from properties.
    ///
    /// Properties and definitions stay, since edits in them are other edits.
    fn with_keywords_of_last(&self, place: &str) -> Option<Value> {
        let is_kept = |name: &str| matches!(name, "properties" | "$defs" | "definitions");
        let (own, other) =
            (self.first.pointer(place)?.as_object()?, self.last.pointer(place)?.as_object()?);
        let theirs = other.iter().filter(|(name, _)| !is_kept(name));
        let ours = own.iter().filter(|(name, _)| is_kept(name));
        let mixed: Map<String, Value> =
            theirs.chain(ours).map(|(name, value)| (name.clone(), value.clone())).collect();
        self.with_replaced(place, Value::Object(mixed))
    }

    /// The first schema with all that the last one has at `place`.
    fn with_schema_of_last(&self, place: &str) -> Option<Value> {
        self.with_replaced(place, self.last.pointer(place)?.clone())
    }

    /// The first schema with `schema` at `place`. `None` if its parts would mean something else
    /// there.
    fn with_replaced(&self, place: &str, schema: Value) -> Option<Value> {
        if self.has_other_form() {
            return None;
        }
        let mut replaced = self.first.clone();
        *replaced.pointer_mut(place)? = schema;
        let root = replaced.as_object_mut()?;
        // The new part may refer to definitions that are new.
        for keyword in ["$defs", "definitions"] {
            let Some(Value::Object(theirs)) = self.last.get(keyword) else { continue };
            let own = root.entry(keyword).or_insert_with(|| Value::Object(Map::new()));
            for (name, definition) in theirs {
                own.as_object_mut()?.entry(name).or_insert_with(|| definition.clone());
            }
        }
        Some(replaced)
    }
}

/// The effect of an edit, as far as the whole has it, too.
struct EffectWithin {
    effect: SchemaComparison,
    /// Whether the edit alone changes how a value is judged, and the whole does not.
    is_undone: bool,
}

/// The last schema, and how calls of the first become calls of it.
#[derive(Clone, Copy)]
pub(super) struct LastForm<'a> {
    schema: &'a Schema,
    restorer: &'a CallRestorer<'a>,
    has_steps: bool,
}

impl LastForm<'_> {
    /// Whether a call of the first schema can be sent; `None` if that is not known.
    ///
    /// With restoring steps it is sent in the form of the last schema, and has to come back
    /// unchanged.
    pub(super) fn accepts(&self, call: &Value) -> Option<bool> {
        if !self.has_steps {
            return self.schema.try_is_valid(call).ok();
        }
        let is_accepted = match self.restorer.adapt(call.clone()) {
            Ok(adapted) if self.schema.try_is_valid(&adapted).ok()? => {
                // A call that comes back as another one was not sent.
                self.restorer.restore(adapted).is_ok_and(|back| same_json(&back, call))
            }
            _ => false,
        };
        (!self.restorer.is_exhausted()).then_some(is_accepted)
    }
}

/// No value is judged otherwise, in either direction.
fn equal() -> SchemaComparison {
    SchemaComparison { wider: Verdict::No, narrower: Verdict::No }
}

/// Nothing is known about either direction.
fn not_shown() -> SchemaComparison {
    SchemaComparison { wider: Verdict::NotShown, narrower: Verdict::NotShown }
}

/// Whether at least one direction is shown by a value.
fn has_witness(compared: &SchemaComparison) -> bool {
    compared.wider.witness().or(compared.narrower.witness()).is_some()
}

/// The pointer of the innermost property that a pointer leads into; the root if there is none:
/// `/properties/a/items/properties/b/maxLength` is in `/properties/a/items/properties/b`.
fn property_around(at: &str) -> &str {
    let mut ends = at.char_indices().filter(|(_, c)| *c == '/').map(|(index, _)| index).skip(1);
    let mut around = "";
    let mut start = 0;
    while let Some(end) = ends.next() {
        if &at[start..end] == "/properties" {
            // The name of the property ends at the next slash.
            let after = ends.next().unwrap_or(at.len());
            around = &at[..after];
            start = after;
        } else {
            start = end;
        }
    }
    around
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::containment::CanonicalPair;
    use serde_json::json;

    /// The branches multiply to more than the canonical form takes, and it is not needed.
    #[test]
    fn a_dropped_keyword_needs_no_proof_that_nothing_is_refused() {
        let branches: Vec<Value> =
            (0..40).map(|n| json!({ "properties": { "x": { "minimum": n } } })).collect();
        let choice = json!({ "anyOf": branches });
        let first = json!({
            "type": "object", "properties": { "a": { "type": "string", "maxLength": 3 } },
            "allOf": [choice, choice, choice, choice]
        });
        let mut last = first.clone();
        last["properties"]["a"] = json!({ "type": "string" });
        assert!(CanonicalPair::new(&first, &last).is_none(), "the canonical form takes it");
        let edited = EditedSchema::new(&first, &last, &[]);
        let effect = edited.effect_of("/properties/a/maxLength", Some(&last), true);
        assert!(matches!(effect.wider, Verdict::Yes(_)), "{effect:?}");
        assert_eq!(effect.narrower, Verdict::No);
    }

    /// The instance of a loss in a definition is its own, and not that of another loss.
    #[test]
    fn edits_of_definitions_have_instances_of_their_own() {
        let first = json!({
            "type": "object", "additionalProperties": false,
            "properties": { "p": { "anyOf": [{ "$ref": "#/$defs/p" }, { "type": "null" }] } },
            "$defs": { "p": { "type": "object", "properties": { "n": { "type": "integer", "maximum": 3 } } } }
        });
        let mut last = first.clone();
        last.as_object_mut().expect("an object").shift_remove("additionalProperties");
        last["$defs"]["p"]["properties"]["n"] = json!({ "type": "integer" });
        let edited = EditedSchema::new(&first, &last, &[]);
        // The edit cannot be made alone, so that all differences are candidates.
        let effect = edited.effect_of("/$defs/p/properties/n/maximum", None, true);
        let witness = effect.wider.witness().and_then(|it| it.pointer("/p/n")?.as_i64());
        assert!(witness.is_some_and(|n| n > 3), "{effect:?}");
    }

    #[test]
    fn the_innermost_property_is_found() {
        let cases = [
            ("", ""),
            ("/required", ""),
            ("/properties", ""),
            ("/properties/a", "/properties/a"),
            ("/properties/a/minimum", "/properties/a"),
            ("/properties/a/items/properties/b/anyOf/0", "/properties/a/items/properties/b"),
            ("/properties/a/properties", "/properties/a"),
            ("/properties/properties/type", "/properties/properties"),
            ("/$defs/n/properties/v", "/$defs/n/properties/v"),
        ];
        for (at, expected) in cases {
            assert_eq!(property_around(at), expected, "{at}");
        }
    }
}
