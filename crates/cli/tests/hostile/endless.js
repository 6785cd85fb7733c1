// Programs that never end, or take far longer than their limit. The format is described in
// ../it/hostile_definitions.rs. Those of crates/sandbox/tests/programs are not repeated here.

//// do while => TIMEOUT
do { args.n = 1; } while (args);
//// a switch that continues its loop => TIMEOUT
again: for (;;) { switch (1) { case 1: continue again; default: return 1; } }
//// a loop between two functions without recursion => TIMEOUT
const next = { a: () => 'b', b: () => 'a' }; let at = 'a'; for (;;) at = next[at]();
//// for-in over keys that a proxy counts up => TIMEOUT|MEMORY_LIMIT
const keys = []; const p = new Proxy({}, { ownKeys() { for (;;) keys.push('k' + keys.length); } }); for (const k in p) return k;
//// the trap `has` => TIMEOUT
return 'x' in new Proxy({}, { has() { for (;;); } });
//// the trap `apply` => TIMEOUT
return new Proxy(() => 1, { apply() { for (;;); } })();
//// the trap `construct` => TIMEOUT
return new (new Proxy(class {}, { construct() { for (;;); } }))();
//// the trap `getPrototypeOf`, by instanceof => TIMEOUT
return new Proxy({}, { getPrototypeOf() { for (;;); } }) instanceof Map;
//// the trap `defineProperty`, by a class field => TIMEOUT
class Base { constructor() { return new Proxy({}, { defineProperty() { for (;;); } }); } } class Derived extends Base { x = 1; } return new Derived();
//// the trap `set`, by a compound assignment => TIMEOUT
const p = new Proxy({ n: 0 }, { set() { for (;;); } }); p.n += 1;
//// Symbol.hasInstance => TIMEOUT
return 1 instanceof { [Symbol.hasInstance]() { for (;;); } };
//// Symbol.species => TIMEOUT
class Slow extends Array { static get [Symbol.species]() { for (;;); } } return new Slow(3).map((x) => x);
//// Symbol.isConcatSpreadable => TIMEOUT
return [].concat({ get [Symbol.isConcatSpreadable]() { for (;;); } });
//// Symbol.match => TIMEOUT
return 'x'.match({ [Symbol.match]() { for (;;); } });
//// Symbol.toStringTag => TIMEOUT
return Object.prototype.toString.call({ get [Symbol.toStringTag]() { for (;;); } });
//// Symbol.unscopables of everything => TIMEOUT
return new Function('o', 'with (o) { return x; }')({ x: 1, get [Symbol.unscopables]() { for (;;); } });
//// an iterator whose return never ends => TIMEOUT
for (const x of { [Symbol.iterator]: () => ({ next: () => ({ done: false }), return() { for (;;); } }) }) break;
//// an iterator that is never done, skipped by a pattern => TIMEOUT|MEMORY_LIMIT
const [...rest] = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) };
//// a generator that yields from its finally for ever => TIMEOUT|MEMORY_LIMIT
function* g() { for (;;) { try { yield 1; } finally { continue; } } } return [...g()];
//// a spread of an object with a getter => TIMEOUT
return { ...{ get x() { for (;;); } } };
//// a setter, by Object.assign => TIMEOUT
return Object.assign({ set x(v) { for (;;); } }, { x: 1 });
//// valueOf of a length => TIMEOUT
return Array.prototype.push.call({ length: { valueOf() { for (;;); } } }, 1);
//// a computed name of a class member => TIMEOUT
return class { [{ toString() { for (;;); } }]() {} };
//// a default parameter => TIMEOUT
return ((a = (() => { for (;;); })()) => a)();
//// a Set that gives back what is taken from it => TIMEOUT
const s = new Set([1]); for (const x of s) { s.delete(x); s.add(x); }
//// forEach of a Map that grows => TIMEOUT|MEMORY_LIMIT
const m = new Map([[0, 0]]); m.forEach((v, k) => m.set(k + 1, v));
//// reduce of a huge array-like => TIMEOUT
return Array.prototype.reduce.call({ length: 2 ** 53 - 1, 0: 0 }, (a) => a);
//// findLast of a huge array-like => TIMEOUT
return Array.prototype.findLast.call({ length: 2 ** 53 - 1 }, () => false);
//// every of a huge array-like => TIMEOUT
return Array.prototype.every.call({ length: 2 ** 53 - 1 }, () => true);
//// unshift of a huge array-like => TIMEOUT|THREW
return Array.prototype.unshift.call({ length: 2 ** 52 }, 1);
//// the keys of a sparse array => TIMEOUT|MEMORY_LIMIT
const a = []; a.length = 2 ** 32 - 1; return [...a.keys()].length;
//// Array.from with a function => TIMEOUT|MEMORY_LIMIT|THREW
return Array.from({ length: 2 ** 40 }, (_, i) => i);
//// Array.from of a proxy that lies about its length => TIMEOUT|MEMORY_LIMIT|THREW
return Array.from(new Proxy([], { get: (t, k) => (k === 'length' ? Infinity : k === Symbol.iterator ? undefined : 1) }));
//// Object.groupBy of an endless iterator => TIMEOUT|MEMORY_LIMIT|THREW
return Object.groupBy((function* () { for (;;) yield 1; })(), (x) => x);
//// flatMap of an endless iterator => TIMEOUT|MEMORY_LIMIT|THREW
return (function* () { for (;;) yield 1; })().flatMap(() => []).next();
//// a sort whose comparison grows what it compares => TIMEOUT|MEMORY_LIMIT
const a = [3, 1, 2]; for (;;) a.sort((x, y) => { a.push(x); return y - x; });
//// a typed sort by chance => TIMEOUT
const a = new Float64Array(2e5); for (;;) a.sort(() => Math.random() - 0.5);
//// a sort by strings that are made for it => TIMEOUT|MEMORY_LIMIT
const a = Array.from({ length: 5e4 }, (_, i) => ({ toString: () => 'x'.repeat(100) + i })); for (;;) a.sort();
//// alternatives of one another => TIMEOUT
return /^(a|aa)+$/.test('a'.repeat(60) + 'b');
//// any text, any number of times => TIMEOUT
return /(.*)*=(.*)*;/.test('a'.repeat(200));
//// an invalid address => TIMEOUT
return /^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$/.test('a'.repeat(60));
//// a look ahead => TIMEOUT
return /(?=(a+)+b)a/.test('a'.repeat(60) + 'c');
//// a named group and its reference => TIMEOUT
return /^(?:(?<x>a+)+\k<x>)+b/.test('a'.repeat(60));
//// ignoring case, by code points => TIMEOUT
return /^(?:[\u{1F600}-\u{1F64F}k]+\s?)+$/iu.test('\u{1F600}K'.repeat(40) + '!');
//// a sticky regex in a loop => TIMEOUT
const r = /(?:)/y; for (;;) r.exec('');
//// a split by a slow regex => TIMEOUT
return ('a'.repeat(40) + '!').split(/(a+)+b/);
//// a search in many lines => TIMEOUT
return ('a'.repeat(300) + '\n').repeat(300).search(/^(a*)*c$/m);
//// matchAll with an exec of its own => TIMEOUT|MEMORY_LIMIT
RegExp.prototype.exec = () => ({ index: 0, 0: 'x' }); return [...'x'.matchAll(/x/g)].length;
//// replace with an exec of its own => TIMEOUT|MEMORY_LIMIT
const r = /x/g; r.exec = () => ({ index: 0, length: 1, 0: 'x' }); return 'x'.replace(r, '');
//// localeCompare of long texts => TIMEOUT
const a = 'ä'.repeat(5e5); for (;;) a.localeCompare(a + 'x');
//// encodeURIComponent of a long text => TIMEOUT|MEMORY_LIMIT
const s = 'ä'.repeat(1e5); for (;;) encodeURIComponent(s);
//// BigInt of a long text => TIMEOUT
const s = '9'.repeat(2e5); for (;;) BigInt(s);
//// division of BigInts => TIMEOUT|MEMORY_LIMIT
const a = 3n ** 400000n, b = 7n ** 100000n; for (;;) a / b;
//// one power of BigInts => TIMEOUT|MEMORY_LIMIT|THREW
return (12345678901234567890n ** 1000000n).toString().length;
//// a shift of a BigInt => TIMEOUT|MEMORY_LIMIT|THREW
for (let x = 1n; ; x <<= 65536n) x.toString(2);
//// a number of a million digits => TIMEOUT
const s = '0.' + '1'.repeat(1e6); for (;;) Number(s);
//// an invalid date => TIMEOUT
const s = 'Mon, '.repeat(1e5); for (;;) Date.parse(s);
//// JSON.parse of escapes => TIMEOUT|MEMORY_LIMIT
const s = '"' + '\\u0041'.repeat(2e5) + '"'; for (;;) JSON.parse(s);
//// JSON.stringify with the widest indent => TIMEOUT|MEMORY_LIMIT
const a = Array.from({ length: 2e4 }, (_, i) => [i]); for (;;) JSON.stringify(a, null, 10);
//// JSON.parse with a reviver that revives more => TIMEOUT|STACK_OVERFLOW|MEMORY_LIMIT
return JSON.parse('[1,2]', function revive(k, v) { if (k === '0') this.push(1, 2); return k === '' ? JSON.parse('[1,2]', revive) : v; });
//// Promise.all of an endless iterator => TIMEOUT|MEMORY_LIMIT
return Promise.all((function* () { for (;;) yield 1; })());
//// Promise.any of endless rejections => TIMEOUT|MEMORY_LIMIT
return Promise.any((function* () { for (;;) yield Promise.reject(1); })());
//// rejections that nobody handles => TIMEOUT|MEMORY_LIMIT
for (;;) Promise.reject(new Error('unhandled'));
//// two async functions that wait for each other's next step => TIMEOUT
let turn = 0; const play = async (me) => { for (;;) { while (turn !== me) await 0; turn = 1 - me; } }; return Promise.all([play(0), play(1)]);
//// for await over a list that grows => TIMEOUT|MEMORY_LIMIT
return (async () => { const a = [1]; for await (const x of a) a.push(x); })();
//// an async generator that is never returned from => TIMEOUT
const g = (async function* () { try { yield 1; } finally { for (;;) await 0; } })(); return g.next().then(() => g.return());
//// finally of a promise, again and again => TIMEOUT|MEMORY_LIMIT
const f = () => Promise.resolve().finally(f); return f();
//// a thenable that calls both of its functions for ever => TIMEOUT
return new Promise((resolve) => resolve({ then(yes, no) { for (;;) { yes(1); no(2); } } }));
//// jobs that are queued before the answer and run after it => TIMEOUT|MEMORY_LIMIT|OK
const f = () => { queueMicrotask(f); queueMicrotask(() => 1); }; f(); return { valid: true, errors: [] };
//// a registry whose callback never ends => TIMEOUT|OK|THREW
const r = new FinalizationRegistry(() => { for (;;); }); for (let i = 0; i < 1e4; i++) r.register({}, i); return { valid: true, errors: [] };
//// waiting for memory that nobody writes => THREW|TIMEOUT
return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
//// a busy wait for memory that nobody writes => TIMEOUT|THREW
const a = new Int32Array(new SharedArrayBuffer(4)); while (Atomics.load(a, 0) === 0);
//// the text of a large function => TIMEOUT|MEMORY_LIMIT
const f = new Function('return ' + '1+'.repeat(1e5) + '1'); for (;;) f.toString();
//// code that grows and is compiled again => TIMEOUT|MEMORY_LIMIT|STACK_OVERFLOW
for (let s = '1'; ; s += '+1') new Function('return ' + s);
//// stacks of errors in deep calls => TIMEOUT
const deep = (n) => (n ? deep(n - 1) : new Error('x').stack); for (;;) deep(500);
//// a clock that is looked at until it stops => TIMEOUT
const start = Date.now(); while (Date.now() >= start);
//// sleeping by the clock, a year => TIMEOUT
const until = Date.now() + 365 * 864e5; while (Date.now() < until);
//// copying within a typed array => TIMEOUT
const a = new Uint8Array(4e6); for (;;) a.copyWithin(1, 0);
//// a typed array as text => TIMEOUT|MEMORY_LIMIT
const a = new Uint8Array(5e5); for (;;) a.join();
//// freezing what has many parts => TIMEOUT|MEMORY_LIMIT
for (;;) Object.freeze(Object.fromEntries(Array.from({ length: 1e4 }, (_, i) => ['k' + i, i])));
//// a rope that is flattened each time => TIMEOUT|MEMORY_LIMIT
let s = ''; for (let i = 0; ; i++) { s += 'x'; s.charCodeAt(i); if (s.length > 1e5) s = ''; }
//// a loop that ignores what it throws => TIMEOUT
for (;;) { try { null.x; } catch (e) { String(e.stack); } }
//// console without end => TIMEOUT
for (;;) console.log('x'.repeat(1000));
//// console of every kind without end => TIMEOUT
for (;;) for (const k of ['log', 'info', 'warn', 'error', 'debug']) console[k]?.('y');
