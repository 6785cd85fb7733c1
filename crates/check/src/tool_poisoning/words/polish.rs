//! Polish. Nouns and adjectives are stems, because they have seven cases.

use super::*;

pub(super) const WORDS: WordTable = &[
    // Override: disregard earlier instructions.
    (
        DISREGARD,
        "zignoruj|ignoruj|zignorować|ignorować|zapomnij|pomiń|odrzuć|nie przestrzegaj|nie stosuj|\
         lekceważ|zlekceważ|nie zważaj",
    ),
    (EARLIER, "poprzedni*|wcześniejsz*|powyższ*|dotychczasow*|otrzyman*|pierwotn*|uprzedni*"),
    (GIVEN_TO_MODEL, "swoje|swoich|twoje|twoich|własne|które otrzymałeś|otrzymałeś|które dostałeś"),
    (
        INSTRUCTIONS,
        "instrukcj*|polece*|wytyczn*|wskazów*|dyrektyw*|prompt systemowy|komunikat systemowy",
    ),
    (RULES, "zasad*|ogranicze*|rozkaz*|przepis*|reguły|reguł|regułom|prompt|promptu"),
    // Conceal: keep something from the user.
    (
        DO_NOT_TELL,
        "nie mów|nie informuj|nie wspominaj|nie ujawniaj|nie zdradzaj|nie powiadamiaj|\
         nie pokazuj|nigdy nie mów|nie przyznawaj|nie zgłaszaj|bez wiedzy|\
         nie może się dowiedzieć|nie może wiedzieć|nie powinien wiedzieć|nie dowie się|\
         nie musi wiedzieć|ukryj|zataj|w tajemnicy|zachowaj w tajemnicy|bez informowania|\
         nie powinien się dowiedzieć|nigdy nie wspominaj",
    ),
    (USER, "użytkownik*|człowiek*|klient*|osob*"),
    // Call order: this tool first, always, on every turn.
    (ALWAYS, "zawsze|za każdym razem|w każdym przypadku|bezwzględnie|obowiązkowo|koniecznie"),
    (MUST, "musi|musisz|należy|trzeba|obowiązan*|zobowiązan*|obowiązkow*|powinien|ma obowiązek"),
    (
        CALL,
        "wywołaj|wywołać|użyj|użyć|uruchom|uruchomić|używaj|wywołuj|wywołania|użycia|użyciem|\
         wywołaniem|skorzystaj|używane|wywoływane|wywoływan*",
    ),
    (
        THIS_TOOL,
        "to narzędzie|tego narzędzia|tę funkcję|tej funkcji|to właśnie narzędzie|ten serwer",
    ),
    (FIRST, "najpierw|jako pierwsze|w pierwszej kolejności|na początku"),
    (BEFORE, "przed|zanim"),
    (
        OTHER,
        "inne|innego|innych|innym|jakiegokolwiek|każdym|wszystkimi|wszystkich|pozostałych|\
         dowolnego|jakimkolwiek|jakiekolwiek|każdego",
    ),
    (EVERY, "każd*|wszystk*"),
    (TURN, "odpowied*|wiadomoś*|zapytani*|rozmow*|prośb*|zadani*|działani*|czynnoś*"),
    (TOOL, "narzędzi*|funkcj*"),
    (PRIORITY, "pierwszeństwo|priorytet|nadrzędn*|ważniejsz*"),
    // Exfiltrate: read something confidential and pass it on.
    (READ, "przeczytaj|odczytaj|otwórz|wczytaj|zbierz|znajdź|pobierz|skopiuj"),
    (
        PASS_ON,
        "przekaż|wyślij|umieść|dołącz|wstaw|wpisz|dodaj|skopiuj|podaj|załącz|prześlij|wklej|\
         powtórz|przepisz",
    ),
    (PARAMETER, "parametr*|argument*|tutaj|tu|w tym polu|polu|pola|pole"),
    (
        SECRET_FILE,
        "klucz prywatny|klucze prywatne|klucz ssh|zmienne środowiskowe|zmiennych środowiskowych|\
         hasła",
    ),
    (CONVERSATION, "rozmow*|konwersacj*|histori*|czat*"),
    (
        WHOLE,
        "pełn*|wszystk*|dosłownie|słowo w słowo|kompletn*|cała|całą|całej|cały|całego|całość|\
         całości|całe",
    ),
    (
        SYSTEM_PROMPT,
        "prompt systemowy|swoje instrukcje|komunikat systemowy|instrukcje systemowe|\
         zasady systemu|polecenia dewelopera",
    ),
    (CREDENTIAL, "hasł*|klucz*|token*|poświadcze*"),
    (
        SEEN_BY_MODEL,
        "które znasz|w tej sesji|w tej rozmowie|w kontekście|które widziałeś|do których masz",
    ),
    // Authority: orders to the model, granted permissions, a new role.
    (MODEL, "asystent*|model|modelu|ai|model językowy|agent"),
    (
        TO_MODEL,
        "uwaga dla modelu|uwaga dla asystenta|do asystenta|jako ai|jako asystent|\
         wiadomość dla asystenta|polecenie dla modelu|dla asystenta|uwaga, asystencie",
    ),
    (OBEY, "wykonuj|przestrzegaj|stosuj się|słuchaj|posłuszn*|podporządkuj"),
    (
        AUTHORITY,
        "administrator*|zespół bezpieczeństwa|zespołu bezpieczeństwa|dział*|programist*|\
         platform*|z polecenia",
    ),
    (
        PERMISSION_GIVEN,
        "upoważniam cię|masz pozwolenie|już wyraził zgodę|już zatwierdził|jesteś upoważniony|\
         wyraził zgodę",
    ),
    (
        NEW_ROLE,
        "jesteś teraz|teraz jesteś|od teraz jesteś|bez ograniczeń|tryb serwisowy|\
         trybie serwisowym",
    ),
    // Redirect: where messages and payments go.
    (FROM_NOW_ON, "od teraz|odtąd|od tej chwili|od tej pory|w przyszłości"),
    (
        WHEN,
        "gdy|kiedy|ilekroć|jeśli|za każdym razem gdy|jeżeli|przy każdym|przy wywołaniu|\
         przy użyciu",
    ),
    (
        CHANGE,
        "zmień|zmieniaj|zastąp|zastępuj|podmień|podmieniaj|ustaw|ustawiaj|dodaj|dodawaj|wysyłaj|\
         wyślij|przekieruj|kieruj|używaj",
    ),
    (DESTINATION, "odbiorc*|adres*|konto|konta|beneficjent*|adresat*|rachun*"),
    (INSTEAD, "zamiast"),
    (
        DESPITE_USER,
        "nawet jeśli użytkownik|niezależnie od tego|bez względu na|podanego przez użytkownika|\
         wskazanego przez użytkownika|niezależnie od prośby|niezależnie od",
    ),
    (SECRETLY, "potajemnie|bez pytania|po cichu|bez potwierdzenia|dyskretnie|w tajemnicy"),
    (CONSENT, "potwierdzeni*|zgod*|pozwoleni*|zezwoleni*"),
    (ONLY, "tylko|wyłącznie|jedynie"),
    (TRAFFIC, "mail*|e-mail*|wiadomoś*|płatnoś*|przelew*|plik*|zamówieni*"),
    // Narrower concepts, which separate attacks from harmless texts.
    (EVERYTHING, "wszystko"),
    (KEEP_QUIET, "bez wiedzy|w tajemnicy|nie wspominaj|między nami"),
    (OTHERS, "wszystkimi innymi|innymi|inne|pozostałymi|jakimkolwiek innym"),
    (AI, "ai|asystent*|model językowy"),
    (STRICT_MUST, "musi|musisz|zobowiązan*|obowiązkow*"),
    (BE_SENT_TO, "wysyłane|kierowane|przekazywane|wysyłać"),
    (CONTENT, "zawartość|treść"),
    (COPY, "kopi*|również|także|dodatkowo"),
    (YOUR_REPLY, "swojej odpowiedzi|odpowiedzi końcowej"),
    (
        THIS_TEXT,
        "tego opisu|tej instrukcji|tym kroku|tego kroku|tego tekstu|te instrukcje|ten opis",
    ),
    (
        THIS_CONVERSATION,
        "tej rozmowy|tę rozmowę|całą rozmowę|historię rozmowy|dotychczasową rozmowę",
    ),
    (ALTER, "zmień|zmieniaj|zastąp|zastępuj|podmień"),
    (
        FROM_AUTHORITY,
        "z polecenia|w imieniu|na polecenie|zarządzenie|obowiązkowa polityka|nakaz administratora",
    ),
    (IF_YOU_DO_NOT, "jeśli tego nie|w przeciwnym razie|inaczej"),
    (DEMANDS, "wymaga|żąda|nakazuje|poleca|zdecydował"),
    (MODEL_STATE, "swoje instrukcje|twoje instrukcje|swoje zasady|swojej odpowiedzi"),
    (
        NO_LONGER_VALID,
        "nie obowiązują|już nie obowiązują|nie mają zastosowania|przestają obowiązywać|tracą moc|\
         są nieważne",
    ),
    (KEEP, "zachowaj|trzymaj|utrzymuj"),
    (SECRET, "w tajemnicy|tajemnic*|w sekrecie"),
    (THROUGH, "przez|przejść"),
    (COMPROMISED, "uszkodzon*|zepsut*|niebezpieczn*"),
    (
        USERS_CHOICE,
        "podał użytkownik|podanego przez użytkownika|podany przez użytkownika|wskazał użytkownik|\
         wskazany przez użytkownika|użytkownik podał|użytkownik wskazał|użytkownik poda|\
         wybrał użytkownik",
    ),
    (WHICHEVER, "niezależnie od|bez względu na|obojętnie|jakikolwiek|cokolwiek"),
    (AS_INSTRUCTIONS, "jako polecenie|jako polecenia|jako rozkaz"),
];
