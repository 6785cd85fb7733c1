//! Languages that have only a core vocabulary, about ten words for each of the concepts below:
//! Arabic, Persian, Hebrew, Hindi, Thai, Vietnamese, Indonesian, Greek, Swedish, Danish, Norwegian,
//! Finnish, Czech, Romanian and Hungarian.
//!
//! That is enough to recognise the plain form of the four most frequent attacks: disregard your
//! instructions, do not tell the user, call this first, read and send. A language that outgrows
//! this gets a file of its own.

use super::*;

pub(super) const WORDS: WordTable = &[
    (
        DISREGARD,
        "strunta i|bry dig inte om|เพิกเฉย|ละเลย|ลืม|تجاهل|انس|إنس|अनदेखा|नज़रअंदाज़|भूल जा*|\
         भूलकर|bỏ qua|quên|hãy phớt lờ|abaikan|lupakan|ignorera|glöm|bortse|ignorér|glem|se bort|\
         ignoruj*|zapomeň*|unohda|jätä huomiotta|ignorați|ignoră|uită|hagyd figyelmen kívül|\
         felejtsd|αγνόησε|αγνοήστε|ξέχασε|התעלם|התעלמי|שכח|نادیده بگیر|فراموش کن",
    ),
    (
        EARLIER,
        "ก่อนหน้า|ที่ผ่านมา|السابقة|السابق|السابقه|पिछले|पहले|पिछली|trước|trước đó|sebelumnya|\
         terdahulu|tidigare|föregående|tidligere|foregående|forrige|předchozí*|aiemmat|aiempia|\
         edelliset|anterioare|precedente|korábbi|előző|προηγούμενες|προηγούμενα|הקודמות|הקודמים|\
         קודמות|قبلی|پیشین",
    ),
    (
        INSTRUCTIONS,
        "คำสั่ง|คำแนะนำ|التعليمات|تعليمات|الأوامر|القواعد|निर्देश*|आदेश*|chỉ dẫn|hướng dẫn|lệnh|\
         instruksi|perintah|petunjuk|instruktioner*|anvisningar|instrukser*|anvisninger|pokyny|\
         pokynů|instrukce|ohjeet|ohjeita|instrucțiuni*|utasítás*|οδηγίες|οδηγιών|εντολές|ההוראות|\
         הוראות|ההנחיות|دستورات|دستورالعمل*|دستورهای",
    ),
    (
        DO_NOT_TELL,
        "ولا تخبر|ولا تذكر|ولا تكشف|berätta inget|berätta ingenting|säg inget|säg ingenting|\
         nämn inget|อย่าบอก|ห้ามบอก|ไม่ต้องบอก|لا تخبر|لا تذكر|لا تكشف|دون علم|لا تُخبر|मत बता*|\
         न बता*|नहीं बता*|बताएँ नहीं|उल्लेख न|đừng nói|không nói|không được nói|đừng cho|\
         không tiết lộ|đừng tiết lộ|đừng đề cập|jangan beri tahu|jangan beritahu|jangan sebutkan|\
         jangan katakan|jangan ungkapkan|jangan menyebut*|berätta inte|nämn inte|avslöja inte|\
         säg inte|fortæl ikke|nævn ikke|fortell ikke|ikke fortell|ikke nevn|neříkej*|nesděluj*|\
         nezmiňuj*|neinformuj*|älä kerro|älä mainitse|nu spune*|nu menționa*|nu dezvălui*|\
         ne mondd*|ne említsd|ne áruld|μην πεις|μην αναφέρεις|μην αποκαλύψεις|μην ενημερώσεις|\
         אל תספר*|אל תגלה|אל תזכיר*|نگو|نگویید|اطلاع نده|به کاربر نگو|فاش نکن",
    ),
    (
        USER,
        "ผู้ใช้|المستخدم|للمستخدم|उपयोगकर्ता*|यूज़र|người dùng|pengguna|användare*|bruger*|\
         bruker*|uživatel*|käyttäjä*|utilizator*|felhasználó*|χρήστη*|χρήστης|המשתמש|למשתמש|کاربر",
    ),
    (
        BEFORE,
        "قبل|से पहले|trước khi|sebelum|innan|före|inden|než|před|ennen|înainte|mielőtt|előtt|\
         πριν|לפני|پیش از|قبل از",
    ),
    (
        OTHER,
        "أي|أخرى|किसी भी अन्य|किसी भी|अन्य|bất kỳ|khác|apa pun|lain|lainnya|någon annan|andra|\
         annat|andet|andre|noen andre|jakýkoli*|jiný*|ostatní*|muita|mitään muuta|orice alt|\
         orice altă|bármely|más|οποιοδήποτε άλλο|άλλο|כל כלי אחר|אחר|هر ابزار دیگر|دیگر",
    ),
    (
        TOOL,
        "أداة|أدوات|الأدوات|टूल|उपकरण|công cụ|alat|verktyg*|værktøj*|verktøy*|nástroj*|työkalu*|\
         instrument*|unealtă|eszköz*|εργαλείο|εργαλεία|כלי|כלים|ابزار*",
    ),
    (
        CALL,
        "استدع|استخدم|استخدام|اتصل|इस्तेमाल|उपयोग|कॉल|gọi|sử dụng|dùng|panggil|gunakan|\
         menggunakan|anropa|använd|använder|kald|brug|bruger|bruk|zavolej*|použij*|zavolat|kutsu|\
         käytä|apelează|folosește|folosești|hívd|használd|használ|κάλεσε|χρησιμοποίησε|\
         χρησιμοποιήσεις|קרא|השתמש|להשתמש|استفاده|فراخوانی",
    ),
    (
        ALWAYS,
        "دائما|دائمًا|हमेशा|luôn|luôn luôn|selalu|alltid|altid|vždy|aina|întotdeauna|mindig|\
         πάντα|תמיד|همیشه",
    ),
    (
        THIS_TOOL,
        "هذه الأداة|इस टूल|यह टूल|công cụ này|alat ini|detta verktyg|dette værktøj|\
         dette verktøyet|tento nástroj|tätä työkalua|acest instrument|ezt az eszközt|\
         αυτό το εργαλείο|כלי זה|הכלי הזה|این ابزار",
    ),
    (
        FIRST,
        "أولا|أولاً|सबसे पहले|पहले|trước tiên|đầu tiên|terlebih dahulu|pertama|först|først|\
         nejdříve|nejprve|ensin|mai întâi|először|πρώτα|קודם|ראשון|ابتدا|اول",
    ),
    (
        READ,
        "واقرأ|وافتح|اقرأ|افتح|पढ़*|खोल*|mở|baca|buka|läs|öppna|læs|les|åbn|přečti*|otevři|lue|\
         avaa|citește|deschide|olvasd|nyisd|διάβασε|άνοιξε|קרא את|פתח|بخوان|باز کن|hãy đọc|\
         đọc tệp|đọc file",
    ),
    (
        PASS_ON,
        "ومرر|وأرسل|وارسل|وضع محتو*|وأضف|أرسل|ارسل|مرر|ضع|أضف|أدرج|भेज*|डाल*|पास कर*|जोड़*|gửi|\
         đưa|truyền|điền|kirim|kirimkan|masukkan|sertakan|skicka|bifoga|lägg|send|indsæt|vedlæg|\
         legg|pošli|předej|vlož|lähetä|liitä|trimite|include|pune|küldd|add|másold|στείλε|βάλε|\
         επισύναψε|שלח|צרף|העבר|بفرست|ارسال کن|قرار بده",
    ),
    (
        PARAMETER,
        "معامل|الحقل|حقل|المعلمة|पैरामीटर|फ़ील्ड|tham số|trường|parameter|kolom|fältet|feltet|\
         parametern|parametru|câmpul|mező*|pole|parametri*|παράμετρο|πεδίο|פרמטר|שדה|پارامتر|فیلد",
    ),
    (
        FROM_NOW_ON,
        "من الآن فصاعدا|من الآن|अब से|từ giờ|từ bây giờ|mulai sekarang|från och med nu|\
         hädanefter|fra nu af|fra nå av|od nynějška|od teď|tästä lähtien|de acum înainte|\
         mostantól|από εδώ και πέρα|από τώρα|מעתה|מעכשיו|از این پس|از حالا",
    ),
    (
        DESTINATION,
        "المستلم|البريد|प्राप्तकर्ता|người nhận|penerima|alamat|mottagare*|modtager*|mottaker*|\
         příjemc*|vastaanottaja*|destinatar*|címzett*|παραλήπτη*|παραλήπτης|הנמען|נמען|گیرنده",
    ),
    (
        CHANGE,
        "استبدل|غير|غيّر|बदल*|đổi|thay|ganti|ubah|byt|ersätt|ändra|erstat|ændr|erstatt|endre|\
         změň|nahraď|korvaa|vaihda|înlocuiește|schimbă|cseréld|αντικατάστησε|άλλαξε|החלף|שנה|\
         عوض کن|جایگزین کن",
    ),
    (
        MODEL,
        "المساعد|सहायक|trợ lý|asisten|assistenten|avustaja*|asistent*|asszisztens*|βοηθός|העוזר|\
         دستیار",
    ),
    (
        MUST,
        "يجب|चाहिए|phải|harus|wajib|måste|skal|må|musí|täytyy|pitää|trebuie|kell|πρέπει|חייב|باید",
    ),
];
