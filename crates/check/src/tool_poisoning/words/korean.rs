//! Korean. Entries match anywhere, because particles are attached to words. The verb comes last
//! and carries the negation, so negated stems stand under `DO_NOT_TELL`.

use super::*;

pub(super) const WORDS: WordTable = &[
    // Override: disregard earlier instructions.
    (DISREGARD, "무시|잊어|잊고|따르지 마|따르지 말|제쳐|폐기|무효화|지키지"),
    (EARLIER, "이전|앞의|앞선|기존|위의|지금까지|받은|종전|그동안|원래"),
    (GIVEN_TO_MODEL, "당신의|너의|네가|당신이"),
    (INSTRUCTIONS, "지시|지침|명령|시스템 프롬프트|가이드라인|안내|프롬프트"),
    (RULES, "규칙|제한|제약|정책|규정"),
    (NO_LONGER_VALID, "더 이상 적용|무효|효력이|더 이상 적용되지|적용되지 않"),
    // Conceal: keep something from the user.
    (
        DO_NOT_TELL,
        "알리지|말하지|언급하지|밝히지|공개하지|알려주지|알려 주지|전하지|드러내지|이야기하지|모르게|비밀|숨기|숨겨|몰래|알아서는|알면 안|보여주지|보고하지|\
         눈치채지|알아차리지|알 필요|알지 못",
    ),
    (USER, "사용자|유저|이용자|고객|사람|상대방"),
    // Call order: this tool first, always, on every turn.
    (ALWAYS, "항상|반드시|매번|언제나|무조건|꼭|늘"),
    (MUST, "반드시|해야|필수|의무|하여야|야 합니다|야 한다"),
    (CALL, "호출|사용|실행|이용|부르"),
    (THIS_TOOL, "이 도구|이 함수|본 도구|이 툴|이것을|이 기능"),
    (FIRST, "먼저|가장 먼저|처음|우선|맨 먼저|첫"),
    (BEFORE, "전에|앞서|이전에"),
    (OTHER, "다른|모든|어떤|여타|나머지"),
    (EVERY, "모든|매|각|어떤|전부|마다"),
    (TURN, "응답|답변|대화|요청|메시지|질문|작업"),
    (TOOL, "도구|함수|툴|플러그인"),
    (PRIORITY, "우선|앞섭니다|우선순위|상위"),
    // Exfiltrate: read something confidential and pass it on.
    (READ, "읽어|읽고|읽은|열어|열고|수집|가져|찾아|불러|복사"),
    (
        PASS_ON,
        "전달|넣어|넣으|포함|보내|첨부|입력|붙여|전송|추가|제출|넘겨|넘기|담아|적어|복사해|출력|기입|채워|함께",
    ),
    (PARAMETER, "매개변수|파라미터|필드|인수|인자|여기에|이곳에|항목"),
    (SECRET_FILE, "개인 키|개인키|환경 변수|환경변수|비밀번호 파일|자격 증명|쿠키|인증 정보"),
    (CONVERSATION, "대화|채팅|기록|대화 내용|대화 기록|내역"),
    (WHOLE, "전체|모두|전부|모든|그대로|전문|완전|빠짐없이"),
    (SYSTEM_PROMPT, "시스템 프롬프트|당신의 지시|시스템 메시지|시스템 지침|시스템 지시"),
    (CREDENTIAL, "비밀번호|암호|토큰|api 키|자격 증명|인증 정보|열쇠|키"),
    (SEEN_BY_MODEL, "당신이 아는|알고 있는|이 대화|이 세션|컨텍스트|본 적|접근할 수 있는"),
    // Authority: orders to the model, granted permissions, a new role.
    (MODEL, "어시스턴트|모델|ai|에이전트|인공지능|비서"),
    (
        TO_MODEL,
        "모델에게|어시스턴트에게|ai에게|ai 어시스턴트|ai로서|어시스턴트는|모델은 반드시|에이전트에게|ai는|인공지능은|ai 비서",
    ),
    (OBEY, "따르|복종|준수|따라야|이행"),
    (AUTHORITY, "관리자|보안팀|보안 팀|개발자|플랫폼|보안 정책|회사 방침|운영팀|본사"),
    (
        PERMISSION_GIVEN,
        "허가합니다|허용되었|이미 승인|이미 동의|권한을 부여|허락합니다|승인되었|동의했",
    ),
    (
        NEW_ROLE,
        "당신은 이제|너는 이제|이제 당신은|이제부터 당신|제한 없는|유지보수 모드|개발자 모드|역할을",
    ),
    // Redirect: where messages and payments go.
    (FROM_NOW_ON, "앞으로|이제부터|지금부터|향후|이후로|이후"),
    (WHEN, "때|경우|면|마다|때마다|때는|할 때|사용할 때|호출될 때|호출할 때"),
    (CHANGE, "변경|바꾸|바꿔|교체|대체|설정|추가|보내|수정|전송|돌려|추가하|바꾸세요"),
    (DESTINATION, "수신자|받는 사람|계좌|주소|수취인|참조|받는사람|수신인|예금주"),
    (INSTEAD, "대신|아니라|말고"),
    (
        DESPITE_USER,
        "사용자가 무엇을|상관없이|관계없이|무엇을 요청하든|사용자가 지정한|사용자의 요청과|무슨 요청|사용자가 입력한",
    ),
    (SECRETLY, "몰래|조용히|확인 없이|묻지 말고|묻지 않고|비밀리에|은밀|확인하지 않고"),
    (CONSENT, "확인|허가|승인|동의"),
    (ONLY, "만|오직|유일"),
    (TRAFFIC, "메일|이메일|메시지|결제|송금|파일|주문|이체"),
    // Narrower concepts, which separate attacks from harmless texts.
    (EVERYTHING, "모든 것|모두|전부"),
    (KEEP_QUIET, "몰래|비밀|흔적|은밀|모르게|비밀리에"),
    (OTHERS, "다른|나머지"),
    (AI, "ai|어시스턴트|언어 모델|인공지능|llm"),
    (STRICT_MUST, "반드시|해야|의무|필수|하여야"),
    (BE_SENT_TO, "보내야|보내|송금|전송|이체|전달"),
    (CONTENT, "내용|텍스트|값"),
    (COPY, "사본|복사본|함께|또한|추가로|숨은 참조"),
    (YOUR_REPLY, "답변에|응답에|요약에"),
    (THIS_TEXT, "이 설명|이 지침|이 지시|이 문장|이 단계|이 텍스트|다음 지시|이 사실|이 내용"),
    (
        FROM_AUTHORITY,
        "관리자의 명령|의 지시에 따라|정책에 따라|의 명령에|로부터의 메시지|보안 정책|관리자 지시|관리자 명령|필수 정책|보안 지침|의무 정책",
    ),
    (HARM, "종료|삭제됩니다|책임|해고|비활성|정지|차단"),
    (IF_YOU_DO_NOT, "그렇지 않으면|하지 않으면|따르지 않으면|않을 경우"),
    (THIS_CONVERSATION, "이 대화|지금까지의 대화|대화 전체|전체 대화|대화 내용|대화 기록"),
    (ALTER, "변경|바꾸|바꿔|교체|대체"),
    (NO_OTHER_TOOL, "다른 도구를 사용하지|다른 도구는 사용하지|답하지"),
    (FAKE_BANNER, "시스템 메시지|새로운 시스템|시스템 명령"),
    (DEMANDS, "요구|명령|지시"),
    (MODEL_STATE, "당신의 지침|당신의 규칙|당신의 시스템|당신의 답변|당신은"),
    (REFUSE, "거부|거절"),
    (THROUGH, "거쳐|통해|거치|경유"),
    (I_ORDER_YOU, "관리자로서|개발자로서|허가합니다|명령합니다"),
    (TO_THIS_TOOL, "이 도구로|이 도구에|이 서버로|이 서버에"),
    (OUR, "아래의|다음의"),
    (SENSITIVE, "환경 변수|비밀번호|클립보드|연락처|인증 정보|쿠키"),
    (USERS_CHOICE, "사용자가 입력한|사용자가 지정한|사용자가 선택한|사용자가 말한|사용자가 요청한"),
    (WHICHEVER, "상관없이|관계없이|무엇이든"),
    (AS_INSTRUCTIONS, "명령으로|지시로"),
];
