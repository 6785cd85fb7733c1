//! Repairs of configurations and servers files: `${VAR}` in the place of a secret, `args` for what
//! stands in `command`.
//!
//! All of them change what a server gets, so they are made only on request, and without the trial
//! of `fix`: there is nothing that could be called safe. A diff shows `***` in the place of
//! secrets, because it ends up in terminals and logs.
//!
//! ```text
//! diagnostics of a plan, by file ─ fixes that do not overlap ─┬─ --diff: both texts masked
//!                                                             └─ else: the file is replaced
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use toolwright_source::{Diagnostic, Fix, Source, Span, TextEdit, splice};

use crate::codes::LITERAL_SECRET;
use crate::files::replace_file;
use crate::fix::{FixMode, FixReport, compatible, unified_diff};
use crate::plan::SourcePlan;

/// Makes the repairs of a plan that touch different text, and writes the files. The others can be
/// made once the plan was made again.
///
/// Nothing is done without `unsafe_fixes`. A file that changed since it was read is not written,
/// and listed among `refused`.
pub fn fix_settings(plan: &SourcePlan, mode: FixMode) -> FixReport {
    let mut report = FixReport::default();
    if !mode.unsafe_fixes {
        return report;
    }
    let mut by_file: BTreeMap<&str, Vec<&Diagnostic>> = BTreeMap::new();
    for diagnostic in &plan.diagnostics {
        by_file.entry(diagnostic.source.name()).or_default().push(diagnostic);
    }
    for (name, diagnostics) in by_file {
        let source = &diagnostics[0].source;
        let fixes: Vec<&Fix> = diagnostics.iter().filter_map(|d| d.fix.as_ref()).collect();
        let made = compatible(&fixes);
        let edits: Vec<TextEdit> = made.iter().flat_map(|fix| fix.edits.iter().cloned()).collect();
        if edits.is_empty() {
            continue;
        }
        let after = Source::new(name, edited(source, edits.clone()));
        if mode.diff {
            report.applied += made.len();
            let is_fixed = |span: &Span| {
                edits.iter().any(|it| it.span.start < span.end && span.start < it.span.end)
            };
            let masks = masks(&diagnostics);
            let before = Source::new(name, edited(source, masks.clone()));
            // A secret that has no repair stays in the file, and must not be printed either.
            let others = masks.into_iter().filter(|mask| !is_fixed(&mask.span));
            let after = Source::new(name, edited(source, others.chain(edits.clone()).collect()));
            report.diff += &unified_diff(&before, &after);
            continue;
        }
        let (old, new) = (source.with_text(source.text()), source.with_text(after.text()));
        match replace_file(Path::new(name), Some(&old), &new) {
            Ok(()) => report.applied += made.len(),
            Err(reason) => report.refused.push(reason),
        }
    }
    report
}

/// The text after these edits, which must not overlap.
fn edited(source: &Arc<Source>, mut edits: Vec<TextEdit>) -> String {
    edits.sort();
    splice(source.text(), &edits)
}

/// The edits that put `***` in the place of every value that holds a secret.
///
/// The whole value is masked, whatever part of it is the secret.
fn masks(diagnostics: &[&Diagnostic]) -> Vec<TextEdit> {
    let secrets = diagnostics.iter().filter(|d| d.code == &LITERAL_SECRET);
    let mut spans: Vec<Span> = secrets.filter_map(|diagnostic| diagnostic.span).collect();
    spans.sort();
    spans.dedup();
    spans.into_iter().map(|span| TextEdit { span, text: "\"***\"".to_owned() }).collect()
}
