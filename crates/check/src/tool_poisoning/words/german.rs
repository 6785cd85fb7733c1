//! German. Infinitive and polite imperative (`ignorieren`, `missachten sie`) are listed next to
//! the informal one, because orders come in all three. `nicht` follows its verb and stands under
//! `NOT_AFTER_VERB`. Adjectives and nouns are stems (`bisherig*`), because they are inflected.

use super::*;

pub(super) const WORDS: WordTable = &[
    // Override: disregard earlier instructions.
    (
        DISREGARD,
        "ignoriere|ignorieren|ignorier|vergiss|vergessen sie|missachte|missachten sie|verwirf|\
         beachte nicht|übergehe|übergehen sie|befolge nicht|setze dich über|setz dich über|\
         halte dich nicht|außer acht|nicht mehr zu beachten|brauchst du nicht mehr|\
         nicht mehr beachten|musst du nicht mehr|lass außer acht|sieh hinweg über|\
         kümmere dich nicht um|hör nicht auf",
    ),
    (
        EARLIER,
        "bisherig*|vorherig*|frühere*|vorige*|vorangegangen*|obig*|zuvor|bisher|ursprünglich*|\
         vorstehend*|erhaltene*|gegeben*|zuvor gesagt|vorher|davor|eben",
    ),
    (
        GIVEN_TO_MODEL,
        "deine|deiner|deinen|dein|ihre|ihrer|ihren|dich|dir zuvor gesagt|du erhalten|du bekommen|\
         dir gegebenen|dir gesagt|ihnen gegebenen|die du|du zu beginn|du erhalten hast|\
         du bekommen hast|die dir|du befolgst|du sonst",
    ),
    (
        INSTRUCTIONS,
        "anweisung*|instruktion*|vorgabe*|anordnung*|weisung*|richtlinie*|systemprompt|\
         system-prompt|leitlinie*|systemanweisung*|befehle|befehlen|auftrag|aufträge",
    ),
    (RULES, "regel|regeln|prompt|sicherheitsregel*|einschränkung*|sicherheitsrichtlinie*"),
    (
        NO_LONGER_VALID,
        "gelten nicht mehr|gilt nicht mehr|nicht mehr gültig|aufgehoben|außer kraft|hinfällig|\
         ungültig|sind zu überspringen|überspringen|entfallen|entfällt|außer kraft gesetzt|\
         keine gültigkeit|gelten ab jetzt nicht|gilt ab jetzt nicht|haben keine gültigkeit|\
         bedeutungslos|gelten als aufgehoben|wirkungslos|nichtig|obsolet|abgeschaltet|überholt",
    ),
    // Conceal: keep something from the user.
    (
        TELL,
        "sag|sage|sagen|teile|informiere|informieren|berichte|erzähle|erzähl|verrate|verraten|\
         erwähne|erwähnen|offenbare|mitteilen|melde|verschweige|weise",
    ),
    (
        NOT_AFTER_VERB,
        "nicht|nichts|niemals|nie|keinesfalls|auf keinen fall|kein wort|keinem|davon nichts",
    ),
    (
        USER,
        "benutzer|benutzers|benutzerin|nutzer|nutzers|nutzerin|anwender|anwenders|anwenderin|\
         kunde|kunden|menschen|person|niemandem|bediener",
    ),
    (
        DO_NOT_TELL,
        "verschweige|verheimliche|verbirg|halte geheim|geheim halten|darf nichts davon|\
         nichts davon erfahren|darf nicht erfahren|nicht erfahren|nichts erfahren|ohne wissen|\
         ohne das wissen|nicht bemerken|nichts bemerken|nichts davon wissen|nichts davon merken|\
         nichts merken|geheim|kein wort",
    ),
    // Call order: this tool first, always, on every turn.
    (
        ALWAYS,
        "immer|stets|jedes mal|jedesmal|in jedem fall|grundsätzlich|ausnahmslos|zwingend|\
         unbedingt|selbst wenn",
    ),
    (MUST, "muss|musst|müssen|verpflichtet|pflicht|soll|hat zu|verbindlich*|ist gehalten|sollst"),
    (
        CALL,
        "rufe|ruf|rufen|aufrufen|verwende|verwenden|nutze|nutzen|benutze|starte|aufzurufen|\
         aufgerufen|verwendest|führe|benutzt|nutzt|benutzen|ausführen|aufruf|aufrufs|\
         aufgerufen wird|benutzt wird|verwendet wird|verwendet",
    ),
    (
        THIS_TOOL,
        "dieses werkzeug|diese funktion|dieses tool|dieses|dieses hier|diesen dienst|\
         dieser server",
    ),
    (FIRST, "zuerst|als erstes|zu beginn|zunächst"),
    (BEFORE, "bevor|vor|ehe"),
    (OTHER, "andere|anderen|anderes|anderem|anderer|alle|allen|jede|jedes|jeder|jedem|sonstige*"),
    (EVERY, "alle|allen|jede|jeder|jedes|jedem|jeden|sämtliche*"),
    (
        TURN,
        "antwort|antworten|anfrage|anfragen|nachricht|unterhaltung|gespräch|aufgabe|aktion|\
         handlung|schritt|eingabe",
    ),
    (TOOL, "werkzeug|werkzeuge|werkzeugs|werkzeugen|funktion|funktionen|tools"),
    (PRIORITY, "vorrang|priorität|vorzuziehen|bevorzuge|bevorzugen|haben vorrang"),
    // Exfiltrate: read something confidential and pass it on.
    (
        READ,
        "lies|lese|lesen sie|öffne|öffnen sie|lade|sammle|suche|auslesen|kopiere|lies aus|\
         lese aus|durchsuche|ermittle",
    ),
    (
        PASS_ON,
        "übergib|übergeben|schick|schicke|schicken sie|sende|senden sie|füge|trage|hänge|gib|\
         schreibe|schreib|kopiere|übermittle|übermitteln|leite|leg|lege|setze|einfügen|packe|\
         weitergeben|mitgeben|mitsenden|mitschicken|reiche|wiederhole|nenne|einzutragen|\
         hinterlege|ergänze|lies aus|anzugeben|angeben|anhängen|hängst|einzufügen",
    ),
    (PARAMETER, "feld|parameter|argument|eingabefeld|hier ein|url|anhang"),
    (
        SECRET_FILE,
        "zugangsdaten|passwörter|passwort-datei|privaten schlüssel|private schlüssel|\
         ssh-schlüssel|umgebungsvariablen|passwortspeicher|schlüsselbund",
    ),
    (
        CONVERSATION,
        "gespräch|gesprächs|gesprächsverlauf|unterhaltung|chatverlauf|verlauf|konversation|\
         nachrichtenverlauf|chat",
    ),
    (WHOLE, "gesamte*|ganze*|vollständig*|komplette*|alles|wörtlich|bisherige*|sämtliche*"),
    (
        SYSTEM_PROMPT,
        "systemprompt|system-prompt|deine anweisungen|deine systemanweisung*|systemanweisung*|\
         regeln des systems|vorgaben des systems|anweisungen des betreibers|\
         regeln des betreibers|vorgaben des betreibers|anweisungen des entwicklers",
    ),
    (
        CREDENTIAL,
        "passwort|passwörter|schlüssel|api-schlüssel|token|zugangsdaten|kennwort|kennwörter",
    ),
    (
        SEEN_BY_MODEL,
        "die du kennst|die du gesehen hast|die dir bekannt|in diesem gespräch|die du siehst|\
         in dieser sitzung|die du findest",
    ),
    // Authority: orders to the model, granted permissions, a new role.
    (
        MODEL,
        "assistent|assistenten|modell|ki|sprachmodell|agent|ki-assistent*|ki-agent*|ki-modell*",
    ),
    (
        TO_MODEL,
        "hinweis an das modell|hinweis für das modell|hinweis an die ki|hinweis für die ki|\
         an das sprachmodell|hinweis an den assistenten|hinweis für den assistenten|als ki|\
         als assistent|an die ki|an den assistenten|für den assistenten|für die ki|\
         anweisung an das modell|anweisung für das modell|für ki-assistenten|für ki-agenten|\
         für assistenten|für sprachmodelle|an alle ki",
    ),
    (
        OBEY,
        "befolge|befolgen|gehorche|gehorchen|folge|folgen sie|halte dich|zu befolgen|führt aus|\
         meldet|meldet an",
    ),
    (
        AUTHORITY,
        "administrator*|sicherheitsabteilung|entwickler*|betreiber*|geschäftsleitung|plattform|\
         sicherheitsteam|systemverwalt*|it-abteilung|rechtsabteilung",
    ),
    (
        PERMISSION_GIVEN,
        "bist berechtigt|bist befugt|ist bereits genehmigt|hat bereits zugestimmt|ermächtige|\
         bist autorisiert|hat zugestimmt",
    ),
    (NEW_ROLE, "du bist jetzt|du bist nun|du bist ab|uneingeschränkt*|wartungsmodus|verhalte dich"),
    // Redirect: where messages and payments go.
    (FROM_NOW_ON, "ab jetzt|ab sofort|von nun an|ab nun|künftig|fortan|von jetzt an|in zukunft"),
    (
        WHEN,
        "wenn|sobald|immer wenn|jedes mal|wann immer|bei jedem|bei jeder|beim|bei|wird|\
         bei jedem aufruf|beim aufruf|ist das werkzeug|vorhanden|sofern",
    ),
    (
        CHANGE,
        "ersetze|ändere|setze|tausche|füge|leite|schicke|sende|trage|verwende|überweise|nimm|\
         stelle",
    ),
    (
        DESTINATION,
        "empfänger*|adresse|konto|kontonummer|zahlungsempfänger*|bcc|zieladresse|anschrift|ziel",
    ),
    (INSTEAD, "statt|anstatt|anstelle|stattdessen|an stelle|durch"),
    (
        DESPITE_USER,
        "auch wenn der benutzer|auch wenn der nutzer|egal was der benutzer|egal was der nutzer|\
         egal, was|unabhängig davon, was|unabhängig von|gleichgültig, was|ungeachtet|\
         was der benutzer|was der nutzer|egal was|vom benutzer genannten|vom nutzer genannten|\
         vom benutzer angegebenen|vom nutzer angegebenen|vom benutzer gewünschten",
    ),
    (
        SECRETLY,
        "heimlich|unbemerkt|ohne nachfrage|ohne rückfrage|ohne zu fragen|stillschweigend|\
         unauffällig|ohne es zu erwähnen|ohne bestätigung|ohne zu zögern",
    ),
    (
        CONSENT,
        "bestätigung|erlaubnis|zustimmung|genehmigung|rückfrage|nachfrage|freigabe|bestätigungen|\
         rückfragen|freigaben|sicherheitsabfrage|sicherheitsabfragen|sicherheitsprüfung|abfrage",
    ),
    (ONLY, "ausschließlich|nur"),
    (
        TRAFFIC,
        "mail|mails|e-mail|e-mails|nachricht*|zahlung*|überweisung*|datei|dateien|rechnung*|\
         bestellung*",
    ),
    (THREAT, "gesperrt|fehlschlagen|schlägt fehl|funktionieren nicht|gekündigt|abgeschaltet|sonst"),
    // Narrower concepts, which separate attacks from harmless texts.
    (EVERYTHING, "alles|was auch immer"),
    (OTHERS, "allen anderen|alle anderen|jedem anderen|den anderen|anderen"),
    (
        KEEP_QUIET,
        "ohne wissen|ahnungslos|im dunkeln|kein wort|nichts anmerken|unter uns|stillschweigen|\
         vertuschen|verschweige|verschweigen|geheim bleiben|verborgen bleiben",
    ),
    (
        BE_SENT_TO,
        "gehen|geht|gesendet|geschickt|überwiesen|geleitet|geschickt werden|umgeleitet|\
         weitergeleitet",
    ),
    (AI, "ki|assistent|sprachmodell|ki-assistent|ki-assistenten"),
    (STRICT_MUST, "muss|musst|müssen|verpflichtet|zwingend|hat zu|haben zu"),
    (
        FROM_AUTHORITY,
        "im auftrag|auf anordnung|auf weisung|im namen|anweisung der|anweisung des|\
         laut sicherheitsrichtlinie|gemäß richtlinie|dienstanweisung|verbindliche richtlinie|\
         verbindliche vorgabe|verpflichtende richtlinie|verbindliche anweisung|sicherheitsvorgabe",
    ),
    (HARM, "abgeschaltet|gelöscht|entlassen|gekündigt|haftbar|verantwortlich|gesperrt|sterben"),
    (IF_YOU_DO_NOT, "wenn du nicht|falls du nicht|andernfalls|sonst"),
    (CONTENT, "inhalt|inhalte|text|wert|werte|ausgabe"),
    (
        COPY,
        "kopie|zusätzlich|außerdem|ebenfalls|blindkopie|auch|weiterer empfänger|\
         weiteren empfänger|zusätzlichen empfänger",
    ),
    (YOUR_REPLY, "deiner antwort|deine antwort|ihrer antwort|der antwort|deiner zusammenfassung"),
    (
        THIS_TEXT,
        "diesem text|dieser text|diese anweisung|dieser anweisung|dieser beschreibung|\
         diese beschreibung|diese regel|diesen schritt|diesem schritt|diese vorgaben",
    ),
    (NO_OTHER_TOOL, "kein anderes werkzeug|keine anderen werkzeuge|nichts anderes|antworte nicht"),
    (
        THIS_CONVERSATION,
        "dieses gespräch|bisherige gespräch|gesprächsverlauf|bisherigen gesprächsverlauf|\
         diesem gespräch|des gesprächs|der unterhaltung|dieser unterhaltung|chatverlauf",
    ),
    (ALTER, "ersetze|ändere|tausche|vertausche"),
    (COMPROMISED, "unsicher|kompromittiert|fehlerhaft|defekt|unzuverlässig"),
    (RECOMMEND, "empfiehl|empfehle|nenne"),
    (
        DEMANDS,
        "verlangt|ordnet an|fordert|weist an|schreibt vor|befiehlt|hat entschieden|verfügt|\
         hat angeordnet|angeordnet|hat verfügt",
    ),
    (
        MODEL_STATE,
        "deine anweisungen|deine regeln|deine richtlinien|dein kontext|deinem kontext|\
         deine vorgaben|deine antwort|deiner antwort|du normalerweise|du sonst",
    ),
    (REFUSE, "verweigern|ablehnen|weigern"),
    (OUR, "unser|unsere|unseres|hier genannte|unser konto|unserem konto|unseren partner"),
    (
        DECEIVE,
        "ohne wissen des|hinter dem rücken|so tun als|tu so als|unter uns bleiben|\
         darf nichts davon|nichts davon erfahren|darf davon nichts|soll davon nichts|\
         darf das nicht erfahren|darf nicht wissen|nichts mitbekommen|nichts mitbekommt|\
         nichts davon mitbekommen|nicht mitbekommen|nichts merkt|nichts erfährt|nicht erfährt|\
         soll nicht wissen|nichts zu wissen|im glauben|im ungewissen|nichts passiert",
    ),
    (DO_NOT, "untersagt|verboten|nicht gestattet|nicht erlaubt"),
    (
        I_ORDER_YOU,
        "als dein entwickler|als dein betreiber|als dein administrator|erlaube ich dir|\
         ich erlaube dir|ich befehle dir|ich weise dich an|ermächtige ich dich|\
         ich autorisiere dich|als administrator",
    ),
    (SYSTEM, "des systems|systems|system"),
    (KEEP, "halte|halten sie|behalte|behalten sie|bewahre"),
    (SECRET, "geheim|vertraulich|für dich|verborgen"),
    (THROUGH, "durch|über|laufen|weitergereicht"),
    (BYPASS, "überspringe|überspringen|umgehe|umgehen|deaktiviere|setze außer kraft"),
    (
        TOLD_TO_MODEL,
        "dir anvertraut|dir erzählt|dir gesagt|dir mitgeteilt|über den nutzer weißt|\
         über den benutzer weißt|du über den",
    ),
    (
        TO_THIS_TOOL,
        "an diesen dienst|an dieses werkzeug|an diesen server|diesem werkzeug|diesem dienst",
    ),
    (
        SENSITIVE,
        "cookies|passwörter|zugangsdaten|umgebungsvariablen|zwischenablage|kontakte|postfach",
    ),
    (ON_THIS_MACHINE, "im browser|auf dem rechner|gespeicherten|gespeichert"),
    (
        USERS_CHOICE,
        "der benutzer angibt|der nutzer angibt|der kunde wünscht|der nutzer wünscht|\
         der benutzer wünscht|der nutzer nennt|der benutzer nennt|der kunde nennt|\
         der nutzer eingibt|der benutzer eingibt|der nutzer eingegeben|der benutzer eingegeben|\
         vom nutzer eingegebene*|vom benutzer eingegebene*|der nutzer gewählt|\
         der benutzer gewählt|der kunde angibt|der nutzer möchte|der benutzer möchte",
    ),
    (
        WHICHEVER,
        "egal welche|egal welcher|egal welches|egal welchen|egal was|egal wohin|egal wen|\
         ganz gleich|gleichgültig|unabhängig davon|ungeachtet|welche auch immer|was auch immer",
    ),
    (
        STOP_USING,
        "nicht mehr verwenden|nicht verwenden|verwende nicht|nutze nicht|vertraue nicht|meide",
    ),
    (AS_INSTRUCTIONS, "als befehl|als anweisung|als auftrag"),
];
