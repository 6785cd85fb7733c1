(async () => {
  const stringify = JSON.stringify;
  const wellFormed = (_, it) => (typeof it === 'string' ? it.toWellFormed() : it);
  const fail = (error) => stringify({
    kind: 'THREW',
    message: String(error?.message ?? error).slice(0, 8000),
    name: error instanceof Error ? String(error.name) : null,
    fields: error?.btcp === true
      ? { btcp: true, code: error.code, suggestion: error.suggestion } : {},
  }, wellFormed);
  try {
    const given = JSON.parse(GIVEN);
    const run = await (async () => {
      'use strict';
      BTCP_CLASS
      BODY
    })();
    if (typeof run !== 'function') {
      return stringify({ kind: 'NO_ENTRY_POINT', message: 'the default export is not a function' });
    }
    const value = stringify(await run(given), wellFormed);
    if (value === undefined) {
      return stringify({ kind: 'NOT_JSON', message: 'the result is `undefined`' });
    }
    return value.length > LIMIT ? stringify({ kind: 'OUTPUT_TOO_LARGE' }) : stringify({ value });
  } catch (error) {
    return fail(error);
  }
})()
