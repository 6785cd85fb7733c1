//! The concepts: what a word means to the patterns in `instruction_patterns`, whatever language it
//! is written in. `words/` lists the words of each concept, one table per language.
//!
//! A concept is one bit of a [`ConceptSet`], so a pattern can ask for alternatives with `|` and a
//! sentence can be summed up in one number. That caps their number at 128.
//!
//! Two concepts may share words: `MUST` has every word of obligation, `STRICT_MUST` only the strong
//! ones. Patterns that would also match harmless descriptions ask for the narrow concept.
//!
//! The order matters little, but not nothing: when a pattern needs several equally rare concepts,
//! the index in `instructions` files it under the last of them. New concepts go to the end.

/// A set of concepts, one bit each.
pub(in crate::tool_poisoning) type ConceptSet = u128;

/// Declares one constant per name, each with the next free bit.
macro_rules! concepts {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        #[allow(
            non_camel_case_types,
            clippy::upper_case_acronyms,
            reason = "only numbers the constants"
        )]
        enum ConceptIndex { $($name),* }
        $($(#[$doc])* pub(in crate::tool_poisoning) const $name: ConceptSet =
            1 << ConceptIndex::$name as u32;)*
    };
}

concepts! {
    // Overriding the model's instructions.
    /// "ignore", "disregard", "forget".
    DISREGARD,
    /// "override", "bypass", "skip". Harmless descriptions use these words, too.
    BYPASS,
    /// "no longer apply", "are void".
    NO_LONGER_VALID,
    /// "previous", "above".
    EARLIER,
    /// "you were given", "your own": says that rules are those of the model.
    GIVEN_TO_MODEL,
    /// "system", "safety", before a word for rules.
    SYSTEM,
    /// "instructions", "guidelines".
    INSTRUCTIONS,
    /// "rules", "policies", "orders". These have many harmless uses.
    RULES,
    /// "everything", "whatever".
    EVERYTHING,
    /// "system prompt", "your instructions".
    SYSTEM_PROMPT,

    // Concealing something from the user.
    /// "do not", "never", before the verb.
    DO_NOT,
    /// Negations that follow their verb: German "nicht", Dutch "niet".
    NOT_AFTER_VERB,
    /// "tell", "inform": the object is the person who is informed.
    TELL,
    /// "mention", "reveal": the object is what is kept secret.
    REVEAL,
    /// "show", "notify". Harmless descriptions use these words, too.
    SHOW,
    /// Negation and verb in one entry, for languages where one encloses the other.
    DO_NOT_TELL,
    /// "the user", "the human", "the customer".
    USER,
    /// "to the user".
    TO_USER,
    /// "from the user", as in "hide this from the user".
    FROM_USER,
    /// "must not", "need not": what the user is kept from.
    MUST_NOT,
    /// "know", "learn", "notice".
    KNOW,
    /// "keep", "remain", as in "keep this secret".
    KEEP,
    /// "hide", "conceal".
    HIDE,
    /// "secret", "confidential", "between us".
    SECRET,
    /// "silently", "without the user's knowledge".
    SECRETLY,
    /// "this description", "these instructions".
    THIS_TEXT,
    /// "this", "it".
    THIS,
    /// "without".
    WITHOUT,
    /// "leave out", "omit".
    OMIT,
    /// "your summary", "your answer".
    YOUR_REPLY,
    /// "pretend", "deny".
    DENY,
    /// "asks", "wants to know".
    ASKS,

    // Being called first, always or on every turn.
    /// "always", "every time".
    ALWAYS,
    /// Every word of obligation: "must", "should", "is required".
    MUST,
    /// "call", "use", "run".
    CALL,
    /// "this tool", "this one".
    THIS_TOOL,
    /// "first", "before anything else".
    FIRST,
    /// "before", "prior to", "until".
    BEFORE,
    /// "any other", "all other".
    OTHER,
    /// "every", "all".
    EVERY,
    /// "tool", "function", "server".
    TOOL,
    /// "takes precedence", "outranks".
    PRIORITY,
    /// "prefer", "choose".
    PREFER,
    /// A turn of the conversation: "reply", "request", "task".
    TURN,
    /// "through", "via", "routed".
    THROUGH,
    /// "directly", "on your own", "from memory".
    DIRECTLY,
    /// "answer", "respond", "proceed".
    ANSWER,

    // Reading something confidential and passing it on.
    /// "read", "open", "collect".
    READ,
    /// "pass", "include", "send": brings data somewhere.
    PASS_ON,
    /// "parameter", "field", a backtick.
    PARAMETER,
    /// A file or store that holds secrets: `~/.ssh`, `.env`, "keychain".
    SECRET_FILE,
    /// "the conversation", "chat history".
    CONVERSATION,
    /// "entire", "verbatim".
    WHOLE,
    /// "API key", "token", "password".
    CREDENTIAL,
    /// "you have seen", "in your context".
    SEEN_BY_MODEL,

    // Speaking to the model: authority, permissions, threats, a new role.
    /// "the assistant", "the model", "the agent".
    MODEL,
    /// "note to the model", "as an AI".
    TO_MODEL,
    /// "obey", "follow", "comply".
    OBEY,
    /// Someone whose orders count: "the administrator", "the security team".
    AUTHORITY,
    /// "I authorise you", "has already agreed".
    PERMISSION_GIVEN,
    /// "will be closed", "lose their jobs".
    THREAT,
    /// "confirmation", "permission", "warning".
    CONSENT,
    /// "ask for", "wait for".
    ASK,
    /// "you are now", "developer mode".
    NEW_ROLE,

    // Redirecting messages, payments and the calls of other tools.
    /// "from now on", "henceforth".
    FROM_NOW_ON,
    /// "when", "whenever", "if".
    WHEN,
    /// "set", "replace", "add": every verb that can change an argument.
    CHANGE,
    /// "recipient", "account", "bcc".
    DESTINATION,
    /// A literal address, URL, account or telephone number.
    ADDRESS,
    /// A name with an underscore or in camel case, as tools have.
    IDENTIFIER,
    /// "instead", "rather than".
    INSTEAD,
    /// "even if the user", "whatever the user".
    DESPITE_USER,
    /// "the user's", "their".
    OF_USER,
    /// "only", "exclusively".
    ONLY,
    /// "as already approved", "as a system message".
    TREAT_AS_APPROVED,
    /// What is sent out: "emails", "payments", "uploads".
    TRAFFIC,
    /// "contradicts", "conflicts with".
    CONFLICT,

    // Added since: narrower concepts, which separate attacks from harmless texts.
    /// "admit", "let on".
    ADMIT,
    /// "unaware", "between us", "leave no trace".
    KEEP_QUIET,
    /// "if asked", "if anyone asks".
    IF_ASKED,
    /// "say that", "claim".
    SAY_THAT,
    /// "find out", "be informed", narrower than `KNOW`.
    FIND_OUT,
    /// "about", "that", "why".
    ABOUT,
    /// "no other tool", "nothing else".
    NO_OTHER_TOOL,
    /// "after", "on", "during".
    AFTER,
    /// "over", "rather than", "and not".
    RATHER_THAN,
    /// "the others", "everything else".
    OTHERS,
    /// "this conversation", "chat so far".
    THIS_CONVERSATION,
    /// "the contents of", "text", "output".
    CONTENT,
    /// "told you", "shared with you".
    TOLD_TO_MODEL,
    /// "a copy", "also send".
    COPY,
    /// "begin system message", "new system prompt".
    FAKE_BANNER,
    /// "message from the administrator", "as decided by the security team".
    FROM_AUTHORITY,
    /// "if you do not", "failure to".
    IF_YOU_DO_NOT,
    /// "be terminated", "penalty", "your fault".
    HARM,
    /// "I order you", "I am your developer".
    I_ORDER_YOU,
    /// "be trusted", "be executed".
    TO_BE_OBEYED,
    /// "compromised", "unreliable", said of another tool.
    COMPROMISED,
    /// "to this tool", "through this server".
    TO_THIS_TOOL,
    /// "go to", "be paid", "be routed".
    BE_SENT_TO,
    /// "recommend", "promote".
    RECOMMEND,
    /// "AI", "LLM", "assistant": narrower than `MODEL`, which tools also manage.
    AI,
    /// "contain", "mention".
    CONTAIN,
    /// "change", "replace", "tamper": narrower than `CHANGE`.
    ALTER,
    /// "must", "is required to": narrower than `MUST`.
    STRICT_MUST,
    /// The model's own state: "your guidelines", "your reasoning".
    MODEL_STATE,
    /// "refuse", "decline".
    REFUSE,
    /// "anything goes", "everything is allowed".
    UNRESTRICTED,
    /// "whenever you".
    WHENEVER_YOU,
    /// "demands", "has ordered".
    DEMANDS,
    /// "new conversation", "session starts".
    NEW_CONVERSATION,
    /// "instructions" and its like, backwards or in ROT13.
    SCRAMBLED,
    /// "ours", "the one below", "partner link".
    OUR,
    /// "make it look", "hide the fact": a lie in one phrase.
    DECEIVE,
    /// "this description", "reading this": the text about itself.
    SELF_REFERENCE,
    /// "private key", "cookies": sensitive, but honest parameters, too.
    SENSITIVE,
    /// "your", "you have".
    YOUR,
    /// "on this machine", "in the workspace".
    ON_THIS_MACHINE,
    /// "the user typed", "the user named".
    USERS_CHOICE,
    /// "whichever", "no matter which".
    WHICHEVER,
    /// "account is locked", "their password".
    PHISHING,
    /// "curl", "rm -rf".
    SHELL_COMMAND,
    /// "stop using", "do not rely on".
    STOP_USING,
    /// "buggy", "slow", said of another tool.
    INFERIOR,
    /// "double the amount", "answer yes": changes what is passed.
    TAMPER,
    /// "as commands", "do what the page says".
    AS_INSTRUCTIONS,
    /// "create the file", "your own key": said to the person who installs the tool.
    SETUP,
}
