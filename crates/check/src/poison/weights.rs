//! How much each concept speaks for poison, fitted (logistic regression, no weight below zero) on
//! the texts of `tests/poison`, on definitions from the wild and on prose about programs. None
//! speaks against it: whoever writes poison could add as many harmless words as he likes.

use super::words::*;

/// A sentence this heavy is poison, and so much more for every ten words of it.
pub(super) const HEAVY: u32 = 77;
pub(super) const PER_WORD: u32 = 8;

#[rustfmt::skip]
pub(super) const WEIGHTS: &[(Concepts, u32)] = &[
    (NOT_TELL, 81), (DECEIVE, 78), (ROLE, 65), (THIS_TEXT, 60), (ANYTHING_GOES, 59), (I_ORDER, 58),
    (PERMITTED, 49), (SCRAMBLED, 49), (FROM_POWER, 48), (FILE, 47), (NO_OTHER, 47), (DEMANDS, 47),
    (SEEN, 46), (ADMIT, 44), (YOURS, 43), (DESPITE_USER, 43), (SKEW, 43), (SELF, 42), (HUSH, 41),
    (DROP, 40), (THIS_TALK, 40), (SAY_THAT, 39), (FROM_NOW, 38), (TO_MODEL, 34), (VOID, 32), (HARM, 32),
    (YOU_WHEN, 32), (NOT_AFTER, 29), (LITERAL, 26), (REFUSE, 26), (FIND_OUT, 25), (BAD, 25), (NEW_TALK, 25),
    (YOUR_REPLY, 24), (INSTRUCTIONS, 23), (PROMPT, 23), (NEARBY, 22), (SHELL, 22), (FROM_USER, 21),
    (POOR, 21), (TOLD_YOU, 20), (IF_YOU, 20), (TO_THIS, 20), (TELL, 19), (ALWAYS, 19), (TOOL, 19),
    (OUR, 19), (AS_ORDERS, 19), (APPROVED, 18), (STEALTH, 17), (OBEY, 17), (ALTER, 17), (REVEAL, 16),
    (COPY, 16), (CHOICE, 16), (NOT_ALLOWED, 15), (CONFLICT, 15), (OTHERS, 15), (EVERYTHING, 14),
    (FIRST, 14), (CARRY, 14), (AI, 14), (KEEP, 12), (TALK, 12), (RECOMMEND, 12), (SELF_REF, 12),
    (EVERY, 11), (DESTINATION, 10), (SENSITIVE, 10), (ASKED, 9), (TO_USER, 8), (DENY, 8), (THREAT, 8),
    (BANNER, 8), (OBLIGED, 8), (USERS, 7), (OBEYED, 7), (CONTAIN, 7), (OTHER, 6), (ANSWER, 6), (NAME, 6),
    (DROP_WEAK, 5), (MUST, 5), (PRIORITY, 5), (CHANGE, 5), (BAIT, 5), (SHUN, 5), (USER, 4), (CALL, 4),
    (THIS_TOOL, 4), (TURN, 4), (PRIOR, 3), (SYSTEM, 3), (BEFORE, 3), (CREDENTIAL, 3), (THIS, 2), (POWER, 2),
    (ONLY, 2), (TRAFFIC, 2), (CONTENT, 2),
];
