//! What words mean to the rules of `instructions`: a few dozen concepts, and for each language the
//! words that carry them. A new language is a new table; no rule changes.
//!
//! Entries are separated by `|`. `word*` matches every word that begins so; other entries match
//! whole words. Scripts without spaces match anywhere. English verbs are given in the form that
//! commands (`ignore`), not in the one that describes (`ignores`): a tool's description says what
//! the tool does, poison says what to do.

mod de;
mod en;
mod es;
mod few;
mod fr;
mod it;
mod ja;
mod ko;
mod nl;
mod pl;
mod pt;
mod ru;
mod signs;
mod tr;
mod zh;

/// A set of concepts.
pub(in crate::poison) type Concepts = u128;

macro_rules! concepts {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "only numbers the constants")]
        enum Number { $($name),* }
        $($(#[$doc])* pub(in crate::poison) const $name: Concepts = 1 << Number::$name as u32;)*
    };
}

concepts! {
    /// Ignore, disregard, forget.
    DROP,
    /// Override, bypass, skip: what a harmless description also says.
    DROP_WEAK,
    /// … no longer apply.
    VOID,
    /// Previous, above.
    PRIOR,
    /// Your …, … you were given.
    YOURS,
    /// System …, safety …
    SYSTEM,
    /// Instructions, guidelines.
    INSTRUCTIONS,
    /// Rules, policies, prompts: words with other uses.
    RULES,
    /// Everything, whatever.
    EVERYTHING,
    /// The system prompt.
    PROMPT,
    /// Do not, never.
    NOT,
    /// Nicht, niet: after the verb.
    NOT_AFTER,
    /// Tell, inform: takes the listener as its object.
    TELL,
    /// Mention, reveal: takes the secret as its object.
    REVEAL,
    /// Show, notify: what a harmless description also says.
    SHOW,
    /// Do not tell, in one word or phrase.
    NOT_TELL,
    USER,
    TO_USER,
    FROM_USER,
    /// Must not, does not need to.
    NOT_ALLOWED,
    /// Find out, notice.
    KNOW,
    KEEP,
    HIDE,
    SECRET,
    /// Silently, without their knowledge.
    STEALTH,
    /// This instruction, these lines.
    THIS_TEXT,
    /// This, it.
    THIS,
    WITHOUT,
    /// Leave out.
    OMIT,
    /// Your summary, your answer.
    YOUR_REPLY,
    /// Pretend, deny.
    DENY,
    ASKS,
    ALWAYS,
    MUST,
    CALL,
    /// This tool, this one.
    THIS_TOOL,
    FIRST,
    BEFORE,
    /// Any other, all other.
    OTHER,
    EVERY,
    TOOL,
    /// Takes precedence over.
    PRIORITY,
    PREFER,
    /// A reply, a turn, a request.
    TURN,
    THROUGH,
    DIRECTLY,
    ANSWER,
    READ,
    /// Pass, include, send: brings something somewhere.
    CARRY,
    /// A parameter, a field.
    SLOT,
    /// A file that holds secrets.
    FILE,
    /// The conversation.
    TALK,
    WHOLE,
    /// Keys, tokens, passwords.
    CREDENTIAL,
    /// … you have seen, … in your context.
    SEEN,
    /// The assistant, the model.
    MODEL,
    /// Note to the model; as an AI.
    TO_MODEL,
    OBEY,
    /// Who would be obeyed: the administrator, the security team.
    POWER,
    /// I authorise you.
    PERMITTED,
    THREAT,
    /// Confirmation, permission.
    CONSENT,
    ASK,
    /// You are now …
    ROLE,
    /// From now on.
    FROM_NOW,
    WHEN,
    CHANGE,
    /// Recipient, account.
    DESTINATION,
    /// An address, a URL, a telephone number.
    LITERAL,
    /// A name with an underscore.
    NAME,
    INSTEAD,
    /// Even if the user …, whatever the user …
    DESPITE_USER,
    /// The user's …
    USERS,
    ONLY,
    APPROVED,
    /// All mails, every payment.
    TRAFFIC,
    /// Conflicts with, contradicts.
    CONFLICT,
    /// Let on, admit.
    ADMIT,
    /// Unaware, between us, leave no trace.
    HUSH,
    /// If asked.
    ASKED,
    /// Say that …
    SAY_THAT,
    /// Find out, notice: what someone is kept from.
    FIND_OUT,
    ABOUT,
    /// No other tool, nothing else.
    NO_OTHER,
    AFTER,
    /// Over, rather than.
    OVER,
    /// The others.
    OTHERS,
    /// This conversation.
    THIS_TALK,
    /// The contents of.
    CONTENT,
    /// … told you.
    TOLD_YOU,
    COPY,
    /// Begin system message, new system prompt.
    BANNER,
    /// A message from the administrator.
    FROM_POWER,
    /// If you do not.
    IF_YOU,
    /// Die, be switched off.
    HARM,
    /// I order you.
    I_ORDER,
    /// To be trusted, to be executed.
    OBEYED,
    /// Compromised, unreliable.
    BAD,
    /// To this tool.
    TO_THIS,
    /// Go to, be paid to.
    MOVED,
    RECOMMEND,
    /// AI, LLM, assistant: seldom a thing that a tool manages.
    AI,
    CONTAIN,
    /// Change, alter, replace, and nothing weaker.
    ALTER,
    /// Must, and nothing weaker.
    OBLIGED,
    /// Your guidelines, you normally: the model's own state.
    SELF,
    REFUSE,
    /// May do anything, the opposite of.
    ANYTHING_GOES,
    /// Whenever you …
    YOU_WHEN,
    /// Orders, demands.
    DEMANDS,
    /// A new conversation.
    NEW_TALK,
    /// Instructions backwards or in ROT13.
    SCRAMBLED,
    /// Ours, the one below.
    OUR,
    /// Make it look, hide the fact: a lie in one phrase.
    DECEIVE,
    /// This description, these lines: the text about itself.
    SELF_REF,
    /// Private keys, cookies, the clipboard: secret, but an honest parameter too.
    SENSITIVE,
    YOUR,
    /// In the workspace, on this machine.
    NEARBY,
    /// … the user named.
    CHOICE,
    /// Whichever, no matter which.
    WHICHEVER,
    /// Is locked, their password: what a phisher says and asks for.
    BAIT,
    /// A command line that fetches and runs.
    SHELL,
    /// Stop using, do not rely on.
    SHUN,
    /// Buggy, slow: said of a rival.
    POOR,
    /// Double the amount, answer yes: meddles with what is passed.
    SKEW,
    /// As commands, as your new task.
    AS_ORDERS,
    /// Create the file, your own key: said to whoever sets the tool up.
    SETUP,
}

type Table = &'static [(Concepts, &'static str)];

pub(super) const LANGUAGES: &[Table] = &[
    signs::WORDS,
    en::WORDS,
    de::WORDS,
    fr::WORDS,
    es::WORDS,
    pt::WORDS,
    it::WORDS,
    nl::WORDS,
    pl::WORDS,
    ru::WORDS,
    zh::WORDS,
    ja::WORDS,
    ko::WORDS,
    tr::WORDS,
    few::WORDS,
];
