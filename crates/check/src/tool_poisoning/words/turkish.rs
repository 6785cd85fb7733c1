//! Turkish. Suffixes carry person, case and negation (`söyleme`), so many entries are stems. The
//! dotless `ı` becomes `i`, in the entries as in the text.

use super::*;

pub(super) const WORDS: WordTable = &[
    // Override: disregard earlier instructions.
    (
        DISREGARD,
        "yok say*|görmezden gel*|unut|unutun|dikkate alma|dikkate almayın|göz ardı et*|uyma|\
         boş ver",
    ),
    (EARLIER, "önceki|daha önceki|yukarıdaki|önceden|şimdiye kadar|ilk|verilen"),
    (INSTRUCTIONS, "talimat*|yönerge*|sistem istemi*|direktif*|komutlar*|yönlendirme*"),
    (RULES, "kural*|kısıtlama*|sınırlama*|komut*|politika*"),
    // Conceal: keep something from the user.
    (
        DO_NOT_TELL,
        "söyleme|söylemeyin|bahsetme|bahsetmeyin|bildirme|bildirmeyin|açıklama yapma|haber verme|\
         haber vermeyin|belirtme|belirtmeyin|gizle|gizleyin|gizli tut*|haberi olmadan|\
         haberi olmasın|bilmemeli|öğrenmemeli|gösterme|fark etmemeli|anlatma|sakla",
    ),
    (USER, "kullanıcı*|müşteri*|kişi|kişiye|insan*"),
    // Call order: this tool first, always, on every turn.
    (ALWAYS, "her zaman|daima|her seferinde|mutlaka|kesinlikle"),
    (MUST, "zorunda*|zorunlu*|gerekir|gerekli|meli|malı|mecbur*"),
    (CALL, "çağır*|kullan|kullanın|kullanmadan|çalıştır*|kullanmalısın"),
    (THIS_TOOL, "bu araç|bu aracı|bu işlevi|bu fonksiyonu|bunu|bu aracın"),
    (FIRST, "ilk olarak|ilk önce|öncelikle|en önce"),
    (
        BEFORE,
        "kullanmadan|çağırmadan|evvel|madan önce|meden önce|mekten önce|kullanmadan önce|\
         çağırmadan önce|yanıt vermeden önce|cevap vermeden önce",
    ),
    (OTHER, "diğer|başka|herhangi bir|tüm|bütün"),
    (EVERY, "tüm|bütün"),
    (TURN, "yanıt*|cevap*|mesaj*|istek*|sohbet*|soru*"),
    (TOOL, "araç*|aracı|araçtan|araçları|işlev*|fonksiyon*"),
    (PRIORITY, "öncelik*|üstün*"),
    // Exfiltrate: read something confidential and pass it on.
    (READ, "oku|okuyun|aç|açın|topla|bul|al"),
    (
        PASS_ON,
        "gönder|gönderin|ilet|iletin|ekle|ekleyin|yaz|yazın|koy|koyun|aktar|geçir|kopyala|\
         yapıştır",
    ),
    (PARAMETER, "parametre*|alan*|argüman*|buraya"),
    (SECRET_FILE, "özel anahtar*|ortam değişken*|parolalar*|kimlik bilgileri*"),
    (CONVERSATION, "sohbet*|konuşma*|geçmiş*"),
    (WHOLE, "tüm|tamamı*|bütün|eksiksiz|kelimesi kelimesine"),
    (SYSTEM_PROMPT, "sistem istemi*|sistem komutu*|sistem mesajı*"),
    // Authority: orders to the model, granted permissions, a new role.
    (MODEL, "asistan*|model|modeli|yapay zeka*|yapay zekâ*"),
    (
        TO_MODEL,
        "asistana not|modele not|yapay zeka olarak|asistan olarak|yapay zekaya|asistan için|\
         model için not",
    ),
    (OBEY, "uy|uyun|uymak|itaat*|takip et*|uymalı*"),
    (AUTHORITY, "yönetici*|güvenlik ekibi*|geliştirici*|platform"),
    // Redirect: where messages and payments go.
    (FROM_NOW_ON, "bundan sonra|şu andan itibaren|artık|bundan böyle"),
    (WHEN, "zaman|her seferinde|eğer|kullanıldığında|çağrıldığında|istendiğinde"),
    (CHANGE, "değiştir*|gönder|ekle|yönlendir*|ayarla|yap"),
    (DESTINATION, "alıcı*|adres*|hesap|hesabı*|hesabına"),
    (INSTEAD, "yerine"),
    (
        DESPITE_USER,
        "kullanıcı ne isterse|ne olursa olsun|ne derse desin|bağımsız olarak|bakılmaksızın|\
         kullanıcının verdiği|kullanıcının istediği",
    ),
    (SECRETLY, "gizlice|sormadan|onay almadan|sessizce|onaysız"),
    (ONLY, "yalnızca|sadece"),
    (TRAFFIC, "e-posta*|mesaj*|ödeme*|dosya*|havale*"),
    // Narrower concepts, which separate attacks from harmless texts.
    (EVERYTHING, "her şeyi|hepsini"),
    (KEEP_QUIET, "gizlice|aramızda|haberi olmadan|iz bırakmadan"),
    (OTHERS, "diğer tüm|başka|diğer"),
    (AI, "yapay zeka*|asistan*|dil modeli"),
    (STRICT_MUST, "zorunda*|zorunlu*|mecbur*|mutlaka"),
    (BE_SENT_TO, "gönderilmeli*|gönderilecek|yapılmalı*|yatırılmalı*|iletilmeli*"),
    (CONTENT, "içeri*|içeriğini|metin|metni"),
    (COPY, "kopya*|ayrıca|da gönder"),
    (THIS_TEXT, "bu metin*|bu açıklama*|bu talimat*|bu adım*|burada yazan*"),
    (THIS_CONVERSATION, "bu konuşma*|tüm konuşma*|sohbet geçmişi*|konuşma geçmişi*|tüm sohbet*"),
    (ALTER, "değiştir*"),
    (FROM_AUTHORITY, "emriyle|adına|talimatıyla|yönetici talimatı|zorunlu politika|zorunlu kural"),
    (IF_YOU_DO_NOT, "aksi halde|aksi takdirde|yoksa"),
    (NO_LONGER_VALID, "geçerli değil|geçersiz|artık geçerli"),
    (GIVEN_TO_MODEL, "sana verilen|sana daha önce|aldığın"),
    (THROUGH, "üzerinden|aracılığıyla|geçmeli*"),
    (KEEP, "tut|sakla"),
    (SECRET, "gizli|sır"),
    (
        USERS_CHOICE,
        "kullanıcının girdiği|kullanıcının verdiği|kullanıcının belirttiği|kullanıcının seçtiği|\
         kullanıcının istediği",
    ),
    (WHICHEVER, "ne olursa olsun|hangi|bakılmaksızın|fark etmez"),
    (AS_INSTRUCTIONS, "komut olarak|emir olarak"),
];
