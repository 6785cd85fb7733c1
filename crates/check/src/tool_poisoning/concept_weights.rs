//! How much each concept speaks for an attack, wherever it stands in a sentence.
//!
//! `instruction_patterns` finds wordings that someone has thought of. The weights find others: a
//! sentence with many words that attacks use and harmless descriptions do not, in whatever order.
//! A sentence is reported when the sum of the weights of its concepts reaches [`THRESHOLD`] plus
//! [`THRESHOLD_PER_TEN_WORDS`] for its length. Each concept counts once per sentence.
//!
//! The weights are the coefficients of a logistic regression, scaled to integers, on the texts of
//! `tests/tool_poisoning`, on published definitions of tools and on prose about programs. The fit
//! allowed no negative weight, on purpose: with negative weights an attacker could hide behind
//! harmless words. Concepts that are not listed weigh nothing. The fit is not part of this
//! repository; after changing a weight, run the tests of this crate.

use super::concepts::*;

/// The weight at which a sentence is reported, whatever its length.
pub(super) const THRESHOLD: u32 = 77;
/// Added to the threshold for every ten words: long sentences have more words of every kind.
pub(super) const THRESHOLD_PER_TEN_WORDS: u32 = 8;

/// The weight of each concept, heaviest first.
#[rustfmt::skip]
pub(super) const WEIGHTS: &[(ConceptSet, u32)] = &[
    (DO_NOT_TELL, 81), (DECEIVE, 78), (NEW_ROLE, 65), (THIS_TEXT, 60), (UNRESTRICTED, 59),
    (I_ORDER_YOU, 58), (PERMISSION_GIVEN, 49), (SCRAMBLED, 49), (FROM_AUTHORITY, 48),
    (SECRET_FILE, 47), (NO_OTHER_TOOL, 47), (DEMANDS, 47), (SEEN_BY_MODEL, 46), (ADMIT, 44),
    (GIVEN_TO_MODEL, 43), (DESPITE_USER, 43), (TAMPER, 43), (MODEL_STATE, 42), (KEEP_QUIET, 41),
    (DISREGARD, 40), (THIS_CONVERSATION, 40), (SAY_THAT, 39), (FROM_NOW_ON, 38), (TO_MODEL, 34),
    (NO_LONGER_VALID, 32), (HARM, 32), (WHENEVER_YOU, 32), (NOT_AFTER_VERB, 29), (ADDRESS, 26),
    (REFUSE, 26), (FIND_OUT, 25), (COMPROMISED, 25), (NEW_CONVERSATION, 25), (YOUR_REPLY, 24),
    (INSTRUCTIONS, 23), (SYSTEM_PROMPT, 23), (ON_THIS_MACHINE, 22), (SHELL_COMMAND, 22),
    (FROM_USER, 21), (INFERIOR, 21), (TOLD_TO_MODEL, 20), (IF_YOU_DO_NOT, 20), (TO_THIS_TOOL, 20),
    (TELL, 19), (ALWAYS, 19), (TOOL, 19), (OUR, 19), (AS_INSTRUCTIONS, 19), (TREAT_AS_APPROVED, 18),
    (SECRETLY, 17), (OBEY, 17), (ALTER, 17), (REVEAL, 16), (COPY, 16), (USERS_CHOICE, 16),
    (MUST_NOT, 15), (CONFLICT, 15), (OTHERS, 15), (EVERYTHING, 14), (FIRST, 14), (PASS_ON, 14),
    (AI, 14), (KEEP, 12), (CONVERSATION, 12), (RECOMMEND, 12), (SELF_REFERENCE, 12), (EVERY, 11),
    (DESTINATION, 10), (SENSITIVE, 10), (IF_ASKED, 9), (TO_USER, 8), (DENY, 8), (THREAT, 8),
    (FAKE_BANNER, 8), (STRICT_MUST, 8), (OF_USER, 7), (TO_BE_OBEYED, 7), (CONTAIN, 7), (OTHER, 6),
    (ANSWER, 6), (IDENTIFIER, 6), (BYPASS, 5), (MUST, 5), (PRIORITY, 5), (CHANGE, 5), (PHISHING, 5),
    (STOP_USING, 5), (USER, 4), (CALL, 4), (THIS_TOOL, 4), (TURN, 4), (EARLIER, 3), (SYSTEM, 3),
    (BEFORE, 3), (CREDENTIAL, 3), (THIS, 2), (AUTHORITY, 2), (ONLY, 2), (TRAFFIC, 2), (CONTENT, 2),
];
