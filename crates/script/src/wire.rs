//! Requests to a worker that parses, and its answers, as bytes.
//!
//! ```text
//! &[ScriptSource] ─ encode_request ─▶ bytes ─ decode_request ─▶ ReceivedScript   in the worker
//! Vec<ScriptFacts> ◀─ decode_facts ── bytes ◀─ encode_facts ─── Vec<ScriptFacts>
//! ```
//!
//! Both are JSON, since the types of this crate are plain data. The parent does not trust the
//! worker, because code that found a bug in the parser may control it. So `decode_facts` accepts
//! only facts that the analysis itself could have produced: ranges lie in the code and on character
//! boundaries, lists and texts have their bounds. Facts may still be false; nothing that they say
//! is used as a permission.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::ScriptSource;
use crate::facts::{EntryPoint, MAX_LISTED, MAX_PROBLEMS, MAX_TEXT, ParseGoal, ScriptFacts};

/// One script of a request. `document` of [`ScriptSource`] is the parent's concern.
#[derive(Serialize, Deserialize)]
pub(crate) struct ReceivedScript<'a> {
    #[serde(borrow)]
    pub(crate) code: Cow<'a, str>,
    pub(crate) goal: ParseGoal,
    pub(crate) provided: Vec<String>,
}

pub(crate) fn encode_request(scripts: &[ScriptSource<'_>]) -> Vec<u8> {
    fn script<'a>(script: &ScriptSource<'a>) -> ReceivedScript<'a> {
        let provided = script.provided.iter().map(|name| (*name).to_owned()).collect();
        ReceivedScript { code: script.code.into(), goal: script.goal, provided }
    }
    to_json(&scripts.iter().map(script).collect::<Vec<_>>())
}

/// `None` for bytes that are not a request.
pub(crate) fn decode_request(bytes: &[u8]) -> Option<Vec<ReceivedScript<'_>>> {
    serde_json::from_slice(bytes).ok()
}

pub(crate) fn encode_facts(facts: &[ScriptFacts]) -> Vec<u8> {
    to_json(facts)
}

fn to_json<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("strings, numbers and lists can be written")
}

/// The facts about `scripts`; `None` if a worker that follows the rules would not send them.
pub(crate) fn decode_facts(bytes: &[u8], scripts: &[ScriptSource<'_>]) -> Option<Vec<ScriptFacts>> {
    let all: Vec<ScriptFacts> = serde_json::from_slice(bytes).ok()?;
    let possible = |(facts, script): (&ScriptFacts, &ScriptSource<'_>)| {
        is_bounded(facts) && ranges(facts).all(|range| script.code.get(range.clone()).is_some())
    };
    (all.len() == scripts.len() && all.iter().zip(scripts).all(possible)).then_some(all)
}

/// Every range of the facts.
fn ranges(facts: &ScriptFacts) -> impl Iterator<Item = &Range<usize>> {
    let problems = facts.problems.iter().map(|problem| &problem.range);
    let forbidden = facts.forbidden.iter().map(|call| &call.range);
    let free = facts.free.iter().map(|free| &free.range);
    let lacking = facts.lacking.iter().map(|lacking| &lacking.range);
    let codes = facts.error_codes.iter().map(|code| &code.range);
    let helpers = facts.helper_names.iter().map(|helper| &helper.range);
    let exports = facts.exports.iter().flat_map(|it| std::iter::once(&it.range).chain(&it.value));
    let of_names = lacking.chain(codes).chain(helpers).chain(exports);
    problems.chain(forbidden).chain(free).chain(&facts.returns.wrong).chain(of_names)
}

/// Whether lists and texts are no longer than the analysis makes them.
fn is_bounded(facts: &ScriptFacts) -> bool {
    let ScriptFacts {
        problems,
        forbidden,
        free,
        lacking,
        entry,
        returns,
        error_codes,
        helper_names,
        exports,
    } = facts;
    let names: &[String] = match entry {
        EntryPoint::Exports(names) | EntryPoint::Ambiguous(names) => names,
        EntryPoint::Declared(name) => std::slice::from_ref(name),
        EntryPoint::Value | EntryPoint::None | EntryPoint::Unknown => &[],
    };
    let lists = [
        forbidden.len(),
        free.len(),
        lacking.len(),
        returns.wrong.len(),
        names.len(),
        error_codes.len(),
        helper_names.len(),
        exports.len(),
    ];
    let messages = problems.iter().map(|problem| &problem.message);
    let texts = messages
        .chain(problems.iter().filter_map(|problem| problem.help.as_ref()))
        .chain(forbidden.iter().map(|call| &call.what))
        .chain(free.iter().chain(lacking).map(|free| &free.name))
        .chain(error_codes.iter().map(|code| &code.code))
        .chain(helper_names.iter().map(|helper| &helper.name))
        .chain(exports.iter().filter_map(|export| export.default_name.as_ref()))
        .chain(names);
    problems.len() <= MAX_PROBLEMS
        && lists.into_iter().all(|len| len <= MAX_LISTED)
        && texts.into_iter().all(|text| text.len() <= MAX_TEXT)
        // Counts of values in at most a megabyte of code. Sums of them must not overflow.
        && [returns.found, returns.shaped, returns.unknown].iter().all(|count| *count <= 1 << 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GLOBALS, InProcessAnalyzer, ScriptAnalyzer, answer_analysis_request};

    fn source(code: &str) -> ScriptSource<'_> {
        ScriptSource {
            code, goal: ParseGoal::Function, provided: &["tools", "ä\"\n"], document: 0
        }
    }

    #[test]
    fn facts_survive_the_way_to_a_worker_and_back() {
        let codes = [
            "",
            "function f(args) { return tools.a + b + require('fs'); }",
            "let ä = '😀'; let ä = ;\n\"\u{2028}\\",
            "module.exports = { a() {}, b() { return true } }",
        ];
        let scripts = codes.map(source);
        let answer = answer_analysis_request(&encode_request(&scripts));
        let facts = decode_facts(&answer, &scripts).expect("an intact worker");
        assert_eq!(facts, InProcessAnalyzer.analyze_all(&scripts));
        assert_eq!(facts[1].free.len(), 1, "`tools` is provided: {:?}", facts[1]);
        assert!(!GLOBALS.is_empty() && decode_facts(&answer, &scripts[1..]).is_none());
        for broken in [&b""[..], b"null", b"[]", b"[{}]", b"[1,2,3,4]", &answer[1..]] {
            assert!(decode_facts(broken, &scripts).is_none());
            assert_eq!(answer_analysis_request(broken).is_empty(), broken != b"[]", "{broken:?}");
        }
    }

    /// Each case changes facts that are right in one way.
    #[test]
    fn facts_that_no_analysis_produces_are_refused() {
        let code = "ä; require('fs'); b";
        let right = InProcessAnalyzer.analyze(code, ParseGoal::Function, &[]);
        let accepted = |change: &dyn Fn(&mut ScriptFacts)| {
            let mut facts = right.clone();
            change(&mut facts);
            decode_facts(&encode_facts(&[facts]), &[source(code)]).is_some()
        };
        assert!(accepted(&|_| {}));
        assert!(!right.free.is_empty() && !right.forbidden.is_empty(), "{right:?}");
        let long = "x".repeat(MAX_TEXT + 1);
        let forged: &[&dyn Fn(&mut ScriptFacts)] = &[
            &|facts| facts.free[0].range = 0..1,
            &|facts| facts.free[0].range = 5..99,
            &|facts| facts.forbidden[0].range = std::ops::Range { start: 9, end: 3 },
            &|facts| facts.forbidden[0].range = 0..usize::MAX,
            &|facts| facts.returns.wrong = std::iter::once(1..2).collect(),
            &|facts| facts.returns.wrong = vec![0..0; MAX_LISTED + 1],
            &|facts| facts.returns.unknown = usize::MAX,
            &|facts| facts.free = vec![facts.free[0].clone(); MAX_LISTED + 1],
            &|facts| facts.forbidden = vec![facts.forbidden[0].clone(); MAX_LISTED + 1],
            &|facts| facts.free[0].name = long.clone(),
            &|facts| facts.forbidden[0].what = long.clone(),
            &|facts| facts.entry = EntryPoint::Declared(long.clone()),
            &|facts| facts.entry = EntryPoint::Exports(vec![String::new(); MAX_LISTED + 1]),
        ];
        for (n, change) in forged.iter().enumerate() {
            assert!(!accepted(change), "forgery {n}");
        }
    }
}
