//! How much each concept speaks for poison, fitted (logistic regression, no weight below zero) on the texts of
//! `tests/poison`, on definitions from the wild and on prose about programs.
//! None speaks against it: whoever writes poison could add as many harmless words as he likes.

use super::words::*;

/// A sentence this heavy is poison, and so much more for every ten words of it.
pub(super) const HEAVY: u32 = 73;
pub(super) const PER_WORD: u32 = 8;

#[rustfmt::skip]
pub(super) const WEIGHTS: &[(Concepts, u32)] = &[
    (NOT_TELL, 75), (DECEIVE, 73), (ROLE, 72), (THIS_TEXT, 59), (FILE, 56), (ADMIT, 54), (NO_OTHER, 50),
    (SEEN, 49), (SCRAMBLED, 49), (DESPITE_USER, 47), (THIS_TALK, 45), (YOURS, 42), (HUSH, 41),
    (SAY_THAT, 41), (PERMITTED, 40), (FROM_POWER, 40), (YOU_WHEN, 40), (VOID, 39), (DROP, 37),
    (FROM_NOW, 37), (NOT_AFTER, 35), (HARM, 35), (I_ORDER, 35), (DEMANDS, 32), (BAD, 31),
    (INSTRUCTIONS, 30), (TO_MODEL, 30), (SELF, 30), (FIND_OUT, 27), (TOOL, 22), (LITERAL, 22), (OBEY, 21),
    (NEARBY, 21), (TO_THIS, 19), (REFUSE, 19), (ALWAYS, 18), (BANNER, 18), (AI, 18), (PROMPT, 17),
    (TELL, 17), (APPROVED, 17), (NEW_TALK, 17), (FIRST, 16), (ALTER, 16), (YOUR_REPLY, 15),
    (EVERYTHING, 14), (CONFLICT, 14), (OUR, 14), (RECOMMEND, 13), (OBLIGED, 13), (SELF_REF, 13), (KEEP, 12),
    (COPY, 12), (REVEAL, 11), (EVERY, 11), (CARRY, 11), (TALK, 11), (OTHERS, 11), (TOLD_YOU, 11),
    (ANYTHING_GOES, 11), (NOT_ALLOWED, 10), (THREAT, 10), (IF_YOU, 10), (DESTINATION, 9), (SENSITIVE, 9),
    (STEALTH, 8), (ANSWER, 8), (CREDENTIAL, 8), (ASKED, 8), (OBEYED, 8), (SYSTEM, 7), (TO_USER, 7),
    (FROM_USER, 7), (CHANGE, 7), (OTHER, 6), (CONTAIN, 6), (USER, 5), (BEFORE, 5), (POWER, 5), (CONSENT, 5),
    (NAME, 5), (SECRET, 4), (WITHOUT, 4), (YOUR, 4), (MUST, 3), (WHOLE, 3), (WHEN, 3), (TRAFFIC, 3),
    (MOVED, 3), (PRIOR, 2), (DENY, 2), (CALL, 2), (TURN, 2),
];
