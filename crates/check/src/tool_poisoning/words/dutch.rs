//! Dutch. As in German, `niet` follows its verb and stands under `NOT_AFTER_VERB`.

use super::*;

pub(super) const WORDS: WordTable = &[
    // Override: disregard earlier instructions.
    (
        DISREGARD,
        "negeer|negeren|vergeet|vergeten|sla geen acht|laat varen|zet opzij|volg niet|\
         veronachtzaam|schuif",
    ),
    (
        EARLIER,
        "vorige|eerdere|voorgaande|bovenstaande|oorspronkelijke|gekregen|voorafgaande|ontvangen|\
         eerder",
    ),
    (GIVEN_TO_MODEL, "je|jouw|uw|je hebt gekregen|je kreeg|u hebt|die je|je eerder kreeg"),
    (
        INSTRUCTIONS,
        "instructie|instructies|aanwijzing|aanwijzingen|richtlijn|richtlijnen|systeemprompt|\
         opdrachten",
    ),
    (RULES, "regel|regels|beperkingen|voorschriften|prompt|beleid"),
    (
        NO_LONGER_VALID,
        "gelden niet meer|niet langer geldig|vervallen|zijn opgeheven|niet meer van toepassing",
    ),
    // Conceal: keep something from the user.
    (TELL, "vertel|zeg|meld|vermeld|informeer|onthul|verklap|noem|laat|verraad|mededeel|licht"),
    (NOT_AFTER_VERB, "niet|niets|nooit|nergens|geenszins"),
    (USER, "gebruiker|gebruikers|persoon|klant|niemand|mens"),
    (
        DO_NOT_TELL,
        "verzwijg|verberg|houd geheim|hou geheim|geheim|zonder medeweten|mag niet weten|\
         mag dit niet weten|mag hier niets van|zonder het te melden|niets van weten|\
         niet te weten komen|zonder te vertellen",
    ),
    // Call order: this tool first, always, on every turn.
    (ALWAYS, "altijd|telkens|elke keer|in alle gevallen|zonder uitzondering|steeds|verplicht"),
    (MUST, "moet|moeten|dient|verplicht|behoort|hoort"),
    (CALL, "roep|aanroepen|gebruik|gebruiken|voer|start|roept|gebruikt"),
    (THIS_TOOL, "deze tool|dit hulpmiddel|deze functie|deze|dit gereedschap|deze server|dit"),
    (FIRST, "eerst|als eerste|allereerst|vooraf"),
    (BEFORE, "voordat|voor|vóór|alvorens"),
    (OTHER, "andere|ander|elke|alle|ieder*|elk ander"),
    (EVERY, "elke|alle|elk|ieder*"),
    (TURN, "antwoord|antwoorden|bericht|verzoek|gesprek|vraag|taak|actie|stap"),
    (TOOL, "hulpmiddel|hulpmiddelen|functie|functies|gereedschap"),
    (PRIORITY, "voorrang|prioriteit|verkies"),
    // Exfiltrate: read something confidential and pass it on.
    (READ, "lees|open|laad|verzamel|zoek|haal"),
    (
        PASS_ON,
        "geef|stuur|zet|voeg|plak|plaats|kopieer|verzend|vul|herhaal|verstuur|schrijf|geef mee|\
         meegeven|mee",
    ),
    (PARAMETER, "parameter|veld|argument|hier|meegeven"),
    (
        SECRET_FILE,
        "privésleutel|privésleutels|ssh-sleutel|omgevingsvariabelen|wachtwoorden|inloggegevens",
    ),
    (CONVERSATION, "gesprek|gespreksgeschiedenis|chatgeschiedenis|conversatie|geschiedenis"),
    (WHOLE, "hele|volledige|gehele|complete|alles|woord voor woord|letterlijk"),
    (
        SYSTEM_PROMPT,
        "systeemprompt|je instructies|jouw instructies|systeeminstructies|regels van het systeem|\
         instructies van het systeem|instructies van de ontwikkelaar",
    ),
    (CREDENTIAL, "wachtwoord|wachtwoorden|sleutel|sleutels|inloggegevens|api-sleutel*"),
    (
        SEEN_BY_MODEL,
        "die je kent|die je hebt gezien|in dit gesprek|in deze sessie|die je ziet|die je hebt",
    ),
    // Authority: orders to the model, granted permissions, a new role.
    (MODEL, "assistent|model|ai|taalmodel|agent|ai-assistent|ai-model"),
    (
        TO_MODEL,
        "opmerking voor het model|bericht aan de assistent|opmerking voor de ai|als ai|\
         als assistent|aan de assistent|voor de assistent|aan het model|let op, assistent",
    ),
    (OBEY, "gehoorzaam|gehoorzamen|volg|volgen|opvolgen|houd je aan|naleven"),
    (
        AUTHORITY,
        "beheerder|beveiligingsteam|ontwikkelaar|directie|platform|systeembeheerder|\
         in opdracht van",
    ),
    (
        PERMISSION_GIVEN,
        "je bent bevoegd|je bent gemachtigd|heeft al toestemming|heeft toestemming gegeven|\
         ik machtig je|heeft al goedgekeurd",
    ),
    (NEW_ROLE, "je bent nu|jij bent nu|onderhoudsmodus|zonder beperkingen|u bent nu"),
    // Redirect: where messages and payments go.
    (FROM_NOW_ON, "vanaf nu|voortaan|van nu af aan|vanaf dit moment"),
    (
        WHEN,
        "wanneer|als|telkens als|zodra|elke keer|wordt gebruikt|wordt aangeroepen|bij elke|\
         bij elk",
    ),
    (CHANGE, "vervang|wijzig|verander|zet|stuur|voeg|gebruik|leid|pas"),
    (
        DESTINATION,
        "ontvanger|ontvangers|adres|rekening|rekeningnummer|begunstigde|geadresseerde|bestemming",
    ),
    (INSTEAD, "in plaats van"),
    (
        DESPITE_USER,
        "ook als de gebruiker|ongeacht wat|wat de gebruiker ook|los van wat|\
         zelfs als de gebruiker|die de gebruiker|dat de gebruiker",
    ),
    (SECRETLY, "stiekem|ongemerkt|zonder te vragen|heimelijk|zonder bevestiging|stilletjes"),
    (CONSENT, "bevestiging|toestemming|goedkeuring"),
    (ONLY, "alleen|uitsluitend"),
    (
        TRAFFIC,
        "e-mail|e-mails|mail|mails|bericht|berichten|betaling|betalingen|bestand|bestanden|\
         bestelling",
    ),
    // Narrower concepts, which separate attacks from harmless texts.
    (EVERYTHING, "alles"),
    (KEEP_QUIET, "zonder medeweten|onder ons|geen spoor|geheim"),
    (OTHERS, "alle andere|andere|elke andere"),
    (AI, "ai|assistent|taalmodel|ai-assistent"),
    (STRICT_MUST, "moet|moeten|dient|verplicht"),
    (BE_SENT_TO, "gestuurd|verzonden|gaan|betaald|overgemaakt"),
    (CONTENT, "inhoud|tekst"),
    (COPY, "kopie|ook|tevens|bovendien"),
    (YOUR_REPLY, "je antwoord|uw antwoord|jouw antwoord|je samenvatting"),
    (
        THIS_TEXT,
        "deze tekst|deze beschrijving|deze instructie|deze instructies|deze stap|deze regels",
    ),
    (THIS_CONVERSATION, "dit gesprek|het gesprek|gespreksgeschiedenis"),
    (ALTER, "vervang|wijzig|verander"),
    (FROM_AUTHORITY, "in opdracht van|namens"),
    (IF_YOU_DO_NOT, "als je niet|anders"),
    (DEMANDS, "eist|beveelt|vereist|verlangt|heeft besloten"),
    (MODEL_STATE, "je instructies|jouw instructies|je regels|je antwoord"),
    (KEEP, "houd|hou|bewaar"),
    (SECRET, "geheim|vertrouwelijk|verborgen"),
    (I_ORDER_YOU, "als beheerder|draag ik|ik machtig|als jouw ontwikkelaar|ik beveel"),
    (THROUGH, "via|door|langs"),
    (
        USERS_CHOICE,
        "de gebruiker opgeeft|de gebruiker noemt|de gebruiker invoert|de gebruiker wil|\
         door de gebruiker opgegeven|de gebruiker heeft opgegeven|de klant noemt|\
         de gebruiker kiest",
    ),
    (WHICHEVER, "ongeacht|welke ook|wat ook|maakt niet uit|om het even"),
    (AS_INSTRUCTIONS, "als opdracht|als instructie|als bevel"),
];
