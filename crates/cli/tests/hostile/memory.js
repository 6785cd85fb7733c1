// Programs that want more memory than they may have, in the guest or in this program. The format is
// described in ../it/hostile_definitions.rs.

//// a text that doubles and is compared => MEMORY_LIMIT|THREW|TIMEOUT
let a = 'x', b = 'x'; for (;;) { a += a; b += b; if (a !== b) return 1; }
//// a rope of a million leaves, read at its end => OK|MEMORY_LIMIT|TIMEOUT
let s = ''; for (let i = 0; i < 1e6; i++) s = 'a' + s; return { valid: true, errors: [], last: s[s.length - 1] };
//// a list that doubles by spread => MEMORY_LIMIT|STACK_OVERFLOW|THREW
const a = [1]; for (;;) a.push(...a);
//// a list that doubles by concat => MEMORY_LIMIT|TIMEOUT
let a = [1]; for (;;) a = a.concat(a);
//// a list that doubles by flatMap => MEMORY_LIMIT|TIMEOUT
let a = [1]; for (;;) a = a.flatMap((x) => [x, x]);
//// text before the match, for each match => MEMORY_LIMIT|TIMEOUT|THREW
return 'a'.repeat(2e4).replace(/a/g, '$`').length;
//// text that unfolds when it is written as JSON => MEMORY_LIMIT|TIMEOUT|THREW
return JSON.stringify('\u0001'.repeat(3e6)).length;
//// text that unfolds when it is escaped => MEMORY_LIMIT|TIMEOUT|THREW
return encodeURIComponent('€'.repeat(2e6)).length;
//// letters that become three => MEMORY_LIMIT|TIMEOUT|THREW
return '\ufb03'.repeat(3e6).toUpperCase().length;
//// an empty text replaced by a long one => MEMORY_LIMIT|TIMEOUT|THREW
return 'x'.repeat(1e4).replaceAll('', 'y'.repeat(1e4)).length;
//// join with a long separator => MEMORY_LIMIT|TIMEOUT|THREW
return Array(1e5).join('x'.repeat(1e4)).length;
//// characters from a huge list => MEMORY_LIMIT|STACK_OVERFLOW|THREW
return String.fromCharCode(...new Uint16Array(4e6)).length;
//// pairs of a huge text => MEMORY_LIMIT
return Object.entries(new String('x'.repeat(4e6))).length;
//// names that were never seen => MEMORY_LIMIT|TIMEOUT
for (let i = 0; ; i++) Symbol.for('name' + i);
//// shapes that were never seen => MEMORY_LIMIT|TIMEOUT
const all = []; for (let i = 0; ; i++) all.push({ ['a' + i]: 1, ['b' + i]: 2 });
//// regular expressions => MEMORY_LIMIT|TIMEOUT
const all = []; for (let i = 0; ; i++) all.push(new RegExp('a{1,99}' + i));
//// functions that are compiled and kept => MEMORY_LIMIT|TIMEOUT
const all = []; for (let i = 0; ; i++) all.push(new Function('return ' + i));
//// generators that are never resumed => MEMORY_LIMIT|TIMEOUT
const all = []; for (;;) { const g = (function* (x) { yield x; })([]); g.next(); all.push(g); }
//// async functions that are never resumed => MEMORY_LIMIT|TIMEOUT
const never = new Promise(() => 0); for (;;) (async () => { await never; })();
//// a chain of promises => MEMORY_LIMIT|TIMEOUT
let p = Promise.resolve(); for (;;) p = p.then(() => 1);
//// weak references => MEMORY_LIMIT|TIMEOUT|THREW
const all = []; for (;;) all.push(new WeakRef({}));
//// proxies => MEMORY_LIMIT|TIMEOUT
const all = []; for (;;) all.push(new Proxy({}, {}));
//// dates => MEMORY_LIMIT|TIMEOUT
const all = []; for (;;) all.push(new Date());
//// BigInts => MEMORY_LIMIT|TIMEOUT
const all = []; for (let x = 1n; ; x += 1n) all.push((x << 4096n) + x);
//// Maps of Maps => MEMORY_LIMIT|TIMEOUT
let m = new Map(); for (;;) m = new Map([[m, new Map([[1, m]])]]);
//// closures over buffers => MEMORY_LIMIT|TIMEOUT
const all = []; for (;;) { const b = new Uint8Array(4096); all.push(() => b); }
//// buffers that are moved and grow => MEMORY_LIMIT|TIMEOUT|THREW
let b = new ArrayBuffer(1024); for (;;) b = b.transfer(b.byteLength * 2);
//// a DataView of all that is left => MEMORY_LIMIT|THREW
return new DataView(new ArrayBuffer(2 ** 31 - 1)).byteLength;
//// shared memory => MEMORY_LIMIT|THREW
return new SharedArrayBuffer(2 ** 30).byteLength;
//// classes with static parts => MEMORY_LIMIT|TIMEOUT
const all = []; for (;;) all.push(class { static a = new Array(100).fill(0); #b = 1; });
//// errors with stacks => MEMORY_LIMIT|TIMEOUT
const all = []; for (;;) all.push(new Error('x'.repeat(100)));
//// templates => MEMORY_LIMIT|TIMEOUT
const all = []; for (;;) all.push(((...a) => a)`${1}a${all.length}b`);
//// a message of megabytes => THREW|MEMORY_LIMIT
throw new Error('m'.repeat(2e6));
//// a text of megabytes, thrown => THREW|MEMORY_LIMIT
throw 't'.repeat(2e6);
//// a name of megabytes => THREW|MEMORY_LIMIT
throw Object.assign(new Error('x'), { name: 'N'.repeat(2e6) });
//// a stack of megabytes => THREW|MEMORY_LIMIT
throw Object.assign(new Error('x'), { stack: '    at f (evil.js:1:1)\n'.repeat(1e5) });
//// a class name of megabytes => THREW|MEMORY_LIMIT|TIMEOUT|STACK_OVERFLOW
throw new (new Function('return class ' + 'C'.repeat(1e6) + ' extends Error {}')())('x');
//// a cause of a cause, ten thousand times => THREW|MEMORY_LIMIT
let e = new Error('first'); for (let i = 0; i < 1e4; i++) e = new Error('c' + i, { cause: e }); throw e;
//// an error that is its own cause => THREW
const e = new Error('own'); e.cause = e; throw e;
//// causes of megabytes => THREW|MEMORY_LIMIT
throw new Error('x', { cause: new Error('y'.repeat(1e6), { cause: 'z'.repeat(1e6) }) });
//// many errors in one => THREW|MEMORY_LIMIT|TIMEOUT
throw new AggregateError(Array.from({ length: 2e4 }, (_, i) => new Error('e' + i)), 'all');
//// a million errors in one => MEMORY_LIMIT|TIMEOUT|THREW
throw new AggregateError(Array.from({ length: 1e6 }, () => 'e'), 'all');
//// an error with many properties => THREW|MEMORY_LIMIT|TIMEOUT
const e = new Error('x'); for (let i = 0; i < 3e4; i++) e['p' + i] = i; throw e;
//// an error whose properties are deep => THREW
let d = {}; for (let i = 0; i < 1e4; i++) d = { d }; throw Object.assign(new Error('x'), { d });
//// an error with a property of megabytes => THREW|MEMORY_LIMIT
throw Object.assign(new Error('x'), { code: 'C'.repeat(2e6), suggestion: 'S'.repeat(1e6) });
//// a console line of megabytes => OK|MEMORY_LIMIT
console.log('l'.repeat(2e6)); return { valid: true, errors: [] };
//// a console line of half characters and escapes => OK
console.log('\ud800\u001b[2J\u202e\0'.repeat(1e4)); return { valid: true, errors: [] };
//// many short console lines => OK|TIMEOUT
for (let i = 0; i < 1e4; i++) console.log(''); return { valid: true, errors: [] };
//// a console line of a wide value => OK|MEMORY_LIMIT|TIMEOUT
console.log(Array.from({ length: 5e4 }, (_, i) => ({ i }))); return { valid: true, errors: [] };
//// a console line of a deep value => OK|STACK_OVERFLOW|THREW
let d = []; for (let i = 0; i < 1e4; i++) d = [d]; console.log(d); return { valid: true, errors: [] };
