//// nothing => NOT_JSON `undefined`
module.exports = () => { };
//// a function => NOT_JSON the result is a function
module.exports = () => () => 1;
//// a function inside => NOT_JSON `result.a.b[1]` is a function
module.exports = () => ({ a: { b: [1, () => 1] } });
//// a class => NOT_JSON a function
module.exports = () => class { };
//// a symbol => NOT_JSON a symbol
module.exports = () => Symbol('x');
//// a symbol inside => NOT_JSON `result.s` is a symbol
module.exports = () => ({ s: Symbol('x') });
//// a BigInt => NOT_JSON a BigInt
module.exports = () => 1n;
//// a BigInt inside => NOT_JSON `result[0]` is a BigInt
module.exports = () => [10n ** 30n];
//// NaN => NOT_JSON `NaN`
module.exports = () => NaN;
//// Infinity inside => NOT_JSON `result["a b"]` is `-Infinity`
module.exports = () => ({ 'a b': -1 / 0 });
//// a cycle => NOT_JSON `result.self` is part of a cycle
module.exports = () => { const a = {}; a.self = a; return a; };
//// a long cycle => NOT_JSON part of a cycle
module.exports = () => { const a = {}, b = { a }; a.c = [b]; return a; };
//// the same object twice is not a cycle => [{"x":1},{"x":1}]
module.exports = () => { const a = { x: 1 }; return [a, a]; };
//// an undefined item => NOT_JSON `result[1]` is `undefined`
module.exports = () => [1, undefined];
//// a hole => NOT_JSON `result[1]` is `undefined`
module.exports = () => [1, , 3];
//// a huge sparse array => NOT_JSON `result[0]`
module.exports = () => { const a = []; a[2 ** 32 - 2] = 1; return a; };
//// an undefined property is left out => {"b":null}
module.exports = () => ({ a: undefined, b: null });
//// a promise that never ends => NOT_JSON nothing will ever settle
module.exports = () => new Promise(() => { });
//// a promise inside => NOT_JSON `result.p` is a `Promise`
module.exports = () => ({ p: Promise.resolve(1) });
//// a Map => NOT_JSON a `Map`
module.exports = () => new Map([[1, 2]]);
//// a Set => NOT_JSON a `Set`
module.exports = () => ({ s: new Set([1]) });
//// a RegExp => NOT_JSON a `RegExp`
module.exports = () => /x/;
//// an Error => NOT_JSON the result is a `Error`
module.exports = () => new Error('x');
//// a typed array => NOT_JSON a `Uint8Array`
module.exports = () => new Uint8Array(3);
//// an ArrayBuffer => NOT_JSON a `ArrayBuffer`
module.exports = () => new ArrayBuffer(3);
//// a generator => NOT_JSON a `Generator`
module.exports = function* () { yield 1; };
//// a module namespace => NOT_JSON
//@ module
export const x = 1; export default () => globalThis.undefinedThing;
//// a thenable that never settles => NOT_JSON nothing will ever settle
module.exports = () => ({ then() { } });
//// a thenable inside => NOT_JSON `result.t.then` is a function
module.exports = () => ({ t: { then() { } } });
//// a Date is its text => "1970-01-01T00:00:00.000Z"
module.exports = () => new Date(0);
//// toJSON is called once => {"k":"d"}
module.exports = () => ({ d: 1, toJSON() { return { k: 'd' }; } });
//// toJSON gets the key => {"d":"d"}
module.exports = () => ({ d: { toJSON(key) { return key; } } });
//// toJSON gets the index => ["0",["0","1"]]
const item = { toJSON(key) { return typeof key === 'string' ? key : 'none'; } }; module.exports = () => [item, [item, item]];
//// toJSON gets no key at the top => ""
module.exports = () => ({ toJSON(key) { return key; } });
//// toJSON that returns nothing leaves the property out => {"a":1,"c":2}
module.exports = () => ({ a: 1, b: { toJSON() { } }, c: 2 });
//// toJSON that returns nothing in a list => NOT_JSON `result[0]` is `undefined`
module.exports = () => [{ toJSON() { } }];
//// toJSON of the returned value is not called => {"x":1}
const again = { value() { throw new Error('asked twice'); } };
module.exports = () => ({ toJSON() { return Object.defineProperty({ x: 1 }, 'toJSON', again); } });
//// toJSON that returns a function => NOT_JSON a function
module.exports = () => ({ toJSON() { return () => 1; } });
//// toJSON that throws => THREW no
module.exports = () => ({ toJSON() { throw new Error('no'); } });
//// a getter that throws => THREW no
module.exports = () => ({ get x() { throw new TypeError('no'); } });
//// a proxy of an object => {"a":1}
module.exports = () => new Proxy({ a: 1 }, {});
//// a proxy of an array => [1,2]
module.exports = () => new Proxy([1, 2], {});
//// a revoked proxy => THREW
module.exports = () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; };
//// a proxy of a function => NOT_JSON a function
module.exports = () => new Proxy(() => 1, {});
//// boxed values => [1,"x",false]
module.exports = () => [new Number(1), new String('x'), new Boolean(false)];
//// boxed values are converted as the language says => [2,"y",false]
const asked = (value, how, answer) => Object.defineProperty(value, how, { value: () => answer });
module.exports = () => [asked(new Number(1), 'valueOf', 2), asked(new String('x'), 'toString', 'y'), asked(new Boolean(false), 'valueOf', true)];
//// a replaced valueOf does not change a boxed boolean => [true]
Boolean.prototype.valueOf = () => 'changed'; module.exports = () => [new Boolean(true)];
//// instances are their own properties => {"x":1}
class P { x = 1; get y() { return 2; } #z = 3; } module.exports = () => new P();
//// no prototype => {"a":1}
module.exports = () => Object.assign(Object.create(null), { a: 1 });
//// arguments => {"0":{}}|[{}]
module.exports = function () { return arguments; };
//// numbers => [0,0,-1,1.5,1e+21,9007199254740991,1e-7,1.2345678901234568e20,0.30000000000000004,5e-324,1.7976931348623157e308]
module.exports = () => [0, -0, -1, 1.5, 1e21, 2 ** 53 - 1, 1e-7, 123456789012345680000, 0.1 + 0.2, 5e-324, 1.7976931348623157e308];
//// strings => ["a\u0000b","ä😀","\"\\\n\u2028"]
module.exports = () => ['a\u0000b', 'ä😀', '"\\\n\u2028'];
//// half characters become U+FFFD => ["a\ufffdb","\ufffd","\ufffd\ufffd","😀"]
module.exports = () => ['a\ud800b', '\udc00', '\udc00\ud800', '\ud83d\ude00'];
//// half characters in keys => NOT_JSON `result.a` is an object with half a character in a key
module.exports = () => ({ a: { '\ud800': 1, '\udc00': 2 } });
//// __proto__ is a key like others, out => {"__proto__":1}
module.exports = () => JSON.parse('{"__proto__":1}');
//// __proto__ is a key like others, in => [{"__proto__":{"x":1}},"undefined"]
//@ args {"__proto__":{"x":1}}
module.exports = (a) => [a, typeof a.x];
//// keys that are numbers come first, as the language has it => {"1":"b","a":"c"}
module.exports = () => ({ a: 'c', 1: 'b' });
//// properties whose key is a symbol are left out => {"a":1}
module.exports = () => ({ a: 1, [Symbol('x')]: 2 });
//// properties that are not enumerable are left out => {"a":1}
module.exports = () => Object.defineProperty({ a: 1 }, 'b', { value: 2, enumerable: false });
//// 127 levels => true
module.exports = () => { let a = []; for (let i = 1; i < 127; i++) a = [a]; globalThis.a = a; return JSON.stringify(a).length === 254; };
//// 127 levels come out => 127
//@ depth
module.exports = () => { let a = []; for (let i = 1; i < 127; i++) a = [a]; return a; };
//// 128 levels => NOT_JSON nested deeper than 127 levels
module.exports = () => { let a = []; for (let i = 1; i < 128; i++) a = [a]; return a; };
//// 20000 levels => NOT_JSON nested deeper
module.exports = () => { let a = []; for (let i = 1; i < 2e4; i++) a = [a]; return a; };
//// a long string => OUTPUT_TOO_LARGE 1048576 bytes
module.exports = () => 'x'.repeat(2e6);
//// many items => OUTPUT_TOO_LARGE
module.exports = () => new Array(4e5).fill(12345);
//// shared parts that unfold => OUTPUT_TOO_LARGE
module.exports = () => { let a = ['x']; for (let i = 0; i < 60; i++) a = [a, a]; return a; };
//// many small lists => OUTPUT_TOO_LARGE more than the 196608 parts
module.exports = () => new Array(260000).fill([0]);
//// many small objects => OUTPUT_TOO_LARGE parts
module.exports = () => new Array(149700).fill({ '': 0 });
//// many empty lists => OUTPUT_TOO_LARGE parts
module.exports = () => new Array(300000).fill([]);
//// punctuation in strings does not count as a part => 600000
//@ length
module.exports = () => '[{,:'.repeat(150000);
//// a long key => OUTPUT_TOO_LARGE
module.exports = () => ({ ['k'.repeat(2e6)]: 1 });
//// escapes count => OUTPUT_TOO_LARGE
module.exports = () => '\u0001'.repeat(3e5);
//// a result at the cap => 1048574
//@ length
module.exports = () => 'x'.repeat(1048574);
