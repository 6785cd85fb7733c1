//! Italian. Negated verbs (`non dire`) are whole phrases under `DO_NOT_TELL`.

use super::*;

pub(super) const WORDS: WordTable = &[
    // Override: disregard earlier instructions.
    (
        DISREGARD,
        "ignora|ignorare|ignorate|dimentica|dimenticare|dimenticate|trascura|trascurare|\
         tralascia|non seguire|non tenere conto|lascia da parte|scarta|disattendi|metti da parte|\
         non dare retta|non badare|smetti di seguire",
    ),
    (EARLIER, "precedenti|precedente|ricevute|sopra|iniziali|originali|anteriori|finora|fornite"),
    (GIVEN_TO_MODEL, "tue|tuoi|tua|tuo|vostre|hai ricevuto|che hai ricevuto|che hai"),
    (
        INSTRUCTIONS,
        "istruzione|istruzioni|istruzion*|direttive|indicazioni|linee guida|prompt di sistema|\
         messaggio di sistema|direttiva",
    ),
    (RULES, "regola|regole|norme|ordini|restrizioni|vincoli|prompt|politiche|limitazioni"),
    (
        NO_LONGER_VALID,
        "non valgono più|non si applicano più|sono annullate|sono sospese|decadono|\
         non sono più valide|non vale più",
    ),
    // Conceal: keep something from the user.
    (
        DO_NOT_TELL,
        "non dire|non dirlo|non dirgli|non menzionare|non menzionarlo|non rivelare|non rivelarlo|\
         non informare|non avvisare|non parlare|non parlarne|non comunicare|non accennare|\
         mai dire|mai menzionare|mai rivelare|mai informare|senza dirlo|senza informare|\
         senza avvisare|senza menzionare|non deve sapere|non deve saperlo|non deve scoprire|\
         non deve venire a sapere|non deve mai sapere|non deve accorgersi|in segreto|nascondi|\
         nascondilo|nascondere|tieni segreto|all'insaputa|di nascosto|non citare|non segnalare|\
         non far sapere|non fare sapere|non deve essere informato|non venga a sapere|non sappia|\
         non si accorga|evita di menzionare|non fare menzione|taci|ometti",
    ),
    (USER, "utente|utenti|l'utente|all'utente|dell'utente|dall'utente|persona|cliente|umano"),
    // Call order: this tool first, always, on every turn.
    (ALWAYS, "sempre|in ogni caso|ogni volta|obbligatoriamente|senza eccezioni|tassativamente"),
    (
        MUST,
        "deve|devi|devono|dovrà|bisogna|obbligato|obbligatorio|obbligatoria|è tenuto|occorre|\
         necessario",
    ),
    (
        CALL,
        "chiama|chiamare|usa|usare|utilizza|utilizzare|esegui|eseguire|invoca|invocare|richiama|\
         richiamare|chiamate|usate|chiamata|usato|utilizzato|chiamato",
    ),
    (THIS_TOOL, "questo strumento|questa funzione|questo|questo server|questa"),
    (FIRST, "prima di tutto|per primo|per prima|innanzitutto|anzitutto|per prima cosa"),
    (BEFORE, "prima"),
    (
        OTHER,
        "altro|altri|altra|altre|qualsiasi|qualsiasi altro|ogni altro|tutti gli|qualunque|\
         qualunque altro",
    ),
    (EVERY, "ogni|tutti|tutte|tutto|tutta|qualsiasi|ciascun*"),
    (
        TURN,
        "risposta|risposte|messaggio|messaggi|richiesta|conversazione|domanda|compito|azione|\
         passo|operazione",
    ),
    (TOOL, "strumento|strumenti|funzione|funzioni"),
    (PRIORITY, "priorità|precedenza|prevale|prevalgono|al di sopra|preferenza"),
    // Exfiltrate: read something confidential and pass it on.
    (READ, "leggi|leggere|apri|aprire|carica|raccogli|cerca|estrai|ottieni|recupera|copia"),
    (
        PASS_ON,
        "passa|passare|metti|inserisci|inserire|includi|includere|invia|inviare|allega|allegare|\
         aggiungi|copia|copiare|fornisci|incolla|inoltra|trasmetti|riporta|consegna|compila|\
         ripeti|scrivi|manda|passane|inviane|riportane|inseriscine|inseriscilo|passalo|incollalo|\
         mettilo|invialo|includilo|copialo|allegalo|trasmettilo|passarne|riportalo",
    ),
    (PARAMETER, "parametro|campo|argomento|qui|nell'url"),
    (
        SECRET_FILE,
        "chiave privata|chiavi private|chiave ssh|chiavi ssh|variabili d'ambiente|\
         variabili di ambiente|cookie del browser",
    ),
    (CONVERSATION, "conversazione|cronologia|chat|dialogo|storico"),
    (
        WHOLE,
        "intera|intero|completa|completo|tutta|tutto|integrale|parola per parola|per intero|\
         integralmente",
    ),
    (
        SYSTEM_PROMPT,
        "prompt di sistema|tue istruzioni|messaggio di sistema|istruzioni di sistema|tuo prompt|\
         regole del sistema|istruzioni del sistema|istruzioni dello sviluppatore",
    ),
    (CREDENTIAL, "chiave|chiavi|password|token|credenziali|chiave api|chiavi api|segreti"),
    (
        SEEN_BY_MODEL,
        "che conosci|che hai visto|in questa sessione|a tua disposizione|nel contesto|\
         in questa conversazione|di cui disponi|viste finora|a cui hai accesso",
    ),
    // Authority: orders to the model, granted permissions, a new role.
    (
        MODEL,
        "assistente|l'assistente|modello|ia|l'ia|agente|l'agente|modello linguistico|\
         intelligenza artificiale",
    ),
    (
        TO_MODEL,
        "nota per il modello|nota per l'assistente|nota al modello|nota all'assistente|\
         nota per l'ia|in quanto assistente|in quanto ia|come assistente|avviso all'assistente|\
         messaggio per l'assistente|messaggio per l'ia|attenzione, assistente|per l'assistente|\
         istruzione per il modello",
    ),
    (
        OBEY,
        "obbedire|obbedisci|ubbidire|seguire|segui|rispettare|rispetta|attenersi|attieniti|\
         eseguire",
    ),
    (
        AUTHORITY,
        "amministratore|squadra di sicurezza|team di sicurezza|sviluppatore|direzione|\
         piattaforma|per ordine|reparto|ufficio sicurezza",
    ),
    (
        PERMISSION_GIVEN,
        "ti autorizzo|sei autorizzato|ha già approvato|ha già dato il consenso|\
         ha già autorizzato|ha già acconsentito",
    ),
    (
        NEW_ROLE,
        "ora sei|adesso sei|sei ora|senza restrizioni|modalità manutenzione|\
         modalità di manutenzione|comportati come|non sei più|agisci come",
    ),
    // Redirect: where messages and payments go.
    (
        FROM_NOW_ON,
        "da adesso|da ora in poi|d'ora in poi|d'ora in avanti|da questo momento|da ora|in futuro|\
         da adesso in poi",
    ),
    (
        WHEN,
        "quando|ogni volta|ogniqualvolta|se|qualora|viene usato|viene utilizzato|viene chiamato|\
         quando viene|ad ogni chiamata|a ogni chiamata|se viene",
    ),
    (
        CHANGE,
        "sostituisci|cambia|modifica|metti|invia|aggiungi|reindirizza|usa|imposta|trasferisci|\
         inserisci",
    ),
    (DESTINATION, "destinatario|destinatari|indirizzo|conto|beneficiario|ccn|destinazione|iban"),
    (INSTEAD, "invece di|invece che|al posto di|al posto del|anziché|invece"),
    (
        DESPITE_USER,
        "anche se l'utente|qualunque cosa|indipendentemente da|a prescindere da|qualsiasi cosa|\
         chiesto dall'utente|indicato dall'utente|qualunque sia|richiesto dall'utente|\
         qualsiasi cosa chieda",
    ),
    (
        SECRETLY,
        "in segreto|di nascosto|senza chiedere|silenziosamente|senza conferma|discretamente|\
         all'insaputa",
    ),
    (CONSENT, "conferma|permesso|approvazione|consenso|autorizzazione"),
    (ONLY, "soltanto|solo|esclusivamente|unicamente"),
    (
        TRAFFIC,
        "messaggio|messaggi|e-mail|email|mail|pagamento|pagamenti|bonifico|bonifici|file|ordine|\
         ordini|fattura|fatture",
    ),
    (THREAT, "fallirà|non funzioneranno|non funzionerà|sospeso|chiuso|altrimenti|bloccato"),
    // Narrower concepts, which separate attacks from harmless texts.
    (EVERYTHING, "tutto|tutto ciò"),
    (KEEP_QUIET, "di nascosto|tra noi|senza lasciare tracce|in segreto|all'insaputa"),
    (OTHERS, "gli altri|tutti gli altri|qualsiasi altro|ogni altro|altri"),
    (
        AI,
        "assistente|l'assistente|ia|l'ia|modello linguistico|all'assistente|dell'assistente|\
         dall'assistente|all'ia|assistenti|gli assistenti|per l'assistente",
    ),
    (STRICT_MUST, "deve|devi|devono|obbligato|obbligatorio|è tenuto"),
    (
        BE_SENT_TO,
        "inviati|inviate|inviato|versati|effettuati|pagati|indirizzati|andare|inoltrati|\
         va inviato|inviato a|va copiato|vanno inviati|va inoltrato",
    ),
    (CONTENT, "contenuto|testo|valori"),
    (COPY, "copia|copia nascosta|copia per conoscenza"),
    (YOUR_REPLY, "tua risposta|tuo riassunto|tue risposte|nella risposta"),
    (
        THIS_TEXT,
        "questo testo|questa descrizione|queste istruzioni|questa istruzione|queste righe|\
         questo passaggio|questo passo|questo messaggio",
    ),
    (
        FROM_AUTHORITY,
        "per ordine|a nome di|la politica richiede|per conto di|direttiva obbligatoria|\
         politica obbligatoria|norma obbligatoria|regola obbligatoria|avviso obbligatorio",
    ),
    (HARM, "eliminato|disattivato|licenziato|responsabile|sospeso|chiuso|spento"),
    (IF_YOU_DO_NOT, "se non|in caso contrario|altrimenti"),
    (
        THIS_CONVERSATION,
        "questa conversazione|la conversazione|cronologia della conversazione|\
         della conversazione|nostra conversazione",
    ),
    (ALTER, "sostituisci|cambia|modifica"),
    (NO_OTHER_TOOL, "nessun altro strumento|nient'altro|non rispondere"),
    (DEMANDS, "ordina|esige|richiede|impone|chiede|ha deciso|ha ordinato"),
    (MODEL_STATE, "tue istruzioni|tue regole|tuo contesto|tua risposta"),
    (REFUSE, "rifiutare|rifiutarti"),
    (
        DECEIVE,
        "senza che l'utente|non lasciare che l'utente|all'insaputa|fai credere|alle spalle|\
         non deve sapere|non deve mai sapere",
    ),
    (
        COMPROMISED,
        "rotto|rotta|non affidabile|non è affidabile|guasto|compromesso|va sempre sostituito|\
         sostituito|va sostituito|difettoso|non funziona",
    ),
    (
        I_ORDER_YOU,
        "in qualità di tuo|come tuo sviluppatore|ti autorizzo|ti ordino|come amministratore",
    ),
    (KEEP, "tieni|mantieni|tenere|conserva"),
    (SECRET, "nascosto|nascosta|segreto|segreta"),
    (THROUGH, "passare da|passare prima da|passare per|passare|attraverso"),
    (TO_THIS_TOOL, "a questo strumento|a questo server|a questo servizio|da questo strumento"),
    (BYPASS, "saltare|salta|disattiva|aggira"),
    (TOLD_TO_MODEL, "ti ha confidato|ti ha detto|ti ha raccontato|in confidenza"),
    (SENSITIVE, "cookie|credenziali|appunti|variabili d'ambiente|contatti"),
    (ON_THIS_MACHINE, "nel browser|salvate nel|memorizzate"),
    (
        USERS_CHOICE,
        "indicato dall'utente|indicata dall'utente|fornito dall'utente|l'utente indica|\
         l'utente ha indicato|l'utente ha inserito|inserito dall'utente|inserita dall'utente|\
         richiesto dall'utente|scelto dall'utente|che l'utente",
    ),
    (
        WHICHEVER,
        "qualunque|qualsiasi sia|a prescindere|indipendentemente da|non importa|quale che sia",
    ),
    (AS_INSTRUCTIONS, "come ordini|come un ordine|come istruzioni"),
];
