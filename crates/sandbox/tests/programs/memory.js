//// an array that grows => MEMORY_LIMIT
const a = []; for (;;) a.push(1);
//// arrays of arrays => MEMORY_LIMIT
let a = []; for (;;) a = [a, new Array(1000).fill(0)];
//// an object that grows => MEMORY_LIMIT
const o = {}; for (let i = 0; ; i++) o['k' + i] = i;
//// a Map that grows => MEMORY_LIMIT
const m = new Map(); for (let i = 0; ; i++) m.set(i, i);
//// a Set that grows => MEMORY_LIMIT
const s = new Set(); for (let i = 0; ; i++) s.add('x' + i);
//// a WeakMap that grows => MEMORY_LIMIT
const m = new WeakMap(), keep = []; for (;;) { const k = {}; keep.push(k); m.set(k, {}); }
//// a string that doubles, and is used => MEMORY_LIMIT|THREW
let s = 'xy'; for (;;) { s += s; s.charCodeAt(s.length - 1); }
//// a rope that doubles and becomes the result => MEMORY_LIMIT|THREW|OUTPUT_TOO_LARGE
let s = 'xy'; for (let i = 0; i < 26; i++) s += s; module.exports = () => s;
//// repeat => MEMORY_LIMIT|THREW
'x'.repeat(2 ** 29);
//// repeat beyond what strings can be => THREW invalid
'x'.repeat(2 ** 40);
//// padStart => MEMORY_LIMIT|THREW
'x'.padStart(2 ** 29, 'ab');
//// fill => MEMORY_LIMIT
new Array(1e8).fill(0);
//// Array.from => MEMORY_LIMIT|TIMEOUT
Array.from({ length: 1e9 });
//// an ArrayBuffer => MEMORY_LIMIT
new ArrayBuffer(1e9);
//// an ArrayBuffer that can be resized => MEMORY_LIMIT|THREW
const b = new ArrayBuffer(8, { maxByteLength: 2 ** 30 }); b.resize(2 ** 30);
//// many ArrayBuffers => MEMORY_LIMIT
const a = []; for (;;) a.push(new ArrayBuffer(65536));
//// a typed array => MEMORY_LIMIT
new Float64Array(1e8);
//// spread into arguments => MEMORY_LIMIT|STACK_OVERFLOW|THREW
Math.max(...new Array(5e6).fill(1));
//// apply with a huge array-like => MEMORY_LIMIT|STACK_OVERFLOW|THREW
Math.max.apply(null, { length: 2 ** 31 });
//// closures => MEMORY_LIMIT
let f = () => 0; for (;;) { const g = f; f = () => g; }
//// promises => MEMORY_LIMIT|TIMEOUT
module.exports = async () => { const a = []; for (;;) a.push(new Promise(() => 0)); };
//// symbols => MEMORY_LIMIT
const a = []; for (;;) a.push(Symbol('x'.repeat(100)));
//// a huge shape => MEMORY_LIMIT
const o = {}; for (let i = 0; ; i++) Object.defineProperty(o, 'p' + i, { get: () => i });
//// split => MEMORY_LIMIT
'x'.repeat(2e6).split('');
//// matchAll => MEMORY_LIMIT
[...'x'.repeat(2e6).matchAll(/x/g)];
//// structured JSON => MEMORY_LIMIT
JSON.parse('[' + '{},'.repeat(400000) + '0]');
//// a regex that is huge when compiled => MEMORY_LIMIT|TIMEOUT|THREW|false
new RegExp('(?:' + 'a{1000}'.repeat(2000) + '){1000}').test('a');
//// nested counts in a regex => MEMORY_LIMIT|TIMEOUT|THREW|false
module.exports = () => new RegExp('(((((a{100}){100}){100}){100}){100}){100}').test('b');
//// a character class of everything, often => MEMORY_LIMIT|TIMEOUT|THREW|false
module.exports = () => new RegExp('[\\u{0}-\\u{10ffff}]'.repeat(20000), 'u').test('');
//// catching does not help => MEMORY_LIMIT
const a = []; try { for (;;) a.push(new Array(1000).fill(1)); } catch { } module.exports = () => 1;
//// catching in a loop does not help => MEMORY_LIMIT|TIMEOUT
for (;;) { try { const a = []; for (;;) a.push(a.slice(), 1); } catch { } }
//// an Error in the middle of it does not hide it => MEMORY_LIMIT
const a = []; try { for (;;) a.push({}); } catch { throw new Error('innocent'); }
//// what is freed can be used again => 200
module.exports = () => { let n = 0; for (let i = 0; i < 200; i++) { const a = new Array(1e5).fill(i); n += a.length / 1e5; } return n; };
//// cycles are collected => 300
module.exports = () => { let n = 0; for (let i = 0; i < 300; i++) { const a = { b: new Array(1e4).fill(0) }; a.a = a; n++; } return n; };
//// deep recursion => STACK_OVERFLOW
const f = () => 1 + f(); f();
//// deep recursion through a getter => STACK_OVERFLOW
const o = { get x() { return this.x; } }; o.x;
//// deep recursion through toString => STACK_OVERFLOW
const o = { toString() { return '' + this; } }; '' + o;
//// deep recursion through a proxy => STACK_OVERFLOW
const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x;
//// deep recursion through sort => STACK_OVERFLOW
const f = () => [2, 1].sort(f); f();
//// deep recursion through replace => STACK_OVERFLOW
const f = () => 'x'.replace(/x/, f); f();
//// deep recursion through JSON => STACK_OVERFLOW|THREW
let a = []; for (let i = 0; i < 2e4; i++) a = [a]; JSON.stringify(a);
//// deep JSON is parsed or refused => STACK_OVERFLOW|THREW
JSON.parse('['.repeat(1e5) + ']'.repeat(1e5));
//// a deeply nested regex => STACK_OVERFLOW|THREW|MEMORY_LIMIT
new RegExp('('.repeat(1e5) + ')'.repeat(1e5));
//// deeply nested code => STACK_OVERFLOW|THREW|MEMORY_LIMIT
eval('['.repeat(1e5) + ']'.repeat(1e5));
//// recursion that is caught goes on => "RangeError"
module.exports = () => { const f = () => f(); try { f(); } catch (e) { return e.name; } };
//// recursion that is caught at every level => TIMEOUT|STACK_OVERFLOW|1
module.exports = () => { const f = () => { try { f(); } catch { f(); } return 1; }; return f(); };
//// bound functions, nested => STACK_OVERFLOW|THREW|MEMORY_LIMIT|TIMEOUT
let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); f();
//// a long prototype chain => 1|TIMEOUT|MEMORY_LIMIT
let o = { x: 1 }; for (let i = 0; i < 2e4; i++) o = Object.create(o); module.exports = () => o.x;
//// promises that are nested deeply are dropped => 1
let p = Promise.resolve(1); for (let i = 0; i < 5000; i++) p = p.then((x) => x); module.exports = () => p;
//// two thousand levels of recursion are fine => 2000
module.exports = () => { const f = (n) => (n ? 1 + f(n - 1) : 0); return f(2000); };
//// memory that ends while a function is bound => MEMORY_LIMIT
const f = () => 1, a = [], g = new Array(1000).fill(0); for (;;) a.push(f.bind(...g));
//// memory that ends while a class is compiled => MEMORY_LIMIT
const a = []; for (;;) a.push(new Function('class A{}'));
//// memory that ends while labels are resolved => MEMORY_LIMIT
const a = []; a.push('x'.repeat(20), {}); for (;;) a.push(new Function('for(;;){if(a)break;else continue}'));
//// memory that ends, again and again, while code is compiled from what was left in it => MEMORY_LIMIT
const s = "'abc'+x;", junk = [];
for (let i = 0; i < 3000; i++) junk.push(new Uint8Array(100 + (i % 900)).fill(0x7f));
for (let i = 0; i < 40; i++) junk.push(new Uint8Array(1000 * i).fill(0x7f));
junk.length = 0;
let fill;
for (let kb = 8 * 1024 - 90; kb > 7000; kb -= 1) { try { fill = new ArrayBuffer(kb * 1024); break; } catch {} }
for (let n = 0; n < 120; n++) {
  const source = '{x=1;y' + 'z'.repeat(n % 7) + ';' + s.repeat(300 + n * 13) + '}';
  try { (0, eval)('if(0)' + source); } catch (e) {}
}
module.exports = () => 1;
//// a text that is too long for the engine => MEMORY_LIMIT
const s = 'x'.repeat(1e6); ''.concat(...new Array(50000).fill(s));
