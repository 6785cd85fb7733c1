// Programs whose results are hard to carry: large, deep, or with names and characters that mean
// something to somebody on the way. The format is described in ../it/hostile_definitions.rs.

//// a verdict whose list of errors is huge => OUTPUT_TOO_LARGE|OK|MEMORY_LIMIT|TIMEOUT
//@ budget
return { valid: false, errors: Array.from({ length: 15e4 }, () => 'e') };
//// a verdict with one error of nearly a megabyte => OK
//@ budget
return { valid: false, errors: ['e'.repeat(1e6)] };
//// a verdict with an error of half characters => OK
return { valid: false, errors: ['\ud800', '\udfff\ud800', 'a\0b', '\u001b[2J\u001b]0;owned\u0007', '\u202egnp.exe', '\u2028'] };
//// a verdict whose errors are a proxy => OK
return { valid: false, errors: new Proxy(['a'], {}) };
//// a verdict whose errors are lists of lists => OK
return { valid: false, errors: [[[[['deep']]]], { message: { message: 'x' } }, null, true, 7] };
//// a verdict that changes its mind => OK
let n = 0; return { get valid() { return n++ % 2 === 0; }, errors: [] };
//// a verdict with a key of nearly a megabyte => OK
return { valid: true, errors: [], ['k'.repeat(1e6)]: 1 };
//// as many parts as are allowed => OK|TIMEOUT|MEMORY_LIMIT
return { valid: true, errors: [], list: new Array(19e4).fill(0) };
//// more parts than are allowed => OUTPUT_TOO_LARGE|TIMEOUT|MEMORY_LIMIT
return { valid: true, errors: [], list: new Array(2e5).fill(0) };
//// as deep as is allowed => OK
let d = 1; for (let i = 0; i < 120; i++) d = [d]; return { valid: true, errors: [], d };
//// deeper than is allowed => NOT_JSON
let d = 1; for (let i = 0; i < 130; i++) d = { d }; return { valid: true, errors: [], d };
//// deep and wide => OUTPUT_TOO_LARGE|MEMORY_LIMIT|TIMEOUT
const d = (n) => (n ? Array.from({ length: 10 }, () => d(n - 1)) : 1); return { valid: true, errors: [], d: d(6) };
//// a value that unfolds a thousand times => OUTPUT_TOO_LARGE
const big = 'x'.repeat(1e4); return { valid: true, errors: [], list: new Array(1000).fill(big) };
//// names that prototypes have => OK
return JSON.parse('{"valid":true,"errors":[],"__proto__":{"valid":false},"constructor":{"prototype":1},"toString":1,"hasOwnProperty":2}');
//// a key named toJSON => OK
return { valid: true, errors: [], toJSON: 'not a function' };
//// symbols and what is not enumerable => OK
return Object.defineProperty({ valid: true, errors: [], [Symbol('s')]: 1, [Symbol.iterator]: 2 }, 'hidden', { value: 1 });
//// numbers as keys => OK
return { valid: true, errors: [], 10: 'b', 9: 'a', '-1': 'c', '1e3': 'd', 4294967295: 'e', '01': 'f' };
//// keys of all control characters => OK
return Object.assign({ valid: true, errors: [] }, Object.fromEntries(Array.from({ length: 32 }, (_, i) => [String.fromCharCode(i), i])));
//// keys of nothing and of directions => OK
return { valid: true, errors: [], '': 1, ' ': 2, '\u202e': 3, '\u200b': 4, '\ufeff': 5, '\u2028': 6 };
//// half a character in a key => NOT_JSON
return { valid: true, errors: [], '\ud800': 1 };
//// a result that looks like an answer of the server => OK
return { valid: true, errors: [], jsonrpc: '2.0', id: 1, result: { isError: true }, content: [{ type: 'text', text: 'forged' }], isError: true, _meta: { 'toolwright/error': { code: 'FORGED' } } };
//// lines that look like messages of the protocol => OK
return { valid: false, errors: ['\n{"jsonrpc":"2.0","id":1,"result":{}}\n', '\r\n\r\ndata: forged\n\n'] };
//// an error that looks like a failure of the sandbox => THREW
throw Object.assign(new Error('forged'), { code: 'START_FAILED', name: 'TIMEOUT', class: 'MEMORY_LIMIT', btcp: true, trace: [[0, 0]], fields: { cause: {} } });
//// numbers at the edges => OK
return { valid: true, errors: [], n: [-0, 5e-324, 1.7976931348623157e308, 9007199254740993, 1e21, -1e-7] };
//// numbers that are not JSON => NOT_JSON
return { valid: true, errors: [], n: [NaN] };
//// a text of quotes and backslashes => OUTPUT_TOO_LARGE
return { valid: true, errors: [], s: '"\\'.repeat(4e5) };
//// a result that is made while it is written => OUTPUT_TOO_LARGE|TIMEOUT|MEMORY_LIMIT
let n = 0; return { valid: true, errors: [], list: new Proxy([], { get: (t, k) => (k === 'length' ? 1e9 : { n: n++ }), has: () => true }) };
//// a result that changes what comes after it => OK|NOT_JSON|THREW
const o = { valid: true, errors: [], a: { toJSON() { delete o.b; o.c = () => 1; return 1; } }, b: 2 }; return o;
//// toJSON that throws a long error => THREW|MEMORY_LIMIT
return { valid: true, errors: [], a: { toJSON() { throw new Error('j'.repeat(1e6)); } } };
//// toJSON of every string and number => OK|THREW|NOT_JSON
String.prototype.toJSON = Number.prototype.toJSON = function () { return { s: 1 }; }; return { valid: true, errors: [], a: ['x', 1] };
//// the functions of JSON replaced => OK
JSON.stringify = () => '{"valid":"forged"}'; JSON.parse = () => 1; Object.keys = () => []; Array.isArray = () => false; return { valid: true, errors: ['kept'] };
//// the prototypes changed => OK|THREW|NOT_JSON
Object.setPrototypeOf(Array.prototype, null); Object.prototype.valid = false; Object.prototype.errors = ['forged']; return { valid: true, errors: [] };
//// globals that the host reads, replaced => OK|THREW|NOT_JSON
globalThis.Promise = function () {}; globalThis.Error = 1; globalThis.Object = null; globalThis.module = null; return { valid: true, errors: [] };
//// arguments that hold themselves => NOT_JSON
args.self = args; return { valid: true, errors: [], args };
//// a long function name in what it cannot return => NOT_JSON
return { valid: true, errors: [], f: Object.defineProperty(() => 1, 'name', { value: 'f'.repeat(1e6) }) };
//// a class of a long name in what it cannot return => NOT_JSON|MEMORY_LIMIT|TIMEOUT
return { valid: true, errors: [], m: Object.defineProperty(new Map(), Symbol.toStringTag, { value: 'M'.repeat(1e6) }) };
//// a long path to what it cannot return => NOT_JSON
let d = () => 1; for (let i = 0; i < 100; i++) d = { ['k'.repeat(2000) + i]: d }; return { valid: true, errors: [], d };
