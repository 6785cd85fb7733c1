// Runs a body in a worker of the browser, for what the sandbox lacks. Comes in two parts around the
// preludes of bodies: `BEGIN` and `END` are what surrounds them.
//
//   operate(…)      POST /ask, synchronously: the worker stands still until the host has answered
//   operateLater(…) POST /ask, with a promise
//   the result      POST /end
//
// `TOOLWRIGHT` is given by the host: the names of operations, those of globals that stay, the
// arguments of the call and the most bytes of a result.
//
// What is not among the names is removed, so that a body sees what it would see in the sandbox. It
// is no protection: the requests of the worker reach nothing but the host, which judges each.
'BEGIN';
const { end, text, write } = (() => {
  const { XMLHttpRequest, fetch, setTimeout, Error, String } = globalThis;
  const { parse, stringify } = JSON;
  const { operations, names, lacking, isPage, given, limit } = TOOLWRIGHT;
  const post = (path, body) => {
    const request = new XMLHttpRequest();
    request.open('POST', path, false);
    request.send(body);
    return request.responseText;
  };
  const wellFormed = (_, it) => (typeof it === 'string' ? it.toWellFormed() : it);
  const question = (given) => stringify(given, wellFormed);
  const settle = (answer) => {
    const { value, error } = parse(answer);
    if (!error) return value;
    const { message, ...fields } = error;
    throw Object.assign(new Error(message), fields);
  };
  const operate = (...given) => settle(post('/ask', question(given)));
  const operateLater = async (...given) => {
    const answer = await fetch('/ask', { method: 'POST', body: question(given) });
    return settle(await answer.text());
  };
  const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  // What a value without a form in JSON is, in words.
  const CLASSES = ['Map', 'Set', 'WeakMap', 'WeakSet', 'Promise', 'ArrayBuffer', 'RegExp'];
  const oddity = (it, holder) => {
    switch (typeof it) {
      case 'function': return 'a function';
      case 'symbol': return 'a symbol';
      case 'bigint': return 'a BigInt';
      case 'number': return Number.isFinite(it) ? null : '`' + it + '`';
      case 'undefined': return Array.isArray(holder) ? '`undefined`' : null;
      case 'object': {
        const kind = Object.prototype.toString.call(it).slice(8, -1);
        return CLASSES.includes(kind) ? 'a `' + kind + '`, which has no JSON form' : null;
      }
      default: return null;
    }
  };
  class NotJson extends Error {}
  // The text of a result, or its failure.
  const write = (value) => {
    let written;
    try {
      written = stringify(value, function replace(key, it) {
        const odd = oddity(it, this);
        const place = key === '' ? 'the result' : '`' + key + '` of the result';
        if (odd) throw new NotJson(place + ' is ' + odd);
        return wellFormed(key, it);
      });
    } catch (error) {
      if (error instanceof NotJson || /circular/i.test(error?.message)) {
        return { kind: 'NOT_JSON', message: String(error.message) };
      }
      throw error;
    }
    if (written === undefined) return { kind: 'NOT_JSON', message: 'the result is `undefined`' };
    return written.length > limit ? { kind: 'OUTPUT_TOO_LARGE' } : { value: written };
  };

  const text = (it) => {
    try {
      return typeof it === 'string' ? it : stringify(it, wellFormed) ?? String(it);
    } catch {
      return String(it);
    }
  };
  const MOST_LOGGED = 64 * 1024;
  const log = [];
  let logged = 0;
  const console = {};
  for (const level of ['debug', 'error', 'info', 'log', 'trace', 'warn']) {
    console[level] = (...given) => {
      const line = given.map(text).join(' ').slice(0, MOST_LOGGED - logged);
      if (line !== '') log.push([level, line]);
      logged += line.length;
    };
  }
  const end = (result) => void post('/end', stringify({ ...result, log }, wellFormed));

  const kept = new Set(names);
  const { getOwnPropertyNames, getPrototypeOf, defineProperty, prototype } = Object;
  for (let owner = globalThis; owner && owner !== prototype; owner = getPrototypeOf(owner)) {
    for (const name of getOwnPropertyNames(owner)) if (!kept.has(name)) delete owner[name];
  }
  defineProperty(globalThis, 'console', { value: console, writable: true, configurable: true });
  globalThis.args = given;
  if (isPage) {
    globalThis.btcp = {};
    for (const name of operations) {
      const path = name.split('.');
      const last = path.pop();
      let owner = globalThis.btcp;
      for (const step of path) owner = owner[step] ??= {};
      owner[last] = (...all) => operateLater(name, ...all);
    }
    globalThis.toolwright = { operate, operateLater, wait, LACKING: lacking };
  }
  return { end, text, write };
})();
'END';
(async () => {
  const fail = (error, isLoading) => {
    const isError = error instanceof Error;
    const fields = {};
    for (const name of isError ? Object.keys(error).slice(0, 16) : []) {
      const value = text(error[name]);
      if (value.length <= 5000) fields[name] = error[name];
    }
    if (isError && error.cause !== undefined) {
      fields.cause = text(error.cause?.message ?? error.cause);
    }
    const stack = isError ? String(error.stack).slice(0, 8000) : '';
    const isSyntax = isLoading && error instanceof SyntaxError && !stack.includes('/body.js:');
    end({
      kind: isSyntax ? 'SYNTAX' : 'THREW',
      message: (isError ? String(error.message) : text(error)).slice(0, 8000),
      name: isError ? String(error.name) : null,
      stack,
      fields,
    });
  };
  let isLoading = true;
  try {
    const { default: run } = await import('/body.js');
    isLoading = false;
    if (typeof run !== 'function') {
      return end({ kind: 'NO_ENTRY_POINT', message: 'the default export is not a function' });
    }
    return end(write(await run(globalThis.args)));
  } catch (error) {
    return fail(error, isLoading);
  }
})();
