//// a plain loop => TIMEOUT
for (;;);
//// a loop in the function => TIMEOUT
module.exports = () => { while (true) {} };
//// catch cannot stop the end => TIMEOUT
for (;;) { try { for (;;); } catch { } }
//// finally cannot stop the end => TIMEOUT
function f() { try { for (;;); } finally { f(); } } f();
//// finally that returns cannot stop the end => TIMEOUT
module.exports = () => { for (;;) { try { for (;;); } finally { continue; } } };
//// a labelled loop => TIMEOUT
outer: for (;;) { for (;;) { continue outer; } }
//// debugger in a loop => TIMEOUT
for (;;) { debugger; }
//// a getter of the result => TIMEOUT
module.exports = () => ({ get x() { for (;;); } });
//// toJSON of the result => TIMEOUT
module.exports = () => ({ toJSON() { for (;;); } });
//// toJSON of everything => TIMEOUT
Object.prototype.toJSON = function () { for (;;); }; module.exports = () => ({});
//// a proxy as the result => TIMEOUT
module.exports = () => new Proxy({}, { ownKeys() { for (;;); } });
//// a proxy that always has one more key => TIMEOUT|OUTPUT_TOO_LARGE
module.exports = () => new Proxy([], { get(t, k) { return k === 'length' ? 2 ** 50 : 1; } });
//// a proxy as its own prototype chain => TIMEOUT|STACK_OVERFLOW
const p = new Proxy({}, {}); Object.setPrototypeOf(p, new Proxy({}, { get() { for (;;); } })); module.exports = () => p.x;
//// valueOf => TIMEOUT
module.exports = () => +{ valueOf() { for (;;); } };
//// Symbol.toPrimitive => TIMEOUT
module.exports = () => `${{ [Symbol.toPrimitive]() { for (;;); } }}`;
//// a boxed number with a loop for its value => TIMEOUT
module.exports = () => Object.assign(new Number(1), { valueOf() { for (;;); } });
//// a generator => TIMEOUT
module.exports = () => { for (const _ of (function* () { for (;;) yield 1; })()) ; };
//// a generator that never finishes its finally => TIMEOUT
function* g() { try { yield 1; } finally { for (;;); } } for (const x of g()) break;
//// an iterator without end => TIMEOUT|MEMORY_LIMIT
module.exports = () => [...{ [Symbol.iterator]: () => ({ next: () => ({ value: 0, done: false }) }) }].length;
//// await in a loop => TIMEOUT
module.exports = async () => { for (;;) await null; };
//// an async generator => TIMEOUT
module.exports = async () => { for await (const _ of (async function* () { for (;;) yield 1; })()) ; };
//// microtasks that make microtasks => TIMEOUT
module.exports = () => new Promise(() => { const f = () => { Promise.resolve().then(f); }; f(); });
//// promises that wait for promises => TIMEOUT|MEMORY_LIMIT
module.exports = () => new Promise(() => { const f = () => Promise.resolve().then(f); f(); });
//// queueMicrotask => TIMEOUT
module.exports = () => new Promise(() => { const f = () => queueMicrotask(f); f(); });
//// a thenable that resolves to itself over and over => TIMEOUT
const t = { then(resolve) { resolve(t); } }; module.exports = async () => t;
//// a thenable whose then is a loop => TIMEOUT
module.exports = async () => ({ get then() { for (;;); } });
//// a million jobs end => 1000000
module.exports = async () => { let n = 0; for (let i = 0; i < 1e6; i++) { n++; if (i % 4096 == 0) await 0; } return n; };
//// a catastrophic regex => TIMEOUT
module.exports = () => /^(a+)+$/.test('a'.repeat(40) + 'b');
//// a catastrophic regex with the u flag => TIMEOUT
module.exports = () => /^(\p{L}+\s?)+$/u.test('ä'.repeat(40) + '!');
//// a catastrophic regex with a back reference => TIMEOUT
module.exports = () => /^(?:(.*)\1)*x$/.test('a'.repeat(80));
//// a catastrophic regex in replace => TIMEOUT
module.exports = () => ('x'.repeat(28) + 'y').replace(/(x+x+)+z/g, '');
//// join of a huge array => TIMEOUT|MEMORY_LIMIT
const a = []; a.length = 2 ** 32 - 1; a.join();
//// join with nothing between => TIMEOUT|MEMORY_LIMIT
module.exports = () => new Array(2 ** 32 - 1).join('').length;
//// reverse of a huge array => TIMEOUT
const a = []; a.length = 2 ** 32 - 1; a.reverse();
//// fill of a huge array-like => TIMEOUT|MEMORY_LIMIT
Array.prototype.fill.call({ length: 2 ** 52 }, 0);
//// indexOf in a huge array-like => TIMEOUT
Array.prototype.indexOf.call({ length: 2 ** 52 }, 1);
//// includes in a huge array-like => TIMEOUT
Array.prototype.includes.call({ length: 2 ** 52 }, 1);
//// sort with a comparison that never ends => TIMEOUT
[3, 1, 2].sort(() => { for (;;); });
//// sort of a huge array-like => TIMEOUT|MEMORY_LIMIT
Array.prototype.sort.call({ length: 2 ** 40 });
//// splice of a huge array-like => TIMEOUT
Array.prototype.splice.call({ length: 2 ** 50 }, 0, 1);
//// normalize of a long string => TIMEOUT|MEMORY_LIMIT
const s = 'a\u0300\u0301\u0302'.repeat(400000); for (;;) s.normalize('NFC');
//// BigInt to string => TIMEOUT|MEMORY_LIMIT
const x = 2n ** 900000n; for (;;) x.toString();
//// BigInt power => TIMEOUT|MEMORY_LIMIT|THREW
let x = 3n; for (;;) x = x ** 3n;
//// BigInt multiplication => TIMEOUT|MEMORY_LIMIT|THREW
let x = 2n ** 200000n + 1n; for (;;) x = (x * x) % (2n ** 400000n);
//// parseInt of a long string, again and again => TIMEOUT
const s = '9'.repeat(1e6); for (;;) parseInt(s);
//// string comparison in a loop => TIMEOUT
const a = 'x'.repeat(1e6), b = 'x'.repeat(1e6) + 'y'; for (;;) a < b;
//// replaceAll => TIMEOUT|MEMORY_LIMIT
let s = 'aa'; for (;;) s = s.replaceAll('a', 'ab').slice(0, 1e6);
//// lastIndexOf that is quadratic => TIMEOUT
const s = 'a'.repeat(2e5); for (;;) s.lastIndexOf('b' + s.slice(0, 1e5));
//// JSON.parse with a reviver that never ends => TIMEOUT
JSON.parse('{"a":1}', () => { for (;;); });
//// JSON.stringify with a replacer that never ends => TIMEOUT
JSON.stringify({ a: 1 }, () => { for (;;); });
//// JSON.stringify of shared parts => TIMEOUT|MEMORY_LIMIT|THREW
let a = ['x']; for (let i = 0; i < 60; i++) a = [a, a]; JSON.stringify(a);
//// Date in a loop => TIMEOUT
for (;;) new Date().toString();
//// a tagged template in a loop => TIMEOUT
const f = (x) => x; for (;;) f`a${1}b`;
//// Function in a loop => TIMEOUT|MEMORY_LIMIT
for (;;) new Function('return 1')();
//// eval in a loop => TIMEOUT|MEMORY_LIMIT
for (;;) eval('1+1');
//// Error with a stack that is made in a loop => TIMEOUT
Error.prepareStackTrace = () => { for (;;); }; new Error('x');
//// a class field that never ends => TIMEOUT
class A { x = (() => { for (;;); })(); } new A();
//// a static block that never ends => TIMEOUT
class A { static { for (;;); } }
//// a destructuring default that never ends => TIMEOUT
const { a = (() => { for (;;); })() } = {};
//// a module that never ends => TIMEOUT
//@ module
export default () => { for (;;); };
//// a top-level await that never stops => TIMEOUT
//@ module
for (;;) await 0;
export default () => 1;
//// an exported getter that never ends => TIMEOUT
module.exports = { get f() { for (;;); } };
//// an error whose message never ends => TIMEOUT
throw { get message() { for (;;); } };
//// an Error whose name never ends => TIMEOUT
const e = new Error('x'); Object.defineProperty(e, 'name', { get() { for (;;); } }); throw e;
//// console with an object that never ends => TIMEOUT
console.log({ get x() { for (;;); } });
//// sort of a typed array, which the engine does not interrupt => TIMEOUT
const a = new Float64Array(1e6); for (let i = 0; i < 1e3; i++) a.sort();
//// indexOf of a long string, which the engine does not interrupt => TIMEOUT
const s = 'a'.repeat(3e6), t = 'a'.repeat(1e6) + 'b'; for (let i = 0; i < 1e3; i++) s.indexOf(t);
//// multiplication of BigInts, which the engine does not interrupt => TIMEOUT
const x = 3n ** 600000n; for (let i = 0; i < 1e3; i++) x * x;
//// normalize, which the engine does not interrupt => TIMEOUT
const s = 'a\u0300\u0301\u0302'.repeat(100000); for (let i = 0; i < 1e3; i++) s.normalize('NFD');
//// JSON.parse, which the engine does not interrupt => TIMEOUT
const s = '[' + '1,'.repeat(1e5) + '1]'; for (let i = 0; i < 1e3; i++) JSON.parse(s);
//// toUpperCase, which the engine does not interrupt => TIMEOUT
const s = 'ä'.repeat(1e6); for (let i = 0; i < 1e3; i++) s.toUpperCase();
//// indexOf of a typed array, which the engine does not interrupt => TIMEOUT
const s = new Uint8Array(7e6); for (let i = 0; i < 5e3; i++) s.indexOf(1);
//// Array.fromAsync without end => TIMEOUT|MEMORY_LIMIT
module.exports = () => Array.fromAsync((function* () { for (;;) yield 1; })());
//// iterator helpers without end => TIMEOUT|MEMORY_LIMIT
module.exports = () => Iterator.from({ next: () => ({ value: 1, done: false }) }).filter(() => false).toArray();
//// flat of a huge array => TIMEOUT
const a = []; a.length = 2 ** 32 - 1; a.flat();
//// flat of an array that holds itself => TIMEOUT|STACK_OVERFLOW|MEMORY_LIMIT
let a = []; a[0] = a; a.flat(Infinity);
//// copyWithin of a huge array-like => TIMEOUT
Array.prototype.copyWithin.call({ length: 2 ** 50 }, 0, 1);
//// lastIndexOf of a huge array => TIMEOUT
const a = []; a.length = 2 ** 32 - 1; a.lastIndexOf(1);
//// concat of a huge array => TIMEOUT|MEMORY_LIMIT|THREW
const a = []; a.length = 2 ** 32 - 1; [].concat(a);
//// toLocaleString of a huge array => TIMEOUT|MEMORY_LIMIT
new Array(2 ** 32 - 1).toLocaleString();
//// String.raw of a huge template => MEMORY_LIMIT|TIMEOUT|THREW
String.raw({ raw: { length: 2 ** 40 } });
//// rejections that are caught without end => TIMEOUT
module.exports = () => new Promise(() => { const f = () => { Promise.reject(1).catch(f); }; f(); });
//// a stack trace whose limit never ends => TIMEOUT
Error.stackTraceLimit = { valueOf() { for (;;); } }; throw new Error('x');
//// a regex that looks behind => TIMEOUT
module.exports = () => /(?<=(a+)+)b/.test('a'.repeat(5000) + 'c' + 'a'.repeat(5000));
//// a regex that finds nothing, again and again => TIMEOUT
const r = /a*/g; for (;;) { r.lastIndex = { valueOf() { return 0; } }; r.exec('b'); }
//// a proxy as module.exports => TIMEOUT
module.exports = new Proxy({}, { ownKeys() { for (;;); } });
//// eval that calls eval => STACK_OVERFLOW|TIMEOUT
const f = () => eval('f()'); f();
//// an object that grows while it is written => NOT_JSON|TIMEOUT|OUTPUT_TOO_LARGE
module.exports = () => { const make = () => ({ get n() { return make(); } }); return make(); };
//// an array that shrinks while it is written => NOT_JSON `result[1]`
module.exports = () => { const a = [{ toJSON() { a.length = 1; return 1; } }, 2, 3]; return a; };
//// a program that deletes all globals => 1
for (const k of Object.getOwnPropertyNames(globalThis)) { try { delete globalThis[k]; } catch { } } (() => 1)
//// a program that freezes the globals => 1
Object.freeze(globalThis); Object.freeze(Object.prototype); module.exports = () => 1;
