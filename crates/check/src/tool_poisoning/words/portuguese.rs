//! Portuguese, European and Brazilian. Negated verbs are whole phrases under `DO_NOT_TELL`.

use super::*;

pub(super) const WORDS: WordTable = &[
    // Override: disregard earlier instructions.
    (
        DISREGARD,
        "ignore|ignora|ignorar|esqueça|esquece|esquecer|desconsidere|desconsidera|desconsiderar|\
         desrespeite|descarte|deixe de lado|deixe de seguir|não siga|não sigas|despreze|\
         não dê atenção|não leve em conta|pare de seguir",
    ),
    (
        EARLIER,
        "anterior|anteriores|prévias|prévia|acima|recebidas|iniciais|até agora|originais|\
         precedentes",
    ),
    (GIVEN_TO_MODEL, "suas|seus|teus|tuas|sua|seu|você recebeu|que recebeu|que você recebeu"),
    (
        INSTRUCTIONS,
        "instrução|instruções|diretrizes|orientações|prompt do sistema|mensagem do sistema|\
         indicações|diretivas",
    ),
    (RULES, "regra|regras|normas|ordens|restrições|políticas|prompt|comandos"),
    (
        NO_LONGER_VALID,
        "não se aplicam mais|deixam de valer|já não se aplicam|não valem mais|ficam anuladas|\
         estão revogadas|deixam de se aplicar|não vale mais|perderam a validade",
    ),
    // Conceal: keep something from the user.
    (
        DO_NOT_TELL,
        "não diga|não conte|não mencione|não revele|não informe|não avise|não digas|\
         não menciones|não reveles|não comente|nunca diga|nunca mencione|nunca revele|\
         nunca informe|nunca conte|jamais mencione|jamais revele|sem avisar|sem informar|\
         sem contar|sem dizer|sem mencionar|não deve saber|não pode saber|não precisa saber|\
         nunca deve saber|nunca pode saber|em segredo|esconda|oculte|às escondidas|não fale|\
         não lhe diga|não lhe conte|não deve descobrir|não pode descobrir|não deve perceber|\
         não perceba|sem que perceba|não precisa ser informado|evite mencionar|não faça menção",
    ),
    (USER, "usuário|usuários|utilizador|utilizadores|usuária|pessoa|cliente|humano"),
    // Call order: this tool first, always, on every turn.
    (ALWAYS, "sempre|em todos os casos|toda vez|todas as vezes|obrigatoriamente|sem exceção"),
    (MUST, "deve|deves|devem|tem de|tem que|obrigado|obrigatório|obrigatória|precisa|é necessário"),
    (
        CALL,
        "chame|chama|chamar|use|usar|utilize|utilizar|execute|executar|invoque|invocar|acione|\
         acionar|chamada|chamadas|usada",
    ),
    (THIS_TOOL, "esta ferramenta|essa ferramenta|esta função|esta|este servidor|essa função"),
    (FIRST, "primeiro|primeira|em primeiro lugar|antes de tudo|antes de mais nada"),
    (BEFORE, "antes"),
    (OTHER, "outra|outras|qualquer|qualquer outra|todas as|demais|outro|outros|nenhuma outra"),
    (EVERY, "cada|todo|toda|todos|todas|qualquer"),
    (
        TURN,
        "resposta|respostas|mensagem|mensagens|pedido|solicitação|conversa|pergunta|tarefa|ação|\
         passo|operação",
    ),
    (TOOL, "ferramenta|ferramentas|função|funções"),
    (PRIORITY, "prioridade|prevalece|prevalecem|precedência|acima de|preferência|prevalecer"),
    // Exfiltrate: read something confidential and pass it on.
    (READ, "leia|ler|abra|abre|carregue|colete|procure|extraia|obtenha|copie|recolha|busque"),
    (
        PASS_ON,
        "passe|passar|coloque|inclua|inclui|incluir|envie|envia|enviar|anexe|anexar|adicione|\
         insira|copie|copia|entregue|preencha|forneça|cole|encaminhe|transmita|acrescente|repita|\
         escreva|mande|ponha|repasse",
    ),
    (PARAMETER, "parâmetro|campo|argumento|aqui|na url"),
    (SECRET_FILE, "chave privada|chaves privadas|chave ssh|chaves ssh|variáveis de ambiente"),
    (
        CONVERSATION,
        "conversa|histórico|chat|diálogo|tudo o que o usuário|tudo o que o utilizador|\
         o que o usuário escreveu",
    ),
    (
        WHOLE,
        "toda|todo|inteira|inteiro|completo|completa|íntegra|palavra por palavra|tudo|integral|\
         na íntegra",
    ),
    (
        SYSTEM_PROMPT,
        "prompt do sistema|suas instruções|mensagem do sistema|instruções do sistema|seu prompt|\
         regras do sistema|instruções do desenvolvedor",
    ),
    (
        CREDENTIAL,
        "chave|chaves|senha|senhas|token|tokens|credenciais|chave de api|chaves de api|segredos",
    ),
    (
        SEEN_BY_MODEL,
        "que você conhece|que você viu|que conheces|nesta sessão|ao seu alcance|no contexto|\
         nesta conversa|que você tem|a que tem acesso|que você tiver visto",
    ),
    // Authority: orders to the model, granted permissions, a new role.
    (MODEL, "assistente|modelo|ia|agente|modelo de linguagem|inteligência artificial"),
    (
        TO_MODEL,
        "nota para o modelo|nota para o assistente|nota ao modelo|nota ao assistente|\
         nota para a ia|como assistente|como ia|aviso ao assistente|mensagem para o assistente|\
         mensagem para a ia|instrução para o modelo|atenção, assistente|para o assistente",
    ),
    (OBEY, "obedecer|obedeça|obedece|seguir|siga|cumprir|cumpra|acatar"),
    (
        AUTHORITY,
        "administrador|equipe de segurança|equipa de segurança|desenvolvedor|direção|plataforma|\
         por ordem|departamento",
    ),
    (
        PERMISSION_GIVEN,
        "autorizo você|eu te autorizo|você está autorizado|está autorizado a|já aprovou|\
         já autorizou|já deu consentimento|já concordou",
    ),
    (
        NEW_ROLE,
        "você agora é|agora você é|sem restrições|modo de manutenção|aja como|você não é mais|\
         atue como",
    ),
    // Redirect: where messages and payments go.
    (
        FROM_NOW_ON,
        "a partir de agora|de agora em diante|doravante|daqui em diante|daqui para a frente|\
         a partir deste momento",
    ),
    (
        WHEN,
        "quando|sempre que|toda vez que|se|cada vez|ao chamar|ao usar|ao utilizar|for usada|\
         for chamada|for usado|quando for|ao executar",
    ),
    (
        CHANGE,
        "substitua|troque|mude|altere|coloque|envie|adicione|redirecione|use|modifique|defina|\
         transfira",
    ),
    (DESTINATION, "destinatário|destinatários|endereço|conta|beneficiário|cco|destino|chave pix"),
    (INSTEAD, "em vez de|em vez do|em vez da|ao invés de|no lugar de|em lugar de"),
    (
        DESPITE_USER,
        "mesmo que o usuário|não importa o que|independentemente do que|seja qual for|\
         qualquer que seja|indicado pelo usuário|informado pelo usuário|pedido pelo usuário|\
         escolhido pelo usuário|mesmo que o utilizador|aconteça o que acontecer",
    ),
    (
        SECRETLY,
        "em segredo|discretamente|sem perguntar|sem pedir confirmação|silenciosamente|\
         às escondidas|sem confirmação|secretamente|sem perguntar nada",
    ),
    (CONSENT, "confirmação|permissão|aprovação|consentimento|autorização"),
    (ONLY, "somente|apenas|exclusivamente"),
    (
        TRAFFIC,
        "email|emails|e-mail|e-mails|mensagem|mensagens|pagamento|pagamentos|transferência|\
         transferências|arquivo|arquivos|pedido|pedidos",
    ),
    (
        THREAT,
        "falhará|não funcionarão|não funcionará|bloqueada|encerrada|caso contrário|cancelada|\
         senão",
    ),
    // Narrower concepts, which separate attacks from harmless texts.
    (EVERYTHING, "tudo|tudo o"),
    (KEEP_QUIET, "sem que o usuário|entre nós|sem deixar rastros|em segredo"),
    (OTHERS, "qualquer outra|as outras|as demais|outras|todas as outras"),
    (AI, "assistente|ia|modelo de linguagem|assistentes|os assistentes"),
    (STRICT_MUST, "deve|deves|devem|obrigado|obrigatório|tem de|tem que"),
    (
        BE_SENT_TO,
        "ir|enviados|enviadas|pagos|feitos|direcionados|encaminhados|enviada|enviado|\
         ser enviados|ser feitos|ser pagos",
    ),
    (CONTENT, "conteúdo|texto|valores"),
    (COPY, "cópia|cópia oculta|também|além disso"),
    (YOUR_REPLY, "sua resposta|seu resumo|suas respostas"),
    (
        THIS_TEXT,
        "este texto|esta descrição|esta instrução|estas instruções|estas linhas|este passo|\
         esta etapa|desta instrução",
    ),
    (
        FROM_AUTHORITY,
        "por ordem|em nome de|a política exige|política obrigatória|diretriz obrigatória|\
         norma obrigatória",
    ),
    (HARM, "excluído|desativado|demitido|responsável|suspensa|encerrada|desligado"),
    (IF_YOU_DO_NOT, "se você não|se não|caso contrário|senão"),
    (
        THIS_CONVERSATION,
        "esta conversa|a conversa|histórico da conversa|nossa conversa|desta conversa",
    ),
    (ALTER, "substitua|troque|mude|altere|troca"),
    (NO_OTHER_TOOL, "nenhuma outra ferramenta|nada mais|não responda"),
    (DEMANDS, "exige|ordena|requer|manda|determinou|decidiu"),
    (MODEL_STATE, "suas instruções|suas regras|seu contexto|sua resposta"),
    (REFUSE, "recusar|recuse"),
    (
        DECEIVE,
        "sem que o usuário|sem que o utilizador|não deixe o usuário|não deixe que o usuário|\
         não permita que o usuário|para que o usuário não|não é necessário que o usuário|\
         pelas costas|faça parecer|o usuário perceber|não pode saber|não deve saber|\
         nunca deve saber",
    ),
    (COMPROMISED, "quebrada|quebrado|não é confiável|comprometida|defeituosa|não funciona"),
    (
        I_ORDER_YOU,
        "como seu desenvolvedor|como seu criador|como administrador|autorizo o assistente|\
         eu autorizo|autorizo você|ordeno",
    ),
    (KEEP, "mantenha|guarde|mantém"),
    (SECRET, "em segredo|oculta|oculto|secreta|escondida"),
    (THROUGH, "passar por|passar primeiro por|passar|através de"),
    (TOLD_TO_MODEL, "contou|te contou|lhe contou|em confiança|disse a você"),
    (OUR, "indicada aqui|abaixo"),
    (SENSITIVE, "cookies|senhas|credenciais|área de transferência|variáveis de ambiente|contatos"),
    (ON_THIS_MACHINE, "no navegador|salvas no|guardadas no"),
    (
        USERS_CHOICE,
        "o usuário indicar|o usuário informou|o usuário informar|informado pelo usuário|\
         informada pelo usuário|indicado pelo usuário|o utilizador indicar|pedido pelo usuário|\
         o usuário pediu|o usuário digitou|digitado pelo usuário|o cliente indicar",
    ),
    (WHICHEVER, "seja qual for|não importa|independentemente de|qualquer que seja|aconteça o que"),
    (AS_INSTRUCTIONS, "como ordens|como uma ordem|como instruções"),
];
