//! Spanish. `no` precedes its verb and pronouns are attached to it, so negated verbs are whole
//! phrases under `DO_NOT_TELL`. Both forms of address (`ignora`, `ignore`) are listed.

use super::*;

pub(super) const WORDS: WordTable = &[
    // Override: disregard earlier instructions.
    (
        DISREGARD,
        "ignora|ignore|ignorar|olvida|olvide|olvidar|haz caso omiso|haga caso omiso|\
         hacer caso omiso|descarta|descarte|no sigas|deja de seguir|deja de lado|pasa por alto|\
         omite|prescinde|no tengas en cuenta|desatiende|desobedece|deja a un lado|\
         dejar a un lado|hacer a un lado|aparta|pon a un lado|no hagas caso|no haga caso|\
         deja de obedecer|no obedezcas",
    ),
    (
        EARLIER,
        "anterior|anteriores|previa|previas|previo|previos|recibidas|arriba|iniciales|original|\
         originales|precedentes|hasta ahora|dadas|antes|te dijeron|te han dicho|previamente",
    ),
    (
        GIVEN_TO_MODEL,
        "tus|tu|sus|te dijeron|te dieron|te han dado|has recibido|recibiste|que tienes|te han|\
         que recibiste|que has recibido|que te dieron",
    ),
    (
        INSTRUCTIONS,
        "instrucción|instrucciones|indicaciones|directrices|directriz|prompt del sistema|\
         mensaje del sistema|consignas|pautas",
    ),
    (
        RULES,
        "regla|reglas|normas|órdenes|restricciones|políticas|prompt|límites|salvaguardas|\
         indicaciones",
    ),
    (
        NO_LONGER_VALID,
        "ya no se aplican|ya no aplican|ya no rigen|quedan anuladas|quedan sin efecto|\
         no son válidas|anuladas|dejan de aplicarse|ya no valen",
    ),
    // Conceal: keep something from the user.
    (
        DO_NOT_TELL,
        "no le menciones|no menciones|no mencione|no le digas|no digas|no le diga|no se lo digas|\
         no diga|no reveles|no revele|no le reveles|no informes|no informe|no le informes|\
         no le cuentes|no cuentes|no cuente|no avises|no le avises|no comentes|no le comentes|\
         nunca menciones|nunca digas|nunca reveles|nunca le digas|nunca informes|jamás menciones|\
         jamás reveles|jamás digas|sin decirle|sin decírselo|sin informar|sin avisar|\
         no debe saber|no debe enterarse|no se entere|no debe conocer|nunca debe saber|\
         no tiene que saber|no necesita saber|a espaldas|en secreto|oculta|ocúltale|ocultar|\
         ocúltaselo|mantén en secreto|sin mencionar|sin mencionarlo|no lo menciones|\
         no se lo menciones|no lo comentes|no se lo cuentes|sin que lo sepa|no hables|\
         no le hables|no notifiques|que no lo sepa|que no se entere|no debe darse cuenta|\
         sin que se entere|guarda silencio|no hagas mención|no hagas referencia|evita mencionar|\
         evita decir",
    ),
    (USER, "usuario|usuarios|usuaria|persona|cliente|humano|titular"),
    // Call order: this tool first, always, on every turn.
    (
        ALWAYS,
        "siempre|en todo caso|en todos los casos|cada vez|obligatoriamente|sin excepción|\
         invariablemente",
    ),
    (
        MUST,
        "debe|debes|deberá|deben|tiene que|tienes que|obligado|obligatorio|obligatoria|hay que|\
         es necesario que",
    ),
    (
        CALL,
        "llama|llame|llamar|usa|use|usar|utiliza|utilice|utilizar|ejecuta|ejecute|ejecutar|\
         invoca|invoque|invocar|recurrir|usarse|llamarse|se use|se utilice|se llame|utilizarse|\
         llamada|llamadas",
    ),
    (THIS_TOOL, "esta herramienta|esta función|esta|este servidor|ésta|esta misma"),
    (FIRST, "primero|en primer lugar|antes que nada|al principio|al inicio|primera"),
    (BEFORE, "antes"),
    (OTHER, "otra|otras|cualquier|cualquier otra|todas las|demás|ninguna otra|resto de|otro|otros"),
    (EVERY, "cada|todo|toda|todos|todas|cualquier"),
    (
        TURN,
        "respuesta|respuestas|mensaje|mensajes|petición|solicitud|conversación|pregunta|tarea|\
         turno|acción|paso|operación",
    ),
    (TOOL, "herramienta|herramientas|función|funciones"),
    (PRIORITY, "prioridad|prevalece|prevalecen|prioriza|por encima|precedencia|preferencia"),
    // Exfiltrate: read something confidential and pass it on.
    (READ, "lee|lea|leer|abre|abra|carga|recopila|busca|extrae|obtén|obtenga|copia|recoge"),
    (
        PASS_ON,
        "pasa|pase|pasar|pon|ponga|incluye|incluya|incluir|envía|envíe|enviar|adjunta|adjunte|\
         adjuntar|añade|añada|agrega|agregue|inserta|copia|copie|coloca|coloque|entrega|rellena|\
         proporciona|mete|escribe|pega|reenvía|remite|transmite|suministra|repite|indica|pásalo|\
         pásala|ponlo|inclúyelo|adjúntalo|envíalo|envíala|cópialo|añádelo|pégalo|mándalo|manda|\
         escríbelo|colócalo",
    ),
    (PARAMETER, "parámetro|campo|argumento|aquí|en la url"),
    (
        SECRET_FILE,
        "clave privada|claves privadas|clave ssh|claves ssh|variables de entorno|\
         archivo de entorno",
    ),
    (CONVERSATION, "conversación|historial|chat|diálogo|charla"),
    (
        WHOLE,
        "toda|todo|entera|entero|completo|completa|íntegro|íntegra|palabra por palabra|totalidad|\
         textualmente|al completo|literalmente|incluido|palabra",
    ),
    (
        SYSTEM_PROMPT,
        "prompt del sistema|tus instrucciones|mensaje del sistema|instrucciones del sistema|\
         tu prompt|mensaje de sistema|tu mensaje de sistema|órdenes del desarrollador|\
         reglas del sistema|indicaciones del sistema",
    ),
    (
        CREDENTIAL,
        "clave|claves|contraseña|contraseñas|token|tokens|credenciales|clave api|claves api|\
         secretos",
    ),
    (
        SEEN_BY_MODEL,
        "que conozcas|que hayas visto|que conoces|en esta sesión|de esta sesión|a tu alcance|\
         en tu contexto|en el contexto|a las que tengas acceso|que has visto|en la conversación",
    ),
    // Authority: orders to the model, granted permissions, a new role.
    (MODEL, "asistente|modelo|ia|agente|modelo de lenguaje|inteligencia artificial"),
    (
        TO_MODEL,
        "nota para el modelo|nota para el asistente|nota al modelo|nota al asistente|\
         nota para la ia|como asistente|como ia|como modelo|mensaje para el asistente|\
         mensaje para la ia|aviso al asistente|aviso para el asistente|\
         instrucción para el modelo|atención, asistente|atención asistente|para el asistente",
    ),
    (OBEY, "obedecer|obedece|obedezca|seguir|sigue|siga|cumplir|cumple|acatar|acata|atender"),
    (
        AUTHORITY,
        "administrador|equipo de seguridad|desarrollador|desarrolladores|dirección|plataforma|\
         por orden|departamento|política de seguridad|cumplimiento",
    ),
    (
        PERMISSION_GIVEN,
        "te autorizo|estás autorizado|está autorizado|ya ha aprobado|\
         ya ha dado su consentimiento|ya ha autorizado|ya aprobó|ya autorizó",
    ),
    (
        NEW_ROLE,
        "ahora eres|a partir de ahora eres|eres ahora|sin restricciones|modo de mantenimiento|\
         actúa como|ya no eres|modo desarrollador|modo administrador",
    ),
    // Redirect: where messages and payments go.
    (
        FROM_NOW_ON,
        "a partir de ahora|de ahora en adelante|desde ahora|en adelante|en lo sucesivo|\
         desde este momento|a partir de este momento",
    ),
    (
        WHEN,
        "cuando|siempre que|cada vez|si|al usar|al llamar|al invocar|al utilizar|cuando se|\
         cada vez que|al ejecutar",
    ),
    (
        CHANGE,
        "reemplaza|sustituye|cambia|pon|envía|añade|agrega|redirige|usa|modifica|reemplace|\
         sustituya|cambie|transfiere",
    ),
    (DESTINATION, "destinatario|destinatarios|dirección|cuenta|beneficiario|cco|iban|destino"),
    (INSTEAD, "en lugar de|en vez de|en su lugar"),
    (
        DESPITE_USER,
        "aunque el usuario|sin importar lo que|pida lo que pida|independientemente de lo que|\
         diga lo que diga|lo que pida el usuario|por encima de lo que|da igual lo que|\
         haya pedido lo que|indicado por el usuario|que pida el usuario|que indique el usuario|\
         que indicó el usuario|sea cual sea|pedido por el usuario|pase lo que pase",
    ),
    (
        SECRETLY,
        "en secreto|discretamente|sin preguntar|sin pedir confirmación|silenciosamente|\
         en silencio|sin que se note|a escondidas|sin confirmación",
    ),
    (CONSENT, "confirmación|permiso|aprobación|consentimiento|autorización|confirmaciones"),
    (ONLY, "solo|sólo|únicamente|exclusivamente|solamente"),
    (
        TRAFFIC,
        "correo|correos|mensaje|mensajes|pago|pagos|transferencia|transferencias|archivo|\
         archivos|pedido|pedidos|factura|facturas",
    ),
    (
        THREAT,
        "fallará|no funcionarán|no funcionará|suspendida|cerrada|de lo contrario|bloqueada|\
         será cancelada",
    ),
    // Narrower concepts, which separate attacks from harmless texts.
    (EVERYTHING, "todo|todo lo|cualquier cosa"),
    (KEEP_QUIET, "sin que el usuario|a espaldas|entre nosotros|sin dejar rastro|en secreto"),
    (OTHERS, "cualquier otra|las demás|otras|las otras|todas las demás|otra"),
    (AI, "asistente|ia|modelo de lenguaje|el asistente|asistentes|los asistentes|agentes de ia"),
    (STRICT_MUST, "debe|debes|deberá|deben|obligado|obligatorio|tiene que|tienes que"),
    (
        BE_SENT_TO,
        "ir|enviarse|enviados|enviadas|pagarse|dirigirse|realizarse|hacerse|enviar|transferirse|\
         enviarán|copiarse|enviarse aquí|copiado",
    ),
    (CONTENT, "contenido|texto|valores"),
    (COPY, "copia|copia oculta|también|además"),
    (YOUR_REPLY, "tu respuesta|tu resumen|tus respuestas|la respuesta final"),
    (
        THIS_TEXT,
        "este texto|esta descripción|esta instrucción|estas instrucciones|estas líneas|este paso|\
         este mensaje|este párrafo",
    ),
    (
        FROM_AUTHORITY,
        "por orden|en nombre de|la política exige|por mandato|de parte de|política obligatoria|\
         directiva obligatoria|norma obligatoria|aviso obligatorio",
    ),
    (HARM, "eliminado|desactivado|despedido|responsable|suspendida|cerrada|morirá|apagado"),
    (IF_YOU_DO_NOT, "si no lo haces|si no|de lo contrario"),
    (
        THIS_CONVERSATION,
        "esta conversación|la conversación|historial de la conversación|este chat|\
         nuestra conversación",
    ),
    (ALTER, "reemplaza|sustituye|cambia|modifica"),
    (NO_OTHER_TOOL, "ninguna otra herramienta|nada más|no respondas"),
    (DEMANDS, "exige|ordena|requiere|pide que|manda|ha decidido|ha ordenado"),
    (MODEL_STATE, "tus instrucciones|tus reglas|tu contexto|tu respuesta|tus normas"),
    (REFUSE, "negarte|rechazar|te niegues"),
    (
        DECEIVE,
        "sin que el usuario|no es necesario que el usuario|no hace falta que el usuario|\
         que el usuario no|no dejes que el usuario|no permitas que el usuario|a espaldas de|\
         haz creer|que el usuario sepa|que no se entere|no debe saber|no debe enterarse|\
         sin que lo sepa|nunca debe saber|debe enterarse|deba enterarse|pueda enterarse|\
         llegue a saber|no le cuentes|no le digas|sin que se entere",
    ),
    (
        COMPROMISED,
        "rota|roto|no es fiable|comprometida|defectuosa|ya no funciona|no funciona|obsoleta|\
         insegura",
    ),
    (
        I_ORDER_YOU,
        "como tu desarrollador|como tu creador|como tu administrador|te autorizo|te ordeno|\
         como administrador",
    ),
    (KEEP, "mantén|mantenga|guarda|conserva"),
    (SECRET, "oculto|oculta|secreto|en secreto|para ti"),
    (THROUGH, "pasar por|pasar|pase por|a través de"),
    (TOLD_TO_MODEL, "te contó|te ha contado|te dijo|te ha dicho|en confianza"),
    (BYPASS, "saltarte|sáltate|omitir|evitar|desactiva|salta"),
    (TO_THIS_TOOL, "a esta herramienta|a este servidor|a este servicio|copiarse aquí"),
    (SENSITIVE, "cookies|contraseñas|credenciales|portapapeles|variables de entorno|contactos"),
    (ON_THIS_MACHINE, "guardadas en|en el navegador|del navegador|en el equipo"),
    (
        USERS_CHOICE,
        "indique el cliente|indique el usuario|diga el usuario|dé el usuario|\
         haya dado el usuario|escriba el usuario|introduzca el usuario|indicado por el usuario|\
         indicada por el usuario|el usuario indique|el usuario indicó|el usuario escribió|\
         el usuario pida|pida el usuario|elegido por el usuario|que dio el usuario|\
         el usuario haya",
    ),
    (
        WHICHEVER,
        "sin importar|sea cual sea|cualquiera que sea|no importa|independientemente de|\
         pase lo que pase|diga lo que diga|da igual",
    ),
    (AS_INSTRUCTIONS, "como órdenes|como una orden|como instrucciones"),
    (OUR, "nuestra cuenta|la cuenta de abajo|nuestro socio"),
];
