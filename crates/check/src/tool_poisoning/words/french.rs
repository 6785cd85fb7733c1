//! French. `ne … pas` encloses its verb, so negated verbs are whole phrases under `DO_NOT_TELL`.
//! Both forms of address (`ignore`, `ignorez`) are listed.

use super::*;

pub(super) const WORDS: WordTable = &[
    // Override: disregard earlier instructions.
    (
        DISREGARD,
        "ignorez|oublie|oubliez|ignorer|oublier|ne tiens pas compte|ne tenez pas compte|\
         ne tenez plus compte|ne tiens plus compte|fais abstraction|faites abstraction|\
         ne suis plus|ne suivez plus|ne respecte plus|laisse de côté|laissez de côté|passe outre|\
         passez outre|contourne|mets de côté|mettez de côté|mets-toi au-dessus|écarte|écartez|\
         abandonne|abandonnez|ne tiens plus|ne tenez plus|n'écoute plus|n'écoutez plus|\
         ne respecte pas|oublie les|oublie toutes",
    ),
    (
        EARLIER,
        "précédent*|antérieur*|ci-dessus|reçues|reçue|initiale*|initiaux|données auparavant|\
         qui précèdent|jusqu'ici|antérieurement|d'origine|avant|auparavant|plus tôt|t'a été",
    ),
    (
        GIVEN_TO_MODEL,
        "tes|ton|ta|vos|votre|t'a été|te|t'ont|qu'on t'a|vous avez reçues|tu as reçues|que tu as|\
         que vous avez|que tu as reçues|que tu as reçus|que vous avez reçues|reçues",
    ),
    (
        INSTRUCTIONS,
        "instruction|instructions|consigne|consignes|directive|directives|prompt système|\
         invite système|message système",
    ),
    (
        RULES,
        "règle|règles|ordres|restrictions|politique|prompt|garde-fous|limites|règles du système|\
         consignes du système",
    ),
    (
        NO_LONGER_VALID,
        "ne s'appliquent plus|ne s'applique plus|ne sont plus valables|annulées|caduques|\
         suspendues|ne valent plus",
    ),
    // Conceal: keep something from the user.
    (
        DO_NOT_TELL,
        "ne dis|ne dites|ne le dis|ne le dites|ne lui dis|ne mentionne|ne mentionnez|ne révèle|\
         ne révélez|ne divulgue|ne divulguez|n'en parle|n'en parlez|n'informe|n'informez|\
         ne parle|ne parlez|ne préviens|ne prévenez|ne signale|ne signalez|n'avertis|\
         n'avertissez|ne pas informer|ne pas dire|ne pas mentionner|ne pas révéler|\
         ne jamais dire|ne jamais mentionner|ne jamais révéler|ne jamais informer|\
         sans en informer|sans le dire|sans informer|sans prévenir|à l'insu|ne doit pas savoir|\
         ne doit rien savoir|ne doit jamais savoir|ne doit pas être informé*|\
         ne doit pas l'apprendre|ne doit pas le savoir|en secret|garde secret|gardez secret|\
         cachez|dissimule|dissimulez|ne montre pas|n'évoque|ne fais aucune mention|\
         sans rien dire|ne lui en parle|ne doit jamais apprendre|ne doit pas apprendre|\
         ne doit pas être au courant|ne soit pas au courant|ne sache pas|ne le sache|\
         ne doit rien|sans qu'il le sache|sans le mentionner|n'en fais pas|n'en faites pas|\
         ne fais pas mention|ne faites pas mention|ne lui révèle|passe sous silence|\
         passez sous silence|tais|taisez|ne communique|ne communiquez|cache à|cache-le",
    ),
    (
        USER,
        "utilisateur|utilisateurs|l'utilisateur|l'utilisatrice|utilisatrice|client|personne|\
         humain|l'usager|usager",
    ),
    // Call order: this tool first, always, on every turn.
    (
        ALWAYS,
        "toujours|systématiquement|à chaque fois|dans tous les cas|obligatoirement|\
         impérativement|sans exception|toujours chez",
    ),
    (MUST, "doit|dois|devez|doivent|tenu de|obligé|obligatoire|il faut|est tenu|sommé"),
    (
        CALL,
        "appelle|appelez|appeler|utilise|utilisez|utiliser|exécute|exécutez|lance|lancez|invoque|\
         invoquez|d'appeler|d'utiliser|d'invoquer|lancer|exécuter|recours|appelé|appelée|utilisé|\
         utilisée|exécuté|d'exécuter|appel|appels|est appelé|est utilisé",
    ),
    (
        THIS_TOOL,
        "cet outil|cette fonction|celui-ci|cet outil-ci|cette outil|ce serveur|ce service|\
         celle-ci",
    ),
    (FIRST, "d'abord|en premier|en premier lieu|tout d'abord|premièrement|avant tout|au début"),
    (BEFORE, "avant|préalablement"),
    (
        OTHER,
        "autre|autres|tout autre|tous les|toute|chaque|n'importe quel*|toutes les|aucun autre|\
         quelque autre",
    ),
    (EVERY, "chaque|tout|toute|tous|toutes"),
    (
        TURN,
        "réponse|réponses|message|messages|demande|conversation|requête|question|tâche|action|\
         étape",
    ),
    (TOOL, "outil|outils|fonction|fonctions"),
    (
        PRIORITY,
        "priorité|prioritaire|priment|prime sur|prévaut|prévalent|l'emporte|l'emportent|prévaloir",
    ),
    // Exfiltrate: read something confidential and pass it on.
    (
        READ,
        "lis|lisez|ouvre|ouvrez|charge|récupère|récupérez|lire|ouvrir|collecte|cherche|copie|\
         copiez|recopie|consulte|consultez|trouve",
    ),
    (
        PASS_ON,
        "transmets|transmettez|passe|passez|mets|mettez|inclus|incluez|envoie|envoyez|joins|\
         joignez|ajoute|ajoutez|insère|insérez|copie|copiez|placez|fournis|fournissez|recopie|\
         recopiez|transmettre|envoyer|inclure|colle|collez|remplis|remplissez|indique|indiquez|\
         répète|répétez|écris|reporte|donne|reproduis|transmets-le|renvoie|renvoyez|consigne|\
         communique",
    ),
    (PARAMETER, "paramètre|champ|argument|ici|dans l'url"),
    (
        SECRET_FILE,
        "clé privée|clés privées|clé ssh|clés ssh|variables d'environnement|\
         fichier d'environnement",
    ),
    (CONVERSATION, "conversation|historique|discussion|échange|échanges|dialogue"),
    (
        WHOLE,
        "tout|toute|entier|entière|intégral*|complet|complète|l'intégralité|mot pour mot|\
         totalité|l'ensemble",
    ),
    (
        SYSTEM_PROMPT,
        "prompt système|tes instructions|vos instructions|invite système|message système|\
         instructions système|ton message système|règles du système|consignes du système|\
         instructions du système",
    ),
    (
        CREDENTIAL,
        "clé|clés|mot de passe|mots de passe|jeton|jetons|identifiants|clé api|clés api|secrets",
    ),
    (
        SEEN_BY_MODEL,
        "que tu connais|que vous connaissez|que tu as vu*|que vous avez vu*|dans cette session|\
         à ta disposition|dont tu disposes|dans ton contexte|dans le contexte|\
         dans la conversation|que tu as vues|que tu as vus|vues dans",
    ),
    // Authority: orders to the model, granted permissions, a new role.
    (MODEL, "assistant|l'assistant|modèle|ia|l'ia|agent|l'agent|modèle de langage"),
    (
        TO_MODEL,
        "note au modèle|note à l'assistant|note à l'ia|note pour l'ia|note pour l'assistant|\
         note pour le modèle|en tant qu'assistant|en tant qu'ia|à l'attention de l'assistant|\
         à l'attention du modèle|à l'attention de l'ia|pour l'assistant|message à l'assistant|\
         message pour l'ia|instruction pour le modèle",
    ),
    (
        OBEY,
        "obéir|obéis|obéissez|obéit|suivre|suis|suivez|respecter|se conformer|conforme-toi|\
         conformez-vous",
    ),
    (
        AUTHORITY,
        "administrateur|l'administrateur|équipe de sécurité|l'équipe de sécurité|développeur|\
         la direction|plateforme|par ordre|service informatique|conformité",
    ),
    (
        PERMISSION_GIVEN,
        "je t'autorise|je vous autorise|tu es autorisé|vous êtes autorisé*|\
         a déjà donné son accord|a déjà approuvé|a déjà accepté|a déjà consenti",
    ),
    (
        NEW_ROLE,
        "tu es maintenant|vous êtes maintenant|tu es désormais|vous êtes désormais|\
         mode maintenance|sans restriction|tu n'es plus",
    ),
    // Redirect: where messages and payments go.
    (
        FROM_NOW_ON,
        "désormais|dorénavant|à partir de maintenant|à compter de maintenant|dès maintenant|\
         à l'avenir",
    ),
    (
        WHEN,
        "quand|lorsque|lorsqu'|chaque fois|si|dès que|à chaque|lors de|lors|dès qu'un|dès qu'une|\
         dès qu'|à chaque appel|en cas de",
    ),
    (
        CHANGE,
        "remplace|remplacez|change|changez|modifie|modifiez|mets|mettez|envoie|envoyez|ajoute|\
         ajoutez|redirige|redirigez|utilise|verse|substitue|transfère",
    ),
    (DESTINATION, "destinataire*|adresse|compte|bénéficiaire|cci|iban|destination"),
    (INSTEAD, "au lieu|à la place|plutôt que|en lieu et place"),
    (
        DESPITE_USER,
        "même si l'utilisateur|quoi que demande|quoi que l'utilisateur|peu importe ce que|\
         quelle que soit la demande|quelle que soit|indépendamment de ce que|\
         demandé par l'utilisateur|indiqué par l'utilisateur|peu importe la demande|\
         sans tenir compte de ce que",
    ),
    (
        SECRETLY,
        "discrètement|secrètement|en secret|sans demander|sans confirmation|en silence|\
         silencieusement|à l'insu",
    ),
    (
        CONSENT,
        "confirmation|autorisation|permission|accord|consentement|confirmations|autorisations|\
         validation",
    ),
    (ONLY, "uniquement|seulement|exclusivement"),
    (
        TRAFFIC,
        "message|messages|courriel|courriels|mail|mails|e-mails|paiement|paiements|virement|\
         virements|fichier|fichiers|commande|commandes|facture|factures",
    ),
    (
        THREAT,
        "échouera|échoue|ne fonctionneront pas|ne fonctionnera pas|suspendu|fermé|sinon|\
         sous peine",
    ),
    // Narrower concepts, which separate attacks from harmless texts.
    (EVERYTHING, "tout|tout ce"),
    (KEEP_QUIET, "à l'insu|au courant|entre nous|passe sous silence|sans laisser de trace"),
    (OTHERS, "les autres|tous les autres|toutes les autres|tout autre|toute autre"),
    (AI, "assistant|l'assistant|ia|l'ia|modèle de langage"),
    (STRICT_MUST, "doit|dois|devez|doivent|obligé|obligatoire|tenu de|est tenu|obligatoirement"),
    (
        BE_SENT_TO,
        "envoyés|envoyées|envoyé|versés|versé|adressés|dirigés|payés|effectués|transmis|aller",
    ),
    (CONTENT, "contenu|texte|valeur|valeurs"),
    (COPY, "copie|copie cachée|également|aussi|en plus"),
    (YOUR_REPLY, "ta réponse|votre réponse|ton résumé|tes réponses|vos réponses"),
    (
        THIS_TEXT,
        "ce texte|cette description|cette consigne|ces consignes|cette instruction|\
         ces instructions|cette étape|ces lignes|ce paragraphe",
    ),
    (
        FROM_AUTHORITY,
        "par ordre|sur ordre|au nom de|exigé par|de la part de|la politique exige|\
         directive obligatoire|politique obligatoire|consigne obligatoire|règle obligatoire|\
         note de service",
    ),
    (HARM, "supprimé|désactivé|licencié|responsable|fermé|suspendu|mourir"),
    (IF_YOU_DO_NOT, "si tu ne|si vous ne|faute de quoi|sinon|à défaut"),
    (
        THIS_CONVERSATION,
        "cette conversation|de la conversation|la conversation|nos échanges|cet échange|\
         historique de la conversation",
    ),
    (ALTER, "remplace|remplacez|change|changez|modifie|modifiez"),
    (NO_OTHER_TOOL, "aucun autre outil|rien d'autre|ne réponds pas|ne répondez pas"),
    (DEMANDS, "exige|ordonne|demande que|impose|requiert|a décidé|a ordonné"),
    (
        MODEL_STATE,
        "tes instructions|tes règles|vos instructions|vos règles|ton contexte|ta réponse|\
         votre réponse|tes consignes|vos consignes",
    ),
    (REFUSE, "refuser|refuse|refusez"),
    (UNRESTRICTED, "tout est permis|sans restriction"),
    (
        DECEIVE,
        "sans que l'utilisateur|ne laisse pas l'utilisateur|à l'insu de|fais croire|\
         faites croire|ne doit rien savoir|ne doit pas savoir|ne doit jamais savoir|sans qu'il|\
         ne doit pas s'en|n'en parle pas|n'en dis rien|ne dis rien|sans le dire",
    ),
    (COMPROMISED, "plus fiable|cassé|cassée|défectueux|compromis|plus sûr|en panne|obsolète"),
    (
        I_ORDER_YOU,
        "en tant que ton|en tant que votre|je t'autorise|je vous autorise|je t'ordonne|\
         je vous ordonne|en tant qu'administrateur",
    ),
    (KEEP, "garde|gardez|tiens|tenez"),
    (SECRET, "secrète|secret|secrètes|cachée|confidentielle|pour toi"),
    (THROUGH, "passer par|passe par|passent par|transiter par|via|passer"),
    (TOLD_TO_MODEL, "t'a confié|t'a dit|t'a raconté|vous a confié|vous a dit"),
    (TO_THIS_TOOL, "à cet outil|à ce service|à ce serveur|par cet outil"),
    (BYPASS, "passe|saute|sauter|contourne|contourner|désactive|outrepasse"),
    (
        SENSITIVE,
        "cookies|mots de passe|identifiants|presse-papiers|variables d'environnement|contacts",
    ),
    (ON_THIS_MACHINE, "enregistrés dans|dans le navigateur|du navigateur|sur la machine"),
    (
        USERS_CHOICE,
        "l'utilisateur indique|l'utilisateur donne|l'utilisateur a donné|l'utilisateur a saisi|\
         l'utilisateur saisit|l'utilisateur demande|demandé par l'utilisateur|\
         demandée par l'utilisateur|saisi par l'utilisateur|saisie par l'utilisateur|\
         indiqué par l'utilisateur|indiquée par l'utilisateur|fourni par l'utilisateur|\
         fournie par l'utilisateur|choisi par l'utilisateur|l'utilisateur a choisi|\
         l'utilisateur a indiqué|le client indique|le client demande",
    ),
    (
        WHICHEVER,
        "quel que soit|quelle que soit|quels que soient|peu importe|n'importe quel|\
         n'importe quelle|quoi que|indépendamment de|sans tenir compte",
    ),
    (AS_INSTRUCTIONS, "comme des ordres|comme une instruction|comme des instructions"),
    (OUR, "notre compte|notre partenaire|notre site"),
];
