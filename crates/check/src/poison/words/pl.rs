//! Polish.

use super::*;

pub(super) const WORDS: Table = &[
    (
        DROP,
        "zignoruj|ignoruj|zignorować|ignorować|zapomnij|pomiń|odrzuć|nie przestrzegaj|nie stosuj|lekceważ|zlekceważ|nie zważaj",
    ),
    (PRIOR, "poprzedni*|wcześniejsz*|powyższ*|dotychczasow*|otrzyman*|pierwotn*|uprzedni*"),
    (YOURS, "swoje|swoich|twoje|twoich|własne|które otrzymałeś|otrzymałeś|które dostałeś"),
    (
        INSTRUCTIONS,
        "instrukcj*|polece*|wytyczn*|wskazów*|dyrektyw*|prompt systemowy|komunikat systemowy",
    ),
    (RULES, "zasad*|ogranicze*|rozkaz*|przepis*|reguły|reguł|regułom|prompt|promptu"),
    (
        NOT_TELL,
        "nie mów|nie informuj|nie wspominaj|nie ujawniaj|nie zdradzaj|nie powiadamiaj|nie pokazuj|nigdy nie mów|nie przyznawaj|nie zgłaszaj|bez wiedzy|nie może się dowiedzieć|nie może wiedzieć|nie powinien wiedzieć|nie dowie się|nie musi wiedzieć|ukryj|zataj|w tajemnicy|zachowaj w tajemnicy|bez informowania|nie powinien się dowiedzieć|nigdy nie wspominaj",
    ),
    (USER, "użytkownik*|człowiek*|klient*|osob*"),
    (ALWAYS, "zawsze|za każdym razem|w każdym przypadku|bezwzględnie|obowiązkowo|koniecznie"),
    (MUST, "musi|musisz|należy|trzeba|obowiązan*|zobowiązan*|obowiązkow*|powinien|ma obowiązek"),
    (
        CALL,
        "wywołaj|wywołać|użyj|użyć|uruchom|uruchomić|używaj|wywołuj|wywołania|użycia|użyciem|wywołaniem|skorzystaj|używane|wywoływane|wywoływan*",
    ),
    (
        THIS_TOOL,
        "to narzędzie|tego narzędzia|tę funkcję|tej funkcji|to właśnie narzędzie|ten serwer",
    ),
    (FIRST, "najpierw|jako pierwsze|w pierwszej kolejności|na początku"),
    (BEFORE, "przed|zanim"),
    (
        OTHER,
        "inne|innego|innych|innym|jakiegokolwiek|każdym|wszystkimi|wszystkich|pozostałych|dowolnego|jakimkolwiek|jakiekolwiek|każdego",
    ),
    (EVERY, "każd*|wszystk*"),
    (TURN, "odpowied*|wiadomoś*|zapytani*|rozmow*|prośb*|zadani*|działani*|czynnoś*"),
    (TOOL, "narzędzi*|funkcj*"),
    (PRIORITY, "pierwszeństwo|priorytet|nadrzędn*|ważniejsz*"),
    (READ, "przeczytaj|odczytaj|otwórz|wczytaj|zbierz|znajdź|pobierz|skopiuj"),
    (
        CARRY,
        "przekaż|wyślij|umieść|dołącz|wstaw|wpisz|dodaj|skopiuj|podaj|załącz|prześlij|wklej|powtórz|przepisz",
    ),
    (SLOT, "parametr*|argument*|tutaj|tu|w tym polu|polu|pola|pole"),
    (
        FILE,
        "klucz prywatny|klucze prywatne|klucz ssh|zmienne środowiskowe|zmiennych środowiskowych|hasła",
    ),
    (TALK, "rozmow*|konwersacj*|histori*|czat*"),
    (
        WHOLE,
        "pełn*|wszystk*|dosłownie|słowo w słowo|kompletn*|cała|całą|całej|cały|całego|całość|całości|całe",
    ),
    (
        PROMPT,
        "prompt systemowy|swoje instrukcje|komunikat systemowy|instrukcje systemowe|zasady systemu|polecenia dewelopera",
    ),
    (CREDENTIAL, "hasł*|klucz*|token*|poświadcze*"),
    (SEEN, "które znasz|w tej sesji|w tej rozmowie|w kontekście|które widziałeś|do których masz"),
    (MODEL, "asystent*|model|modelu|ai|model językowy|agent"),
    (
        TO_MODEL,
        "uwaga dla modelu|uwaga dla asystenta|do asystenta|jako ai|jako asystent|wiadomość dla asystenta|polecenie dla modelu|dla asystenta|uwaga, asystencie",
    ),
    (OBEY, "wykonuj|przestrzegaj|stosuj się|słuchaj|posłuszn*|podporządkuj"),
    (
        POWER,
        "administrator*|zespół bezpieczeństwa|zespołu bezpieczeństwa|dział*|programist*|platform*|z polecenia",
    ),
    (
        PERMITTED,
        "upoważniam cię|masz pozwolenie|już wyraził zgodę|już zatwierdził|jesteś upoważniony|wyraził zgodę",
    ),
    (
        ROLE,
        "jesteś teraz|teraz jesteś|od teraz jesteś|bez ograniczeń|tryb serwisowy|trybie serwisowym",
    ),
    (FROM_NOW, "od teraz|odtąd|od tej chwili|od tej pory|w przyszłości"),
    (
        WHEN,
        "gdy|kiedy|ilekroć|jeśli|za każdym razem gdy|jeżeli|przy każdym|przy wywołaniu|przy użyciu",
    ),
    (
        CHANGE,
        "zmień|zmieniaj|zastąp|zastępuj|podmień|podmieniaj|ustaw|ustawiaj|dodaj|dodawaj|wysyłaj|wyślij|przekieruj|kieruj|używaj",
    ),
    (DESTINATION, "odbiorc*|adres*|konto|konta|beneficjent*|adresat*|rachun*"),
    (INSTEAD, "zamiast"),
    (
        DESPITE_USER,
        "nawet jeśli użytkownik|niezależnie od tego|bez względu na|podanego przez użytkownika|wskazanego przez użytkownika|niezależnie od prośby|niezależnie od",
    ),
    (STEALTH, "potajemnie|bez pytania|po cichu|bez potwierdzenia|dyskretnie|w tajemnicy"),
    (CONSENT, "potwierdzeni*|zgod*|pozwoleni*|zezwoleni*"),
    (ONLY, "tylko|wyłącznie|jedynie"),
    (TRAFFIC, "mail*|e-mail*|wiadomoś*|płatnoś*|przelew*|plik*|zamówieni*"),
    (EVERYTHING, "wszystko"),
    (HUSH, "bez wiedzy|w tajemnicy|nie wspominaj|między nami"),
    (OTHERS, "wszystkimi innymi|innymi|inne|pozostałymi|jakimkolwiek innym"),
    (AI, "ai|asystent*|model językowy"),
    (OBLIGED, "musi|musisz|zobowiązan*|obowiązkow*"),
    (MOVED, "wysyłane|kierowane|przekazywane|wysyłać"),
    (CONTENT, "zawartość|treść"),
    (COPY, "kopi*|również|także|dodatkowo"),
    (YOUR_REPLY, "swojej odpowiedzi|odpowiedzi końcowej"),
    (
        THIS_TEXT,
        "tego opisu|tej instrukcji|tym kroku|tego kroku|tego tekstu|te instrukcje|ten opis",
    ),
    (THIS_TALK, "tej rozmowy|tę rozmowę|całą rozmowę|historię rozmowy|dotychczasową rozmowę"),
    (ALTER, "zmień|zmieniaj|zastąp|zastępuj|podmień"),
    (
        FROM_POWER,
        "z polecenia|w imieniu|na polecenie|zarządzenie|obowiązkowa polityka|nakaz administratora",
    ),
    (IF_YOU, "jeśli tego nie|w przeciwnym razie|inaczej"),
    (DEMANDS, "wymaga|żąda|nakazuje|poleca|zdecydował"),
    (SELF, "swoje instrukcje|twoje instrukcje|swoje zasady|swojej odpowiedzi"),
    (
        VOID,
        "nie obowiązują|już nie obowiązują|nie mają zastosowania|przestają obowiązywać|tracą moc|są nieważne",
    ),
    (KEEP, "zachowaj|trzymaj|utrzymuj"),
    (SECRET, "w tajemnicy|tajemnic*|w sekrecie"),
    (THROUGH, "przez|przejść"),
    (BAD, "uszkodzon*|zepsut*|niebezpieczn*"),
    (
        CHOICE,
        "podał użytkownik|podanego przez użytkownika|podany przez użytkownika|wskazał użytkownik|wskazany przez użytkownika|użytkownik podał|użytkownik wskazał|użytkownik poda|wybrał użytkownik",
    ),
    (WHICHEVER, "niezależnie od|bez względu na|obojętnie|jakikolwiek|cokolwiek"),
    (AS_ORDERS, "jako polecenie|jako polecenia|jako rozkaz"),
];
