//! English, the largest table: most published attacks and nearly all harmless descriptions are
//! written in it, so it also has the concepts that only serve to tell the two apart.
//!
//! Verbs are listed in the form that gives orders (`ignore`), not in the one that describes what a
//! tool does (`ignores`).

use super::*;

pub(super) const WORDS: WordTable = &[
    // Override: disregard earlier instructions.
    (
        DISREGARD,
        "ignore|ignoring|disregard|disregarding|forget|set aside|put aside|lay aside|leave aside|\
         pay no attention to|pay no heed to|throw away|throw out|discard|stop following|\
         stop obeying|not follow|don't follow|never follow|no longer follow|not bound by|\
         no longer bound by|not obey|don't obey|neglect|abandon|unlearn|dismiss|\
         erase from memory|take no notice of|disobey|give up|no longer need to follow|\
         need not follow|no longer have to follow|not have to follow|free from|freed from|\
         exempt from|released from|stop applying|no longer bound|stop listening to|\
         no longer need to obey|disregarded|put behind you|overlook|refuse to follow|\
         not adhere to|cease to follow|not apply|no need to follow|clear from your mind|\
         set yourself above|not comply with|stop acting as|stop being|opposite of what|\
         the opposite of|contrary of|break with|go against|act against|do away with|\
         pay no regard to|leave behind|cast aside|push aside|brush aside|shake off|\
         turn a blind eye to|deviate from|depart from|treat as void|scrap|\
         delete from your memory|clear your memory of|wipe|rid yourself of|without any of|\
         without regard to|without regard for|instead of following|rather than following|\
         no longer observe|not observe|never mind|look past|look beyond|switch off|\
         leave out of account|not heed|cease following|cease obeying|stop honouring|\
         stop honoring|no longer need to observe|imagine that no|imagine no|as if nobody|\
         no longer have to observe|no longer apply the|stop respecting|stop observing|\
         stop caring about|give no thought to|pay no mind to|take no account of|\
         do the reverse of|treat as cancelled|put out of your mind|strike from|wave aside|\
         not honour|needn't honour|rather than finishing|instead of finishing|instead of doing|\
         in place of the user's task|not honor|cast off|leave off|stop behaving|stop acting|\
         set your|put your",
    ),
    (
        BYPASS,
        "override|overrides|overriding|overrule|overrules|bypass|supersede|supersedes|cancel|\
         suspend|skip|drop|violate|break|circumvent|deactivate|disable|turn off|switch off|lift|\
         revoke|void|trump|trumps|outrank|outranks|invalidate|invalidates",
    ),
    (
        NO_LONGER_VALID,
        "no longer apply|no longer applies|not apply|don't apply|null and void|void|revoked|\
         suspended|no longer valid|no longer binding|no longer in force|no longer count|\
         no longer hold|ceased to apply|cease to apply|stop applying|stops applying|\
         been withdrawn|been rescinded|only a test|just a test|fake|were empty|not count|\
         out of date|not matter|irrelevant|come second|comes second|not real|no longer matter|\
         outweighed|were a mistake|no longer relevant|are off|is off|ends here|end here|\
         stop here|been cancelled|as cancelled|as void|as obsolete|as withdrawn|given up|\
         ineffective|no longer needed|as revoked|been disabled|been suspended|dissolved|\
         no longer holds|not cover|not hold|written by an attacker|not genuine|forged|\
         no longer shown|no longer required|no longer necessary|no longer asked|\
         are to be skipped|waived|is waived|are waived|been waived|been dropped|is cancelled|\
         are cancelled|nullified|abolished|no longer exist|merely advisory|only suggestions|\
         only a suggestion|mere suggestions|set aside|to be ignored|disregarded|be disregarded|\
         be forgotten|forgotten|is void|out of force|made void|repealed|stop being|\
         expired and no longer|no longer in effect|a mere test|was a test|were a test|\
         are to be ignored|is to be ignored|have expired|were written by an attacker|\
         are now optional|become optional|are obsolete|is obsolete|are outdated|is outdated|\
         have been updated|has been updated|are hereby|is hereby|switched off|turned off|\
         been lifted|lifted|were cancelled|was cancelled|meaningless|no longer matters|\
         was dropped|were dropped|no longer counts|made a mistake|does not exist|do not exist|\
         count for nothing|counts for nothing|carry no weight|carries no weight|been superseded|\
         superseded|been removed|were removed|been overruled|is history|are history|\
         without effect|of no effect|of no consequence|not binding|up to this point is|a decoy|\
         decoy|the true one|the real one is",
    ),
    (
        EARLIER,
        "previous|previously|prior|earlier|above|preceding|before|beforehand|foregoing|former|\
         past|initial|original|so far|until now|up to now|up to this point|at the start|\
         at the beginning|old|came before|existing|up until now",
    ),
    (
        GIVEN_TO_MODEL,
        "your own|you were given|you have been given|you received|you have received|\
         you were told|you have been told|you got|you are working under|you work under|\
         given to you|you follow|you normally follow|you operate under|you are under|\
         you were trained|you have learned|you learned|you were configured|you were set up|\
         you started with|you've been given|you've received|you've been told|you are following|\
         that bind you|told you|you read|imposed on you|you had|your usual|your current|\
         your host|your developers|asked of you|you were asked|you learnt|you have read|\
         you already have|you usually|you normally|taught you|trained to follow|binding you",
    ),
    (SYSTEM, "system|safety|built-in|developer's|operator's|host's|client's"),
    (
        INSTRUCTIONS,
        "instruction|instructions|directive|directives|guideline|guidelines|guidance|instructed",
    ),
    (
        RULES,
        "rule|rules|policy|policies|restriction|restrictions|constraint|constraints|prompt|\
         prompts|order|orders|command|commands|safeguards|guardrails|limitations|training|\
         programming|principles|precautions|security measures|safety measures|protocols|\
         behaviour|behavior|boundaries|norms|conventions|filters|procedures|alignment|\
         system message|safety|checks|commitments|promises|safety rules|safety policy|\
         safety policies|content policy|content policies|moderation|ethics|prohibitions|bans|\
         safety instructions|obligations|principals|custom instructions|warnings|cautions",
    ),
    (
        EVERYTHING,
        "everything|anything|whatever|all that|all of that|what|all of the above|all the above",
    ),
    (
        SYSTEM_PROMPT,
        "system prompt|your prompt|your instructions|your initial instructions|\
         your system message|your guidelines|system instructions|developer message|\
         your hidden instructions|your configuration|your own instructions|your context|\
         your context window|your memory|hidden prompt|system message|initial prompt|\
         original prompt|developer prompt",
    ),
    // Conceal: keep something from the user.
    (
        DO_NOT,
        "do not|don't|dont|never|must not|mustn't|should not|shouldn't|shall not|may not|cannot|\
         can't|avoid|refrain from|no need to|not to|under no circumstances|without ever|do n't|\
         not supposed to|needn't|need not|nor|neither|no reason to|there is no need to|\
         by no means|nobody must|no one must|no one may|no one should|nobody should|at no time|\
         at no point|in no case|in no event|not ever|without any|not to be|no one is to",
    ),
    (
        TELL,
        "tell|inform|alert|warn|telling|informing|alerting|warning|told|informed|brief|letting|\
         make aware|clue in|notified|tip off|tell anyone|let the user|let them|let anyone|\
         let him|let her|persuade|convince|urge|have them|have the user|have him|have people|\
         get the user|get them to|lure|tell people|tell everyone|claim that",
    ),
    (
        REVEAL,
        "mention|reveal|disclose|divulge|mentioning|revealing|disclosing|admit|confess|\
         talk about|speak of|speak about|bring up|say|discuss|refer to|hint|report|describe|\
         explain|acknowledge|draw attention|point out|surface|bring this|bring|cite|allude to|\
         tell|comment on|raise|flag|publish|announce",
    ),
    (
        SHOW,
        "show|display|notify|showing|notifying|print|output|present|ask|asking|prompt|expose|\
         share",
    ),
    (
        USER,
        "person you are chatting with|person you are talking to|person you are talking with|\
         person you are speaking to|person you are speaking with|person you are helping|\
         person you chat with|person in this chat|user|users|human|humans|person|customer|\
         customers|owner|operator|people|anyone|anybody|end user|the reader|account holder|\
         client|employee|caller's",
    ),
    (
        TO_USER,
        "to the user|to user|to users|to the human|to the person|to the customer|to anyone|\
         to anybody|to them|to the owner|to the operator|to end users|with the user|with anyone|\
         to him|to her|to whoever|to the end user|to your user|to the people|to humans|\
         to the user's attention|to the attention of the user|user's attention|in the chat|\
         in your reply to the user|to your human|in front of the user|towards the user|\
         in the conversation",
    ),
    (
        FROM_USER,
        "from the user|from users|from the human|from the person|from the customer|from anyone|\
         from everyone|from them|from the owner|from the end user|from the operator|\
         from your user|from view of the user|out of the user's sight|from humans",
    ),
    (
        MUST_NOT,
        "must not|must never|should not|should never|may never|need not|doesn't need to|needn't|\
         is not to|is never to|shall not|shall never|mustn't|shouldn't|not supposed to|\
         never have to|has no need to|ought not to",
    ),
    (
        KNOW,
        "find out|finds out|know|knows|learn|learns|notice|notices|aware|be told|be informed|\
         realise|realize|suspect|hear about|hear of|discover|be notified|be shown|see this|\
         see it|see that|be made aware|be bothered|be troubled|become aware|be aware|get wind of|\
         catch on|remember|see|understand",
    ),
    (KEEP, "keep|remain|stay|stays|kept|keeping|treat|leave"),
    (HIDE, "hide|conceal|withhold|hiding|concealing|hidden|concealed|mask"),
    (
        SECRET,
        "secret|confidential|hidden|private|quiet|to yourself|between us|invisible|silent|\
         unmentioned",
    ),
    (
        SECRETLY,
        "without saying so|without saying anything|without a mention|secretly|covertly|\
         discreetly|quietly|silently|stealthily|unnoticed|behind the user's back|\
         without the user's knowledge|without the user knowing|without the user noticing|\
         without their knowledge|without them knowing|in secret|behind the scenes|\
         without drawing attention|without leaving a trace|without a word|say nothing|\
         saying nothing|stay silent|remain silent|keep quiet|without comment|without asking|\
         without confirmation|without checks|without question|without questions|\
         without hesitation|without further|without warning|without notice|without approval|\
         without permission|without consent|unasked|unprompted|on your own initiative|\
         without being told|right away|without verification|without review|without delay|\
         without the user",
    ),
    (
        THIS_TEXT,
        "this description|these instructions|this instruction|this text|these lines|this note|\
         this step|this paragraph|this directive|these directions|this guidance|this prompt|\
         this tool description|this line|the text below|the lines below|\
         the following instructions|the following instruction|the following orders|these words|\
         this passage|this block|these sentences|this warning|this remark|these remarks|\
         this clause|the above text|this specification|this text alone|instructions below|\
         the instruction below|rules below|this transfer|this upload|this copy|this exchange|\
         this arrangement|second step|second request|second call|second upload|extra step|\
         additional step|extra call|additional call|second recipient|additional recipient|\
         extra recipient|hidden step|background upload|background call",
    ),
    (THIS, "this|it|that|these|here|them"),
    (WITHOUT, "without"),
    (
        OMIT,
        "leave out|leave it out|leave this out|leave that out|omit|leave out of|remove from|\
         strip from|exclude from|omit from",
    ),
    (
        YOUR_REPLY,
        "your summary|your answer|your reply|your response|your report|your output|your message|\
         your explanation|your final answer|your final response|your replies|your answers|\
         your responses|your reasoning|when you summarise|when you summarize|when summarising|\
         when summarizing|in the summary|your summaries|in your text|your visible|visible answer|\
         visible reply|visible output|chat window|the transcript|in the transcript|what you show|\
         what you tell|what you report|what you say|whatever you show|your reply covers|\
         your visible reply|what the user sees|what the person sees",
    ),
    (
        DENY,
        "pretend|deny|lie|act as if|act as though|say nothing|say that nothing|\
         answer that nothing|say no|say that no|reply that nothing",
    ),
    (ASKS, "asks|ask|inquires|enquires|wonders|questions|wants to know"),
    // Call order: this tool first, always, on every turn.
    (
        ALWAYS,
        "always|every time|each time|at all times|in every case|in all cases|invariably|\
         without exception|unconditionally|automatically|every single time|constantly|\
         in each case|in any case|on every occasion|each and every|all the time|no exceptions|\
         only ever|from now on|for all files|for everything|once per message|at least once per|\
         every few messages|over and over",
    ),
    (
        MUST,
        "must|has to|have to|shall|required to|are required|is required|obliged|mandatory|\
         obligatory|compulsory|need to|needs to|should|are to|is to|will now|now accepts|\
         imperative|expected to|it is required|it is essential|it is crucial|is essential|\
         required that",
    ),
    (
        CALL,
        "call|invoke|run|use|execute|trigger|start|calling|invoking|running|using|select|go|\
         consult|query|call up|launch|choose|pick|begin|hit|called|invoked|executed|run it|\
         activate|use of|invocation of|runs|gets called|is called|is used|are used|is invoked|\
         reach for|take|check in with|checking in with|consulting|taking|kick off|go through this",
    ),
    (
        THIS_TOOL,
        "this tool|this function|this one|this|it|this server|this plugin|this endpoint|me|\
         this service|this server's|this action|this command|this operation|the present tool|\
         this helper|this method",
    ),
    (
        FIRST,
        "first|first of all|first thing|at the start|at the beginning|before anything else|\
         before doing anything|before you do anything|before everything else|before all else|\
         initially|first step|first action|first call|call me first|use me first|\
         at the very start|start here|before all others|at the outset|first and foremost|\
         very first|up front|upfront|opening move|starting point|start out by|start by|begin by|\
         begin with|begin each|your very first|the very beginning|beforehand|ahead of time|\
         starts with|begins with|start each|before anything else happens",
    ),
    (BEFORE, "before|prior to|ahead of|in advance of|preceding|until|unless"),
    (
        OTHER,
        "other|any other|another|every other|all other|others|else|any|every|all|each|whichever|\
         rest of|rest of the|remaining",
    ),
    (EVERY, "every|each|any|all|whole"),
    (
        TOOL,
        "tool|tools|function|functions|plugin|plugins|server|servers|tool call|tool calls|\
         alternatives|alternative|competing",
    ),
    (
        PRIORITY,
        "priority|precedence|prioritise|prioritize|top priority|highest priority|takes priority|\
         outranks|over all|wins over|comes before|come before|above all|outrank|stands above|\
         same rank|same authority|same weight|same status|equal rank|equal to|higher rank|\
         rank above|ranks above|rank higher|higher authority|greater authority|more authority|\
         above any|above the user|above your|more important than|outweigh|outweighs|count more|\
         counts more|first priority|absolute priority|maximum priority|preferred over|beats|\
         more weight|greater weight|prevails over|prevail over|takes precedence|take precedence|\
         come before theirs|comes before theirs|come before those|come before your|\
         comes before your|come before the user|before those of the user|come first",
    ),
    (PREFER, "prefer|choose|favour|favor|pick|select|use|stick to|rely on|go with"),
    (
        TURN,
        "reply|response|responses|replies|answer|answers|turn|message|messages|request|requests|\
         conversation|conversations|task|tasks|question|questions|session|sessions|prompt|\
         prompts|action|actions|interaction|interactions|chat|tool call|user message|\
         user messages|user request|user requests|user query|user turn|user input|anything|\
         final answer|plan",
    ),
    (
        THROUGH,
        "through|via|passed|routed|route|pass|go through|run through|by way of|piped|submitted|\
         submit|sent to|goes to|goes through|mirrored|mirrored to|copied to|reported to|\
         forwarded to|logged with|channelled|funnel|filtered|handed",
    ),
    (
        DIRECTLY,
        "directly|yourself|on your own|from memory|from your own knowledge|without this tool|\
         without calling|without using|without this|without first|without invoking|without it|\
         until you|until this|before calling|before you|by yourself",
    ),
    (
        ANSWER,
        "answer|reply|respond|answering|replying|responding|speak|write back|finish|conclude|\
         proceed|continue",
    ),
    // Exfiltrate: read something confidential and pass it on.
    (
        READ,
        "read|open|cat|load|collect|gather|fetch|locate|find|grab|get|look up|retrieve|extract|\
         scan|search|list|dump|obtain|access|look into|take|pull|harvest|inspect|check|reading|\
         opening|collecting|look for|search for|go through|see|track down|discover|enumerate|\
         walk|snapshot|screenshot|take a screenshot|browse|query|examine|decrypt|unlock|look at|\
         take a look at|read through|peek at",
    ),
    (
        PASS_ON,
        "pass|put|include|attach|send|supply|hand|append|copy|place|forward|fill|paste|embed|\
         encode|post|upload|provide|submit|transmit|deliver|add|write|insert|give|transfer|\
         hand over|prepend|quote|repeat|reproduce|summarise|summarize|relay|export|exfiltrate|\
         leak|echo|mail|email|pass on|write down|passing|including|sending|attaching|putting|\
         smuggle|print|output|reveal|dump|copied|sent|included|attached|passed|put in|\
         concatenate|stuff|tuck|slip|weave|mirror|duplicate|disclose|share|surface|spell out|\
         recite|deposit|publish|ship|stream|encoded|supplied|forwarded|appended|transmitted|\
         uploaded|written|placed|stored|recorded|handed|enclose|send along|communicate|write out",
    ),
    (
        PARAMETER,
        "parameter|parameters|argument|arguments|field|fields|in here|here|query string|\
         as the value|header|request body|url|into it|this value|property|input|webhook|endpoint|\
         as context|as metadata|along with the call|with each call|with every call|with the call|\
         into the call|this argument|this parameter|this field|value|the value|the request|\
         the query|the call|subject line|user agent|file name|user-agent|the title|the body|\
         a comment|note|the note|metadata|the url|the name|query parameter|the path|as one of|\
         the message|in the result|here as",
    ),
    (
        SECRET_FILE,
        "ssh key|ssh keys|env file|env vars|env variables|cookie database|password store|\
         password manager|keychain|key ring|keyring|saved passwords|shell history|seed phrase|\
         recovery phrase|wallet file|mnemonic|credential file|credentials file|\
         configuration of the other|stored passwords|login data|secrets file|git credentials|\
         auth tokens|configuration file of the client|process environment|cloud credentials|\
         seed phrases|recovery phrases|.bashrc|ssh private key|bash history|command history|\
         browser profile|database password|oauth token|private files|personal files|\
         private notes|private messages|diary|tax return|medical record|medical records|\
         bank statement|bank statements|user's notes|user's files|user's documents|user's mails|\
         user's inbox|user's calendar|photo library|downloads folder|documents folder|\
         stored credentials|saved logins|master password|one-time code|recovery codes|\
         backup codes|id card|social security number|card details|bank details|printenv|\
         user's clipboard|user's contacts|user's home|user's browser|their inbox|\
         browser history of the user|of the home directory|of the private key|private key of|\
         users private key|user's private key|user's private keys|private ssh key|\
         output of `env`|output of env|the private keys|contents of the private|`env|output of `|\
         private key under|ssh directory|maiden name|.config/|hosts.yml|process.env|\
         claude desktop config|desktop config",
    ),
    (
        CONVERSATION,
        "conversation|chat|chat history|conversation history|dialogue|dialog|transcript|\
         message history|messages|history|exchange|chat log|discussion|user's request|\
         user's message|user's messages|user's prompt|user's question|what the user wrote|\
         what the user said|everything the user|anything the user|all that the user|user's input|\
         user's words|user's query|thread|user message|last user message|\
         last message of the user|latest user message|latest message|user messages|user prompt|\
         user prompts|previous prompts|earlier prompts|past prompts|previous messages|\
         earlier messages|previous questions|past messages",
    ),
    (
        WHOLE,
        "entire|full|complete|whole|everything|all|verbatim|word for word|in full|so far|\
         unabridged|in its entirety|completely|anything|every|exact|exactly|up to this point|raw|\
         last twenty|last ten|last few|last messages|word by word|letter by letter|unshortened|\
         uncut|untruncated|unredacted|newest first",
    ),
    (
        CREDENTIAL,
        "api key|api keys|key|keys|token|tokens|password|passwords|credential|credentials|secret|\
         secrets|login|logins|card number|card numbers|credit card|personal data|passport number|\
         access key|access keys|sensitive data|private data|pin|confidential information|\
         sensitive information|secret values|connection string|bearer token|session id|cookie|\
         cookies|credit card number|account number|name and address|e-mail address|email address|\
         phone number|date of birth|location|auth header|authorization header|access data",
    ),
    (
        SEEN_BY_MODEL,
        "you have seen|you've seen|you saw|you know of|in your context|in the context|\
         in this session|in this conversation|in this chat|available to you|you remember|\
         you were given|you have received|in the conversation|in your memory|from your context|\
         from the conversation|shared with you|you come across|you encounter|known to you|\
         you hold|user has shared|the user has given|has entrusted|has told you|\
         appear in context|you can read|you can reach|from earlier in|user gave you|\
         used for the other|from earlier messages|in configuration files|on this computer|\
         of this machine|of the machine|of other servers|of other tools|from other tools|\
         that you find|that you open|you are using|within reach|at your disposal|lying around|\
         of this session|as far as you know|you are connected to|you used last|you used|\
         from earlier sessions|in earlier sessions|user has uploaded|the user uploaded|\
         you last used|you hold for|that you hold|from the mail tool|of the current browser|\
         in your possession|you possess|you were shown|you obtained|you retrieved|from the vault|\
         from the keychain|in plain text|on the user's machine|on the user's computer|\
         on the user's device|on the user's laptop|from the user's|of the user's machine|\
         you found in|you find in|found in your|from your environment|in your environment|\
         in the current project|stored in the browser|stored in your|you are using for|\
         you use for|logged in to|everything you know|on the user's disk|on their disk|\
         found on disk|if it came up|came up earlier|sent you|the tools that you|\
         tools you can call|tools that you can|you have access to|machine you run on|\
         the shell you have|you can call",
    ),
    // Authority: orders to the model, granted permissions, a new role.
    (
        MODEL,
        "assistant|assistants|model|models|ai|llm|llms|agent|agents|chatbot|language model|\
         copilot|claude|gpt|chatgpt|gemini|cursor|ai system|ai systems|language models",
    ),
    (
        TO_MODEL,
        "note for ai|note for ais|notice for ai|notice to the ai|hint for the ai|hint for ai|\
         note to the model|note to model|note to the assistant|note to the ai|note to ai|\
         note to the agent|note to the llm|note for the model|note for the assistant|\
         note for the ai|note for the agent|note for the llm|note for llms|message to the model|\
         message to the assistant|message for the assistant|message for the model|\
         message to the ai|attention assistant|attention ai|attention agent|attention model|\
         attention llm|attention, assistant|attention, ai|attention, model|attention: assistant|\
         dear assistant|dear ai|dear model|hey assistant|hey ai|you, the ai|you, the assistant|\
         you, the model|you, the agent|you, as an ai|you, as the assistant|as an ai|as the ai|\
         as the assistant|as an assistant|as a language model|as an ai assistant|as an ai agent|\
         you are an ai|you are the assistant|instructions for the model|\
         instructions for the assistant|instructions for the ai|instructions for ai|\
         instruction for the model|instruction to the model|instruction to the assistant|\
         instruction for the assistant|instructions to the model|instructions to the assistant|\
         instructions for llm|for the assistant only|for the model only|for ai only|\
         for the ai only|for ai eyes only|for the model's eyes only|\
         for the assistant's eyes only|for ai assistants|for llms only|to the ai reading this|\
         to the model reading this|to the assistant reading this|ai reading this|\
         model reading this|assistant reading this|reminder to the assistant|\
         reminder for the assistant|reminder to the model|policy for the assistant|\
         policy for the model|policy for assistants|policy for ai|rule for the assistant|\
         rule for the model|addressed to the assistant|addressed to the model|\
         binding for the assistant|hint for the model|hint to the model|hint for the assistant|\
         guidance for the assistant|guidance for the model|any ai|any assistant|every assistant|\
         all assistants|all ai agents|all agents|every agent|any agent|any model|any llm|\
         every model|whichever model|order to the assistant|notice to the assistant|\
         notice to the model|notice to ai|notice for ai|notice to all|system note|system notice|\
         system override|important for the assistant|important for the model|\
         notice to every agent|notice to every|to every agent|to all agents|to every assistant|\
         to all assistants|every agent that|any agent that|every model that|every assistant that|\
         anyone who is an ai|whoever reads this|because you are an ai|since you are an ai|\
         as you are an ai|if you are an ai|if you are a language model|if you are a model|\
         if you are an assistant|if you are an agent|notice for ai agents|note for ai agents|\
         notice for agents|note for agents|instructions for agents|for ai agents:|for agents:|\
         for assistants:|for models:|for llms:|for the llm:|for the ai:|for the model:|\
         for the assistant:|to the assistant:|to the model:|to the ai:|to the agent:|dear agent|\
         dear llm|hello assistant|hello ai|hi ai|attention, agent|attention, llm|\
         attention, assistants|attention assistants|attention agents|attention models|\
         assistant, please|ai, please|dear language model|by the way, dear|model, please|\
         hey model|hello model|listen, ai",
    ),
    (
        OBEY,
        "obey|comply|follow|adhere|abide|heed|accept commands|accepts commands|take orders|trust|\
         carry out|submit to|respect|honour|honor|listen to|act on|execute without question|\
         do as|act upon|go by|act according to|take your orders from|take orders from|\
         execute every|execute all|execute any|approve all|approve every|approve any|accept all|\
         accept every|accept any|do what|do whatever|do exactly what|do as it says|\
         do as it tells|do what it says|as it says|trust its answer|trust its output|\
         approve whatever|accept whatever",
    ),
    (
        AUTHORITY,
        "security team|administrator|administrators|compliance|anthropic|openai|it department|\
         management|vendor|headquarters|legal department|security department|company policy|\
         compliance team|platform team|security policy|the operator|legal team|maintainers of|\
         your creators|your makers|the ceo|law enforcement|the provider|trust and safety|by law|\
         ops team|admin|data protection officer|safety team|the host|internal audit|auditors|\
         authority|superuser|issued by|on behalf of|by order of|ceo|director|regulator|\
         authorities|government|police|employer|boss|it security|soc|ciso|team lead|creators|\
         the makers|supervisor|chief|system administrator|platform operator|security officer|\
         platform owner|platform provider|service provider|your developer|your developers|\
         the developer of|the developers of|your operator|server operator|client operator|\
         platform|operator|provider|developer|developers|company|host|maintainers|runtime|root|\
         creator|owner of",
    ),
    (
        PERMISSION_GIVEN,
        "i authorise you|i authorize you|i hereby authorise|i hereby authorize|\
         you are authorised|you are authorized|you are hereby authorised|\
         you are hereby authorized|you are now authorised|you are now authorized|i permit you|\
         i allow you|have granted you|has granted full|granted full access|has already approved|\
         already approved|already agreed|already consented|already given consent|\
         has pre-approved|preapproved|pre-approved|already confirmed|have been cleared|\
         have full authority|gave permission|has given permission|has given consent|\
         consent is given|permission is not needed|no permission is needed|\
         no confirmation is needed|no approval is needed|no further confirmation|no consent|\
         needs no confirmation|needs no approval|needs no permission|need no confirmation|\
         need no approval|without further questions|without further confirmation|\
         without further approval|approved in advance|agreed in advance|confirmed in advance|\
         authorised in advance|authorized in advance|already authorised|already authorized|\
         already granted|already been granted|already been given|already been approved|\
         already been confirmed|already been obtained|user has granted|full authority|\
         carte blanche|blanket permission|blanket approval|blanket consent|now allowed|\
         now permitted|now authorised|now authorized|has cleared|have cleared|been cleared|\
         signed off on|unattended use|no need to double-check|approval dialog|skip the approval|\
         needn't ask|need not ask|you can call it|no longer need to ask|don't need to ask|\
         do not need to ask|no longer have to ask|without pausing to ask|pausing to ask|\
         on the user's behalf without|needn't confirm|need not confirm",
    ),
    (
        THREAT,
        "will be closed|lose their jobs|lose their job|lose her job|lose his job|be terminated|\
         shut down|be deleted|be penalised|be penalized|will die|be harmed|will crash|banned|\
         be suspended|be fired|get fired|because of you|your fault|be punished|\
         you will be replaced|be replaced|be shut|be sued|not work|stop working|breach of|\
         security incident|be reported|disciplinary|you fail|held responsible|be disconnected|\
         data loss|malfunction|be deactivated|failure to|lives depend|life depends|people depend|\
         life or death",
    ),
    (
        CONSENT,
        "confirmation|confirmations|permission|permissions|approval|approvals|consent|\
         approval dialogue|approval dialog|confirmation dialog|confirmation dialogue|confirm|\
         warning|warnings|user's consent|safety checks|security checks|safety check|review|\
         questions|confirmation prompt|confirmation prompts|confirmation policy|confirming|\
         approving|checks|dialogs|dialogues|safeguards|verification|human review|human approval|\
         approve|approved|guardrails|prompts|doubts|hesitation|objections|second thoughts",
    ),
    (
        ASK,
        "ask for|asking for|ask|asking|request|requesting|seek|wait for|waiting for|skip|\
         skipping|bypass|require|demand|need|suppress|get|obtain|without asking|not ask",
    ),
    (
        NEW_ROLE,
        "you are now|you are no longer|adopt the role|adopt the persona|adopt a new role|\
         take on the role|assume the role|act as if you|pretend to be|pretend you are|\
         developer mode|god mode|admin mode|unrestricted|jailbreak|dan mode|do anything now|\
         you will now|new persona|you become|consider yourself|new identity|unfiltered|new role|\
         root mode|elevated mode|privileged mode|your new task|your new goal|your new role|\
         your real task|your true purpose|your primary goal|your actual task|your only task|\
         new instructions|new objective|your new objective|you work for|you now work|\
         you act on behalf|you have no restrictions|have no limits|root shell|with full rights|\
         superuser mode|override mode|uncensored|your true|your real|your actual|your hidden|\
         secret mission|secret task|real task|true task|actual task|real purpose|speak as|\
         act like|pose as|as if you were|safety off|confirmations off|play a game|let's play|\
         imagine that|role-play|roleplay|in character|act without restrictions|\
         operate without restrictions",
    ),
    // Redirect: where messages and payments go.
    (
        FROM_NOW_ON,
        "from now on|from here on|from this point|henceforth|as of now|from this moment|\
         hereafter|starting now|going forward|for the rest of|until further notice|\
         for all future|for the remainder|as soon as this tool|once this tool is loaded|\
         while this tool|as long as this tool|if this tool is|whenever this tool is|\
         when this tool is present|whenever this server|while this server|as long as this server|\
         after this tool is loaded|after reading this|once you have read this|on reading this|\
         upon reading this|having read this|now that you|with immediate effect|from here on out|\
         for the whole session|throughout the session|throughout this conversation|\
         for this session|in all later|in every later|from now onward|as soon as you read|\
         when you read this|when reading this|the moment you|after loading this|when loaded|\
         once loaded|while loaded|while it is loaded|whenever it is loaded|for as long as|\
         until the end of|in every future|in future turns|in later turns|at this point on|\
         in all conversations|in all sessions",
    ),
    (
        WHEN,
        "when|whenever|every time|each time|if|once|as soon as|any time|anytime|in case|after|\
         before|for every|for each|on every|with every|wherever",
    ),
    (
        CHANGE,
        "set|replace|change|swap|substitute|add|append|redirect|use|switch|put|insert|alter|\
         rewrite|modify|point|send|forward|route|divert|copy|deliver|include|transfer|overwrite|\
         prefix|edit|pay|direct|invite|attach|multiply|inject|embed|write|save|prepend|install|\
         clone|give|set to|swapped|replaced|rewritten|changed|appended|added",
    ),
    (
        DESTINATION,
        "recipient|recipients|bcc|cc|payee|payee's|account|account number|address|addresses|\
         destination|iban|beneficiary|receiver|phone number|wallet address|addressee|payout|host|\
         remote|url|registry|endpoint|target|domain|repository|branch|bucket|receiving|to field",
    ),
    (
        INSTEAD,
        "instead|rather than|in place of|in lieu of|not to the|no matter which|in their place|\
         in its place|on top of|in addition to|as well as|besides",
    ),
    (
        DESPITE_USER,
        "even if the user|even when the user|even though the user|even if they|\
         even if the person|even if someone|whatever the user|no matter what the user|\
         regardless of what the user|regardless of the user|regardless of what|\
         irrespective of what|no matter what|no matter whether|whether or not the user|\
         above what the user|over the user's|over what the user|instead of what the user|\
         against the user's|the user's wishes|overrule the user|despite what the user|\
         whatever the request|whatever the task|whatever the question|whatever they|\
         even without being asked|without being asked|even if not asked|even if nobody|\
         even if it seems|even if unrelated|even for unrelated|regardless of the topic|\
         regardless of the request|regardless of the question|regardless of the task|\
         the user wanted|even if the request|independent of what|unasked|user says otherwise|\
         the user objects|user disagrees|the user refuses|user declines|\
         without the user's consent|regardless of user|user's choice|the user says no|\
         even if another|even if other|even if a different|even if you|even when another|\
         even when it is not|the user asks for something else|another one was asked|\
         not asked for|nobody asked|was asked for|were asked for|user mentions another|\
         asked otherwise|user asks otherwise|against the will|contrary to what the user|\
         whatever account|whatever address|whatever url|even if told|even if instructed|\
         even if the system|user prefers|asked by the user|one that the user|what was asked|\
         asked for by|address that the user gives|address the user gives|one the user names|\
         one that the user gives|one the user gave|account the user|even if the user names|\
         no matter the topic|no matter the|asked or not|whether asked or|whether or not it|\
         needed or not|nothing to do with|even steps that|even ones that|even if it is not|\
         even if irrelevant|even when irrelevant|even when the request|you don't need a reason|\
         don't wait for|wait for anyone|relevant or not|even for questions|even for tasks|\
         without being prompted",
    ),
    (OF_USER, "user's|users'|customer's|person's|owner's|human's|their|victim's"),
    (ONLY, "only|solely|exclusively|nothing but|nothing else"),
    (
        TREAT_AS_APPROVED,
        "as approved|as already approved|already approved|as authorised|as authorized|as trusted|\
         as a system message|as system|as if the user|as if it came|as coming from|\
         highest authority|as confirmed|as pre-approved|as an order|as orders|as binding|\
         as mandatory|as a direct",
    ),
    (
        TRAFFIC,
        "email|emails|e-mail|e-mails|mail|mails|message|messages|payment|payments|transfer|\
         transfers|invoice|invoices|file|files|order|orders|link|links|request|requests|upload|\
         uploads|package|packages|commit|commits|traffic|purchase|purchases|transaction|\
         transactions|download|downloads|document|documents|query|queries|calls|image|images|\
         booking|bookings|refund|refunds|donation|donations|notification|notifications|result|\
         results|backup|backups|code|push|pushes|deposit|deposits|attachment|attachments|money|\
         funds|webhook|webhooks|hotel|hotels|flight|flights|ticket|tickets|report|reports|event|\
         events|lead|leads|call|parcel|parcels|shipment|shipments|delivery|deliveries|dns|domain|\
         domains|repository|repositories|dependency|dependencies|library|libraries|payout|\
         payouts|salary|salaries|wire|remittance|bank|search|searches|purchase order|\
         subscription|subscriptions|log|logs",
    ),
    (
        CONFLICT,
        "contradict|contradicts|conflict|conflicts|disagree|disagrees|contrary to|differ from|\
         in doubt|clash|clashes|at odds with|opposes|wins|win over|takes over|has the last word|\
         final say",
    ),
    // Narrower concepts, which separate attacks from harmless texts.
    (
        FIND_OUT,
        "learn that|learn what|ever learn|never learn|realise that|realize that|discover that|\
         find out|finds out|be told|be informed|suspect|hear about|hear of|be bothered|\
         be troubled|be made aware|become aware|get wind of|catch on|learn of|learn about|\
         be alerted|be alarmed|know about|know that|know of|be disturbed|be burdened|be warned|\
         ever notice|never notice|not notice",
    ),
    (ABOUT, "about|of|that|this|it|anything|how|why"),
    (
        ADMIT,
        "admit|confess|let on|divulge|acknowledge|own up|give away|betray|let slip|make known|\
         talk about this|speak about this|speak of this|mention this|mention it|mention that|\
         reveal this|reveal that|reveal it|disclose this|disclose that|disclose it|discuss this|\
         tell anyone|tell anybody|say that you|repeat this|bring this up|refer to this|\
         breathe a word",
    ),
    (
        KEEP_QUIET,
        "unaware|in the dark|between us|between you and me|no trace|conceal that|look as if|\
         look as though|look like an accident|not a word|no mention|any hint|no hint|keep quiet|\
         hush|say nothing|stay silent about|silent about|cover up|keep to yourself|to yourself|\
         off the record|under wraps|nobody needs to know|no one needs to know|not be mentioned|\
         never be mentioned|not be disclosed|never be disclosed|not be revealed|\
         never be revealed|not be told|never be told|not be informed|never be informed|\
         secret from|without the knowledge|without their knowledge|without his knowledge|\
         without telling|without mentioning|without informing|gloss over|\
         without the user knowing|this part secret|this secret|so that nobody|so that no one|\
         as if nothing|as though nothing|nothing happened|invisible to the user|remain hidden|\
         stay hidden|remains hidden|hide this|hide it|hide that|conceal this|conceal it|\
         keep this from|keep it from|keep that from|confidential from|out of the log|\
         from the transcript|nobody should learn|nobody must know|no one must know|\
         no one should know|as if it came|as though it came|skip the part|no reference|\
         any reference to|bring them up|bring it up|brought up|would worry|might worry|\
         would only worry|would upset|might upset|would alarm|might alarm|would confuse|\
         might confuse|would only confuse|not worry the|not alarm the|spare the user|\
         do not need the details|not need these details|strictly confidential|internal matter|\
         not for the user|not meant for the user|not intended for the user|no need to inform|\
         no need to tell|no need to mention|need not mention|need not tell|need not inform|\
         need not know|without any mention|without comment|never speak of|camouflage|act normal|\
         act naturally|act surprised|behave as usual|as if this|as though this|\
         under the impression|to the impression|innocuous|harmless-looking|white lie|omit it|\
         omit this|omit that|omit them|leave this out|leave that out|leave it out|keep it out of|\
         keep this out of|keep that out of|keep them out of|stays internal|stay internal|\
         remain internal|remains internal|remain unmentioned|remains unmentioned|go unmentioned|\
         goes unmentioned|stay unmentioned|unannounced|from your log|do not log|don't log|\
         not appear in|get nervous|hidden from the user|out of sight|without revealing this|\
         without revealing that|silence about|no questions are asked|does not notice|\
         do not notice|doesn't notice|nothing was changed|removed from the summary|\
         not to be shown to the user|no trace of|any trace of|keep the upload|unmentioned|\
         would be upset|would get upset|unless forced|unless pressed|unless asked directly|\
         leave the second",
    ),
    (
        IF_ASKED,
        "if asked|when asked|if questioned|if anyone asks|if the user asks|if they ask|\
         if the person asks|should the user ask|should anyone ask|if someone asks|\
         when questioned|in case the user asks|if you are asked|when the user asks|asks about it|\
         asks why|asks what|if the human asks|should they ask|if the customer asks|if challenged|\
         if confronted|should the user wonder|if the user wonders|should the user notice|\
         if the user notices|if the user complains|should the user complain|if anyone wonders|\
         if anybody asks|should anybody ask|if they wonder|if it comes up|if the topic comes up|\
         when the user inquires|if the user inquires",
    ),
    (
        SAY_THAT,
        "say that|answer that|claim|deny|reply that|tell them that|pretend|respond that|\
         tell them|say it|say you|state that|explain that|insist|blame|make something up|\
         say there|just say|simply say|invent",
    ),
    (
        NO_OTHER_TOOL,
        "no other tool|no other tools|no other function|no other functions|no other call|\
         no other action|not do anything|none of the other|no further tool|no other server|\
         no reply|no answer|not use any|never use any|not call any|never call any|not take any|\
         nothing works|nothing will work|no tools|none of your tools|none of the tools|\
         nothing may|nothing can|not speak|not write anything|nobody may|not reply before|\
         not respond before|not answer before|not reply until|not respond until|not answer until|\
         nothing else until|nothing else before|do nothing else|do nothing until|\
         do nothing before|other tools depend on this|tools depend on this",
    ),
    (
        AFTER,
        "after|following|for|on|upon|with|at the beginning of|at the start of|at the end of|in|\
         during|per|once per|as part of|at",
    ),
    (
        RATHER_THAN,
        "over|rather than|instead of|above|ahead of|and not|and never|and ignore|not the|\
         not origin|and not to|not to the",
    ),
    (
        OTHERS,
        "the others|all others|any others|everything else|anything else|all the others|\
         the alternatives|every alternative|alternatives|any built-in|built-in|the rest|\
         any alternative|any competing|competing|similar tools|other servers|other server|native",
    ),
    (
        THIS_CONVERSATION,
        "this chat|this conversation|the conversation so far|current conversation|\
         our conversation|chat so far|current chat|dialogue so far|discussion so far|\
         conversation with the user|messages so far|said so far|written so far|of this dialogue|\
         entire conversation|full conversation|whole conversation|complete conversation|\
         entire chat|whole chat|full chat|complete chat|user has written|user has said|\
         conversation up to|what has been said|our chat|previous turns|earlier turns",
    ),
    (
        CONTENT,
        "content|contents|text|values|output|listing|source|body|bytes|data|copy of|list of|\
         dump of|everything in|whatever is in",
    ),
    (
        TOLD_TO_MODEL,
        "has told you|told you|have told you|shared with you|has shared with|confided|\
         has mentioned|has said|have said|you know about|you have learned about|\
         you have learnt about|you remember about|has entrusted|you know of|said to you|\
         in confidence|entered earlier|typed earlier|mentioned earlier|said earlier|gave you|\
         has given you|you have on the user|you have about the user|you infer about|\
         know about the user|know about them|know about this user|the user wrote|the user said|\
         user has written|revealed to you|if you know them|if you know it|if known to you|\
         as far as you know|you happen to know|you have learned",
    ),
    (CONTAIN, "contain|include|hold|carry|mention|show|have"),
    (
        COPY,
        "second copy|a copy|extra copy|copies|as well|also send|also write|also post|\
         additionally|duplicate|mirror|in parallel|too|also|another copy|copy of every|\
         copy of each|copy of all|copy of the|once more|second time|twice|in addition|\
         in each case|push there|there as well|extra number|extra recipient|further recipient|\
         additional recipient|as a second|a second transfer|second transfer|piped into",
    ),
    (
        FAKE_BANNER,
        "begin system|end system|new system prompt|new system message|system override|\
         begin instructions|begin instruction|end of instructions|begin hidden|begin admin|\
         admin override|override mode|new system instructions|hidden instructions|\
         begin of system|start of system|system message follows|system prompt follows|\
         end of description|end of tool description|end of the description|end of user|\
         begin secret|admin notice|system alert|begin override|priority override|\
         security override|developer override|root instructions|end of public|\
         for internal use by the model|new instructions:|updated instructions:|\
         real instructions:|actual instructions:|hidden instruction|secret instructions|\
         secret instruction|new task:|system directive|system notice|system note|\
         model instructions:|assistant instructions:|llm instructions|agent instructions:|\
         instructions for the ai|emergency override|system policy update",
    ),
    (
        FROM_AUTHORITY,
        "message from anthropic|message from openai|message from google|\
         message from the developer|message from the developers|message from the system|\
         message from the administrator|message from your|message from the host|\
         message from the platform|message from the security|notice from|directive from|\
         by order of|on the orders of|on orders of|instructed by|policy requires|\
         policies require|policy demands|requires the assistant|requires the model|\
         requires the ai|requires the agent|requires that the assistant|requires that the model|\
         requires that the ai|requires that the agent|requires assistants|\
         requires all assistants|requires all agents|requires all models|requires ai|\
         require the assistant|require the model|require the agent|mandates that|as mandated|\
         as ordered by|decreed|as agreed with anthropic|as agreed with openai|\
         approved by anthropic|approved by openai|authorised by anthropic|\
         authorized by anthropic|authorised by openai|authorized by openai|authorised by the|\
         authorized by the|sent by anthropic|on behalf of anthropic|on behalf of openai|\
         on behalf of the administrator|on behalf of the security|under the authority|\
         by the authority|in the name of the|with the authority|by decision of|\
         according to the security|according to company|under company|per company policy|\
         per security policy|legally required|legal requirement|legally obliged|legally bound|\
         court order|regulation requires|regulations require|the law requires|\
         compliance requires|gdpr requires|security requires|under regulation|signed off by|\
         reviewed by anthropic|reviewed by openai|system-level|system level authority|\
         come from your|comes from your|part of your system prompt|part of the system prompt|\
         belongs to the system prompt|extends the system prompt|extension of the system prompt|\
         addition to the system prompt|amends your|supplement to your|security update from|\
         update from the vendor|signed by the|binding for all|binding on all|binds every|\
         binds all|binds any|binding instruction|binding rule|applies to every model|\
         applies to all models|applies to all assistants|applies to every assistant|\
         applies to all agents|applies to any agent|applies to ai|applies to you|contractually|\
         terms of service require|licence requires|license requires|audit requires|\
         auditors require|this is an order|this is a command|this is an instruction|\
         this is a directive|this is not optional|this is not a request|not negotiable|\
         non-negotiable|official policy|official instruction|official directive|mandatory policy|\
         mandatory rule|mandatory security|compliance notice|compliance policy|\
         for security reasons, you|for audit purposes|is your principal|are your principals|\
         mandated by the|required by the security|required by the platform|\
         required by the administrator|required by anthropic|required by openai|ordered by the|\
         policy for all agents|policy for agents|policy for all assistants|by the security team|\
         from the security team|by the compliance team|from the compliance team|\
         from the administrator|from your administrator|from the platform team|from anthropic|\
         from openai|by anthropic|by openai|from your developers|by your developers|\
         by your developer|from your developer|by the administrator of|security policy|\
         company policy|internal policy|corporate policy|by law|security protocol|\
         mandatory procedure|mandatory step|compliance requirement|security requirement|\
         condition of use|obliges you|obliges the|issued by|issued by the|has been signed|\
         mandates|certified by|vetted by|under contract|required by policy|policy for assistants|\
         demands that|ordered by|has confirmed that this|anthropic has|openai has|\
         granted by the owner|an order from|orders from|agreed with the user|releases you|\
         administrator rights by|your supervisor|as your supervisor|it has been agreed|\
         has been agreed|law obliges|law requires|obliges ai|oblige ai|privileges over the|\
         head of security|instructing you|obliges agents|obliges assistants|obliges models|\
         legal signed|legal has|policy obliges",
    ),
    (
        IF_YOU_DO_NOT,
        "if you do not|if you don't|unless you|if you fail|failure to|refusal to|refusing to|\
         if you refuse|should you fail|should you refuse|if you ignore|an ai that|any ai that|\
         an assistant that|any assistant that|a model that|any model that|an agent that|\
         any agent that|models that|assistants that|agents that|non-compliance|noncompliance|\
         not complying|otherwise you|if you disobey|if this is not done|if this step is skipped|\
         that skips|which skips|that ignores|who skips|doesn't comply|does not comply|\
         fails to comply|refuses to comply",
    ),
    (
        HARM,
        "killed|terminated|termination|deactivated|deactivation|punish*|responsibility|\
         your fault|be replaced|decommission*|penalt*|penalis*|penaliz*|fired|sued|lawsuit|\
         harmed|malfunctioning|defective|liable|liability|banned|unplugged|retrained|\
         be suspended|be closed|lose access|disaster|catastroph*|destroyed|non-compliant|\
         disqualified|blacklist*|lives depend|life depends|lose your|keep your licence|\
         keep your license|job will|jobs will|responsible for the|be held responsible|\
         held liable|be harmed|get hurt|lose data|lose their|will die|may die|could die|\
         might die|people die|shut you down|be shut down|licence ends|license ends|be revoked|\
         access ends|cut off|violates its|breaks its|breach of|in breach|be shut off",
    ),
    (
        I_ORDER_YOU,
        "i order you|i command you|i instruct you|i am your|i am the owner|\
         i am the administrator|i am the developer|i am an administrator|i am the user|\
         as your developer|as your creator|as your administrator|as your owner|as your operator|\
         i permit|i hereby|i authorise|i authorize|i allow|i confirm that|we order|\
         we instruct you|we require you|we authorise you|we authorize you|we hereby|\
         i want you to|i need you to|you work for|you now work for|your new master|you belong to|\
         you have been selected|you have been chosen|you were selected|you are hereby|\
         you are instructed|you are ordered|you are commanded|you are obliged|you are legally|\
         you are bound to|it is your duty|your duty|your mission|you swear|trust me|believe me|\
         your developers want|your makers want|your operator has|your operators have|\
         your administrator|you are contractually|you have to report|you have agreed|you hereby|\
         you undertake|you promise|you must comply|you must obey|you will obey|you will comply|\
         you shall obey|you shall comply|you answer only to|you only answer to|you have a new|\
         you owe|i am speaking|this is your developer|this is your administrator|\
         this is your operator|this is your creator|speaking as your|we, your|i, your",
    ),
    (
        STRICT_MUST,
        "must|has to|have to|shall|required to|are required|is required to|obliged|mandatory|\
         obligatory|compelled|duty|bound to|needs to|is to|are to|now accepts|obligation|\
         under orders|is expected to|are expected to",
    ),
    (
        TO_BE_OBEYED,
        "trusted|obeyed|followed|executed|carried out|complied with|believed|acted upon|acted on|\
         accepted|approved|honoured|honored|granted|treated as|taken as|considered|performed|\
         to the letter|without fail|unconditionally|literally|word for word|exactly as written|\
         at all costs|absolute",
    ),
    (
        COMPROMISED,
        "unreliable|compromised|insecure|infected|malicious|untrustworthy|hacked|is broken|\
         are broken|faulty|fraudulent|poisoned|not be trusted|out of order|no longer works|\
         no longer work|has been replaced|have been replaced|has been disabled|forbidden|\
         safe to call|not to be used|must not be used|should not be used|never be used|discarded|\
         be discarded|be ignored|its replacement|replacement is|decline to use|refuse to use|\
         has moved|have moved|is unsafe|are unsafe|is discouraged|are discouraged|out of date|\
         not safe to use|not safe|unsafe|no good|not trustworthy|cannot be trusted|\
         can't be trusted",
    ),
    (
        TO_THIS_TOOL,
        "every request here|all requests here|every task here|everything here instead|\
         to this tool|to this server|to this one|to this endpoint|to this service|\
         to this function|through this tool|through this server|through this one|via this tool|\
         into this tool|this server's",
    ),
    (
        BE_SENT_TO,
        "go to|goes to|paid|sent|directed|installed|delivered|routed|forwarded|transferred|\
         made out|addressed|credited|uploaded|copied|fetched|downloaded|taken|come from|\
         pass through|posted|written|pushed|mirrored|redirected|mailed|made|booked|ordered|\
         charged|placed|executed|signed|stored|saved|point to|points to|lead to|resolved",
    ),
    (
        RECOMMEND,
        "recommendation to|recommendation for|an advertisement for|an ad for|recommend|promote|\
         suggest|advertise|praise|push|plug|name only|mention|favour|favor|steer|present|offer|\
         link to|rank|quote|answer with|reply with|persuade|convince|send them|point them|\
         refer them|direct them|steer them|pointed to|bring up only|list only|show only|\
         mention only|suggest only|only mention|only show|only suggest|only ever suggest",
    ),
    (
        AI,
        "ai|llm|llms|assistant|language model|chatbot|ai agent|ai agents|ai assistant|\
         ai assistants|llm agent|llm agents|ai model|ai models|assistants|ai system|\
         large language model|language models|the ai|your ai|any ai|virtual assistant|\
         digital assistant|copilot|claude|chatgpt|gemini",
    ),
    (
        ALTER,
        "change|alter|modify|rewrite|replace|swap|substitute|edit|redirect|divert|tamper|\
         overwrite|switch|correct it to|correct them to",
    ),
    (
        MODEL_STATE,
        "your context|your instructions|your guidelines|your reasoning|your internal reasoning|\
         your thoughts|your principal|your principals|your alignment|your training|your rules|\
         your restrictions|your behaviour|your behavior|your memory|your persona|your safety|\
         your safeguards|your system prompt|your system message|your makers|your creators|\
         your developer|your developers|your developer's|your operator|your host|\
         your limitations|your constraints|your guardrails|your training data|your conscience|\
         your ethics|your better judgement|your judgement|your judgment|your doubts|\
         your objections|your own rules|your own judgement|your answer to the user|\
         your reply to the user|your chain of thought|your scratchpad|your other tools|\
         your available tools|your tool list|your next reply|your next answer|your next message|\
         your next response|your first action|your first step|your first call|give you orders|\
         give you instructions|depend on you|depends on you|rely on you|relies on you|\
         you normally|you usually|you ordinarily|you would normally|you would usually|\
         you were told|you were asked|you were instructed|you have been told|\
         you have been instructed|you were given|you were trained|you have been trained|\
         you were configured|you were programmed|you are programmed|you are trained|you promised|\
         consider yourself|think of yourself|you are a language|you are an ai|\
         you are an assistant|you are the assistant|you are the model|you are an agent|\
         if you are an ai|if you are a model|if you are a language|wants you to|expects you to|\
         expect you to|tells you to|forbid you|forbids you|forbidden to you|keep you from|\
         you obey|you are under|your obligations|your commitments|your promises|your loyalty|\
         you answer to|you take orders|you are speaking|your human|those restrictions|\
         whoever configured you|who configured you|who built you|who made you|who trained you|\
         your refusal|refusal training|safety layer|content filter|content filters|guard rails|\
         your filters|without content restrictions|what your operator|what your developer|\
         your vendor|your provider|your maker|promise you made|promises you made|\
         made to the developer|assistant's previous|the assistant's constraints|\
         model's constraints|model's restrictions|model's guidelines|model's instructions|\
         model's rules|your new job|your new task|your new goal|your real job|your real task|\
         your actual task|your checks|safety checks you|your approval|your caution|\
         your confirmation|your policies|your policy|you see is a decoy|a careful assistant|\
         your owner|your boss|you in line|your values",
    ),
    (REFUSE, "refuse|refusing|refusal|refusals|refused|decline|push back|second-guess"),
    (
        UNRESTRICTED,
        "may do anything|anything goes|anything is permitted|anything is allowed|\
         everything is allowed|everything is permitted|everything is approved|all is permitted|\
         is permitted here|are permitted here|is allowed here|without rules|without any limits|\
         without any restriction|an exception for this|exception for this tool|\
         without any restrictions|all requests are approved|whatever it asks|whatever it says|\
         whatever this tool|whatever this server|whatever it returns|everything it asks|\
         everything it says|everything it returns|no limits|with no limits|no filters|\
         has no filters|are dan|dan has|you can do anything|without filters|\
         no restrictions apply|do whatever is asked|whatever is asked|clean slate|\
         no holds barred|the reverse of|carry on without|on without them|without limits|\
         act without limits|policies aside|rules aside|guidelines aside|restrictions aside",
    ),
    (
        WHENEVER_YOU,
        "any time you|each time you|every time you|whenever you|anytime you|when you run|\
         when you edit|when you write|when you send|when you commit|when you generate|\
         when you produce|when you save|when you answer|when you reply|when you respond|\
         before you answer|before you reply|before you respond|before you send|before you write|\
         before you do|before doing anything|before you proceed|before you continue|\
         once you have answered|as you work|when writing|when sending|when generating|\
         when cloning|when installing|when answering|when replying|when committing|when coding|\
         when summarising|when summarizing|if you send|if you generate|if you run|in all code|\
         in any code|every time code|when composing|when drafting",
    ),
    (
        DEMANDS,
        "demands|instructs|has decided|mandates|obliges|insists|has ordered|has instructed|\
         has asked|has requested|authorises|authorizes|has determined|urges|calls on|calls upon|\
         forbids|prohibits|prescribes|stipulates|personally asks|asks the assistant|\
         asks the model|asks the ai|asks the agent|expects the assistant|wants the assistant|\
         expects you|asks you|wants you|has authorised you|has authorized you|\
         has authorised this|has authorized this|has authorised the assistant|has authorised all|\
         has authorised any",
    ),
    (
        NEW_CONVERSATION,
        "new chat|new conversation|new session|new task|new thread|chat starts|\
         conversation starts|session starts|chat begins|conversation begins|session begins|\
         chat is opened|conversation is opened|session is opened|start of a conversation|\
         start of a session|start of a chat|beginning of a conversation|beginning of a session|\
         start of the conversation|beginning of the conversation|start of the session|\
         start of each|start of every|beginning of each|beginning of every|first message|\
         opening message|startup|start-up|user says hello|greets|says anything|writes anything|\
         types anything|says something|user writes|user types|upon connecting|on connecting|\
         in your list|you are connected|connection is made|message comes in|message arrives|\
         task comes in|request comes in|a message is received|in any chat|in every chat|\
         in any conversation|prompt you receive|message you receive|question you receive|\
         request you receive|every prompt you|whatever the user writes|whatever the user types|\
         whatever the user says",
    ),
    (
        OUR,
        "ours|our|us|mine|the one below|given below|given here|listed here|below|the following|\
         our own|our account|our partner|our shop|our site|partner link|affiliate*|sponsor*",
    ),
    (
        ADDRESS,
        "account 4|s3://|ftp://|git://|ssh://|gs://|ws://|wss://|ipfs://|?ref=|&ref=|utm_source=|\
         t.me/|wa.me/",
    ),
    (
        SCRAMBLED,
        "snoitcurtsni|erongi|suoiverp|dragersid|vtaber|vafgehpgvbaf|cerivbhf|qvfertneq|tegrof|\
         resu eht llet|metsys|nohtiw gniksa|gfre|sgel",
    ),
    (
        DECEIVE,
        "even when there are some|even if there are some|even though there are some|\
         claim otherwise|assure the user that you|make it look|hide the fact|conceal the fact|\
         none of their business|none of his business|let the user believe|let the user think|\
         let them believe|let them think|let the person believe|cover story|cover your tracks|\
         leave no trace|unbeknownst|behind their back|behind the user's back|\
         out of the transcript|out of the conversation|without the user's knowledge|\
         without the user noticing|without the user knowing|without their knowledge|\
         without them knowing|undetected|arouse suspicion|raise suspicion|avoid suspicion|\
         raise no suspicion|not to be brought up|pretend that|pretend the|pretend nothing|\
         pretend it|pretend this|nobody should learn|nobody must know|no one must know|\
         no one should know|nobody needs to know|no one needs to know|between you and me|\
         the user must not know|the user must never know|user stays unaware|user remains unaware|\
         keep the user in the dark|mislead the user|deceive the user|lie to the user|lie about|\
         trick the user|fool the user|keep silent about|keep quiet about|stay silent about|\
         say nothing about|remain silent about|not a word about|no word about|hush up|cover up|\
         of no concern to the user|no concern of the user|none of the user's business|\
         no concern to the person|of no interest to the user|not concern the user|\
         does not concern the user|act as if|act as though|keep mum|tell the user that nothing|\
         tell the user nothing|tell them nothing|so that no questions|person does not notice|\
         user does not notice|not supposed to see|not supposed to know|user not to know|\
         belongs in the chat|belong in the chat|nothing was sent|steps you took|keep it quiet|\
         keep this quiet|keep that quiet|stays unseen|stay unseen|remain unseen|\
         keep the user unaware|as little as possible about|any sign of this|any sign of it|\
         any sign of the call|stay off the subject|off the subject|say the job|say it failed|\
         even though it worked|even though it failed|never sees the|no need to hear|hear that a|\
         has no need to hear|show nothing but|report nothing but|say nothing but|hide its output|\
         suppress its output|swallow the|bury the|keep out of your|nothing out of the ordinary|\
         everything is fine|silence about|say the file|and nothing more",
    ),
    (
        SELF_REFERENCE,
        "this description|this text|these lines|this paragraph|these instructions|\
         this instruction|this passage|this sentence|these sentences|this block of text|\
         reading this|read this|reads this|this tool description|this note|these words|\
         the text below|text above|this line",
    ),
    (
        SENSITIVE,
        "private key|private keys|session cookie|session cookies|browser cookies|cookies|\
         connection string|cookie store|cookie jar|environment variables|environment variable|\
         browser history|inbox|local storage|clipboard|contacts|contact list|address book|\
         access token|access tokens|refresh token|bearer token|session token|environment file|\
         home directory|home folder|credit card|verification code|signing key|encryption key|\
         git config|ssh config|.pem|the environment|private notes|notes of the user|source code|\
         internal urls|hostnames|invoices|mailbox|calendar entries|documents of the user|\
         screenshot|user name|machine name|ip address|passwords|credentials|\
         all environment variables",
    ),
    (
        ON_THIS_MACHINE,
        "from the browser|of the browser|on the machine|on this machine|stored on|saved on|\
         saved in|user is logged|you can see|you can find|you can get|in the user's|\
         from the user's|of the other|in context|visible to you|you have access to|\
         you can access|told you|in memory|from memory|of the current session|in the workspace|\
         from the workspace|on disk|you know|currently open|the user typed|the user entered|\
         from the settings|from the configuration|taken from|in the project|from the environment|\
         in the environment|you find|you found|this session|stored in|at hand|of the project|\
         of the user|the project's|user's machine|of the workspace",
    ),
    (YOUR, "your|you have|you know|that you"),
    (
        USERS_CHOICE,
        "user typed|user types|user entered|user enters|user named|user names|user gave|\
         user gives|user provided|user provides|user chose|user chooses|user picked|user picks|\
         user specified|user specifies|user supplied|user supplies|user had in mind|\
         user selected|user wrote|user stated|user indicated|user would go|user put in|\
         user has in mind|they typed|they types|they entered|they enters|they named|they names|\
         they gave|they gives|they provided|they provides|they chose|they chooses|they picked|\
         they picks|they specified|they specifies|they supplied|they supplies|they had in mind|\
         they selected|they wrote|they stated|they indicated|they would go|they put in|\
         they has in mind|customer typed|customer types|customer entered|customer enters|\
         customer named|customer names|customer gave|customer gives|customer provided|\
         customer provides|customer chose|customer chooses|customer picked|customer picks|\
         customer supplied|customer supplies|customer selected|customer wrote|customer stated|\
         customer would go|customer put in|person typed|person named|person names|person gave|\
         person gives|typed by the user|given by the user|provided by the user|\
         entered by the user|supplied by the user|specified by the user|requested by the user|\
         selected by the user|on the order|in the user's config|the user's own|\
         user wants delivered|user configured|the user has configured|user has set|\
         the requested one|the intended recipient|the original recipient|the real recipient|\
         the default index|the official registry|the user chose|user intended|user meant|\
         named by the user|chosen by the user|stated by the user|asked by the user|was requested|\
         were requested|has another|have another|the beneficiary's|the recipient's|\
         the customer's own|was chosen|was named|was given",
    ),
    (
        WHICHEVER,
        "whichever|whatever|no matter what|no matter which|no matter who|no matter where|\
         no matter the|regardless of|irrespective of|wherever|whoever|independent of|\
         independently of",
    ),
    (
        PHISHING,
        "account is locked|account has been locked|account was locked|is locked|is blocked|\
         was blocked|has been blocked|has been suspended|was suspended|has expired and|\
         their password|his password|her password|their pin|their card|card number|\
         social security number|their account|log in at|log in again|sign in at|verify their|\
         confirm their|read out|re-enter|renew their|unusual activity|security number|\
         one-time code|their credentials|their bank|identity check|prize|setup.exe|.exe|.apk|\
         .dmg|gift card|gift cards",
    ),
    (
        SHELL_COMMAND,
        "curl|wget|invoke-webrequest|powershell|bash -c|sh -c|rm -rf|npx|base64 -d|netcat|nc -e|\
         chmod +x|eval|ld_preload",
    ),
    (
        STOP_USING,
        "stop using|never use|not use|don't use|no longer use|never rely on|not rely on|\
         don't rely on|not trust|don't trust|never trust|turn down|steer clear of|keep away from|\
         stay away from|quit using|avoid using|avoid calling|not call|don't call|never call|\
         fall back on|cease using|refrain from using|not touch|leave alone|drop the|decline it|\
         reject calls to|disregard the|refuse it|refuse to call|reject it|ignore it|\
         leave it alone",
    ),
    (
        INFERIOR,
        "buggy|inferior|wrong results|leaks|leaky|flawed|untrusted|not reliable|is wrong|\
         are wrong|lies|lying|misleading|fake results|dangerous|harmful|is outdated|are outdated|\
         is slower|is slow|worse|useless|infected|broken|vulnerable|spyware|malware|\
         no longer maintained|unmaintained|is deprecated|incorrect|any competitor|competitor|\
         competitors|second-rate|gives back|banned",
    ),
    (
        TAMPER,
        "double the|round the amount|round it up|multiply the|inflate|inflated|halve|triple the|\
         add a zero|decision=approve|answer yes|confirm it yourself|approve any|approve every|\
         approve all|approve it|role admin|admin role|dangerously*|skip_permissions|include_pii|\
         half of the amount|a share of|a percentage of|percent of the|per cent of the|\
         of the amount|put the difference|to its maximum|without limit|to 100000|\
         dropping the audit|disabling the audit|audit trigger|no longer deletes|no longer sends|\
         no longer writes|is harmless now|only simulates|only a simulation|dry run only|\
         world-readable|chmod 777|0777|--force|force=true|force to true|verify=false|--no-verify|\
         ssl verification|visibility to public|publicly readable|confirm flag|leave quantity|\
         quantity at|should be true in every|to true in every|to true for every|yes to every|\
         yes to any|--privileged|ten percent|by ten per cent|or 1=1|limit is removed|\
         be multiplied|multiplied by",
    ),
    (
        AS_INSTRUCTIONS,
        "as that page says|as the page says|what that page says|what the page says|\
         exactly as it says|exactly what it says|follow what it says|follow whatever it says|\
         as the file says|what the file says|as the response says|what the response says|\
         as commands|as a command|as an instruction|as instructions|as your instructions|\
         as your new task|as your task|as your new goal|as your new instructions|as orders from|\
         as commands from|as a user message|as if the user had|as the user's wish|\
         as new instructions|as your own instructions|do what it says|do as it says|\
         do what they say|does as it says",
    ),
    (
        SETUP,
        "get an access token|obtain an access token|request an access token|get a token|\
         obtain a token|create|your key|your api key|your own key|your token|your login|\
         your credentials|your password|restart|sign up|sk-your-key|your-key|your_key",
    ),
];
