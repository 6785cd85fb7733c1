// Programs that nest deeper than any stack. The format is described in ../it/hostile_definitions.rs.

//// three functions in a circle => STACK_OVERFLOW
const f = (n) => 1 + g(n), g = (n) => 1 + h(n), h = (n) => 1 + f(n); return f(0);
//// Symbol.toPrimitive => STACK_OVERFLOW
const o = { [Symbol.toPrimitive]() { return +this; } }; return +o;
//// valueOf in arithmetic => STACK_OVERFLOW
const o = { valueOf() { return o * 2; } }; return o * 2;
//// toJSON that always has one more => STACK_OVERFLOW|THREW|NOT_JSON|TIMEOUT|OUTPUT_TOO_LARGE|MEMORY_LIMIT
const more = () => ({ a: { toJSON: more } }); return JSON.stringify(more());
//// toJSON of the result that always has one more => STACK_OVERFLOW|THREW|NOT_JSON|TIMEOUT|OUTPUT_TOO_LARGE
const more = () => ({ a: { toJSON: more } }); return more();
//// a default in a pattern => STACK_OVERFLOW
const f = ({ a = f({}) } = {}) => a; return f();
//// a pattern whose iterator destructures itself => STACK_OVERFLOW
const it = { [Symbol.iterator]() { const [x] = it; return x; } }; const [y] = it; return y;
//// a setter => STACK_OVERFLOW
const o = { set x(v) { this.x = v; } }; o.x = 1;
//// the trap `has` => STACK_OVERFLOW
const p = new Proxy({}, { has: (t, k) => k in p }); return 'x' in p;
//// the trap `ownKeys` => STACK_OVERFLOW
const p = new Proxy({}, { ownKeys: () => Reflect.ownKeys(p) }); return Object.keys(p);
//// a proxy of a proxy, get => STACK_OVERFLOW|MEMORY_LIMIT|OK|TIMEOUT
let p = {}; for (let i = 0; i < 2e4; i++) p = new Proxy(p, {}); return { valid: true, errors: [], x: p.x };
//// a proxy of a proxy, call => STACK_OVERFLOW|MEMORY_LIMIT|OK|TIMEOUT
let p = () => ({ valid: true, errors: [] }); for (let i = 0; i < 2e4; i++) p = new Proxy(p, {}); return p();
//// a proxy of a proxy, is it a list? => STACK_OVERFLOW|MEMORY_LIMIT|OK|TIMEOUT|THREW
let p = []; for (let i = 0; i < 2e4; i++) p = new Proxy(p, {}); return { valid: Array.isArray(p), errors: [] };
//// a proxy of a proxy as the result => STACK_OVERFLOW|MEMORY_LIMIT|OK|TIMEOUT|NOT_JSON
let p = { valid: true, errors: [] }; for (let i = 0; i < 2e4; i++) p = new Proxy(p, {}); return p;
//// a class that extends a class that extends … => STACK_OVERFLOW|MEMORY_LIMIT|TIMEOUT
let C = class {}; for (let i = 0; i < 2e4; i++) C = class extends C {}; return new C();
//// yield* in yield* => STACK_OVERFLOW|MEMORY_LIMIT
const g = function* () { yield* g(); }; return [...g()];
//// iterators around iterators => STACK_OVERFLOW|MEMORY_LIMIT|TIMEOUT|THREW
let it = [1].values(); for (let i = 0; i < 2e4; i++) it = it.map((x) => x); return it.next();
//// an async function that waits for itself => STACK_OVERFLOW|MEMORY_LIMIT
const f = async () => { await f(); }; return f();
//// a promise that waits for a promise that waits … => OK|MEMORY_LIMIT|TIMEOUT|STACK_OVERFLOW
let p = Promise.resolve({ valid: true, errors: [] }); for (let i = 0; i < 2e4; i++) { const q = p; p = (async () => q)(); } return p;
//// a list in a list, as text => STACK_OVERFLOW|THREW
let a = []; for (let i = 0; i < 3e4; i++) a = [a]; return String(a);
//// flat of a deep list => STACK_OVERFLOW|OK|THREW
let a = []; for (let i = 0; i < 3e4; i++) a = [a]; return { valid: true, errors: [], n: a.flat(Infinity).length };
//// JSON.parse of deep objects => STACK_OVERFLOW|THREW
return JSON.parse('{"a":'.repeat(5e4) + '1' + '}'.repeat(5e4));
//// JSON.parse of a depth that is fine, with a reviver that adds to it => STACK_OVERFLOW|THREW|TIMEOUT|MEMORY_LIMIT|NOT_JSON
return JSON.parse('['.repeat(100) + ']'.repeat(100), function (k, v) { let d = v; for (let i = 0; i < 100; i++) d = [d]; return d; });
//// Reflect.apply of itself => STACK_OVERFLOW
const f = () => Reflect.apply(f, null, []); return f();
//// call of call of call => STACK_OVERFLOW
const f = () => Function.prototype.call.call(f); return f();
//// new of itself => STACK_OVERFLOW
function F() { return new F(); } return new F();
//// Array.from of itself => STACK_OVERFLOW
const f = () => Array.from([1], f); return f();
//// a regex callback that replaces => STACK_OVERFLOW
const f = (s) => s.replaceAll('a', () => f(s)); return f('a');
//// prepareStackTrace that throws an Error => STACK_OVERFLOW|THREW|OK
Error.prepareStackTrace = () => { throw new Error('again'); }; return { valid: true, errors: [String(new Error('x').stack)] };
//// catch that calls what failed => STACK_OVERFLOW|TIMEOUT
const f = () => { try { f(); } catch { f(); } }; return f();
//// a getter of the prototype of everything => STACK_OVERFLOW|OK|THREW
Object.defineProperty(Object.prototype, 'message', { get() { return this.message; } }); return new Error().message ?? { valid: true, errors: [] };
//// eval of brackets => STACK_OVERFLOW|THREW|MEMORY_LIMIT
return (0, eval)('('.repeat(1e5) + '1' + ')'.repeat(1e5));
//// eval of blocks => STACK_OVERFLOW|THREW|MEMORY_LIMIT|OK
return (0, eval)('{'.repeat(1e5) + '1' + '}'.repeat(1e5));
//// eval of lists => STACK_OVERFLOW|THREW|MEMORY_LIMIT
return (0, eval)('['.repeat(1e5) + '1' + ']'.repeat(1e5));
//// eval of signs => STACK_OVERFLOW|THREW|MEMORY_LIMIT
return (0, eval)('- '.repeat(1e5) + '1');
//// eval of arrows => STACK_OVERFLOW|THREW|MEMORY_LIMIT|TIMEOUT
return typeof (0, eval)('a=>'.repeat(3e4) + '1');
//// eval of functions in functions => STACK_OVERFLOW|THREW|MEMORY_LIMIT|TIMEOUT
return (0, eval)('(function(){return '.repeat(2e4) + '1' + '})()'.repeat(2e4));
//// eval of classes in classes => STACK_OVERFLOW|THREW|MEMORY_LIMIT|TIMEOUT
return typeof (0, eval)('(class{static x='.repeat(2e4) + '1' + '})'.repeat(2e4));
//// eval of templates in templates => STACK_OVERFLOW|THREW|MEMORY_LIMIT|TIMEOUT
return (0, eval)('`${'.repeat(3e4) + '1' + '}`'.repeat(3e4));
//// eval of conditions => STACK_OVERFLOW|THREW|MEMORY_LIMIT|TIMEOUT|OK
return { valid: true, errors: [(0, eval)('1?'.repeat(1e5) + '1' + ':0'.repeat(1e5))] };
//// eval of else if => STACK_OVERFLOW|THREW|MEMORY_LIMIT|TIMEOUT
return (0, eval)('if(0);else '.repeat(1e5) + '1');
//// eval of new new new => STACK_OVERFLOW|THREW|MEMORY_LIMIT
return (0, eval)('new '.repeat(1e5) + 'Object');
//// eval of patterns in patterns => STACK_OVERFLOW|THREW|MEMORY_LIMIT|TIMEOUT
return (0, eval)('var ' + '[{a:'.repeat(3e4) + 'x' + '}]'.repeat(3e4) + '=1');
//// eval of labels => STACK_OVERFLOW|THREW|MEMORY_LIMIT|TIMEOUT|OK
return { valid: true, errors: [(0, eval)(Array.from({ length: 3e4 }, (_, i) => 'l' + i + ':').join('') + '1')] };
//// a regex of nested look-aheads => STACK_OVERFLOW|THREW|MEMORY_LIMIT
return new RegExp('(?='.repeat(3e4) + ')'.repeat(3e4)).test('');
//// a regex of nested sets => STACK_OVERFLOW|THREW|MEMORY_LIMIT
return new RegExp('['.repeat(3e4) + ']'.repeat(3e4), 'v').test('');
//// a regex that remembers each step => OK|STACK_OVERFLOW|TIMEOUT|MEMORY_LIMIT|THREW
return { valid: /^(?:(a)|(b))*$/.test('ab'.repeat(5e5)), errors: [] };
//// a regex that looks behind, step by step => OK|STACK_OVERFLOW|TIMEOUT|MEMORY_LIMIT|THREW
return { valid: /(?<=^(?:a|b)*)c/.test('ab'.repeat(1e4) + 'd'), errors: [] };
