//// 2^53 => 9007199254740992
module.exports = () => 2 ** 53;
//// beyond 2^53 => [9007199254740994,-9007199254740996]
module.exports = () => [2 ** 53 + 2, -(2 ** 53) - 4];
//// 2^60 => 1152921504606847000
module.exports = () => 2 ** 60;
//// the least number of 64 bits => -9223372036854776000
module.exports = () => -(2 ** 63);
//// 2^64 => 18446744073709552000
module.exports = () => 2 ** 64;
//// 10^20 => 100000000000000000000
module.exports = () => 1e20;
//// 10^21 => 1e+21
module.exports = () => 1e21;
//// minus zero => 0
module.exports = () => -0;
//// minus zero in a list => [0]
module.exports = () => [-0];
//// a number of time => 1700000000000
module.exports = () => 1.7e12;
//// small numbers => [0.00001,0.000001,1e-7,5e-324]
module.exports = () => [0.00001, 0.000001, 0.0000001, 5e-324];
//// large numbers => [1.5e+300,1.7976931348623157e+308,1000000000000000.5]
module.exports = () => [1.5e300, Number.MAX_VALUE, 1e15 + 0.5];
//// a number that came in is rounded, as by JSON.parse => 9007199254740992
//@ args {"n":9007199254740993}
module.exports = ({ n }) => n;
//// raw JSON => {"a":12345678901234567890,"b":"x","c":1.50,"d":null}
module.exports = () => ({ a: JSON.rawJSON('12345678901234567890'), b: JSON.rawJSON('"x"'), c: JSON.rawJSON('1.50'), d: JSON.rawJSON('null') });
//// raw JSON at the top => -9223372036854775808
module.exports = () => JSON.rawJSON('-9223372036854775808');
//// raw JSON of minus zero => [-0]
module.exports = () => [JSON.rawJSON('-0')];
//// raw JSON that 64 bits cannot hold => NOT_JSON `result.a` is a raw whole number of more than 64 bits
module.exports = () => ({ a: JSON.rawJSON('123456789012345678901234567890') });
//// raw JSON beyond all numbers => NOT_JSON `result[0]` is raw JSON that cannot be read exactly
module.exports = () => [JSON.rawJSON('1e400')];
//// raw JSON with half a character => NOT_JSON raw JSON that cannot be read exactly
module.exports = () => [JSON.rawJSON('"\\ud800"')];
//// an object that looks like raw JSON => {"rawJSON":"1"}
module.exports = () => ({ rawJSON: '1' });
//// raw JSON although isRawJSON is replaced => [1]
const raw = JSON.rawJSON('1'); JSON.isRawJSON = () => false; module.exports = () => [raw];
//// a thenable is awaited => 5
module.exports = () => ({ then(resolve) { resolve(5); } });
//// a thenable from an async function => {"a":1}
module.exports = async () => ({ then(resolve) { resolve({ a: 1 }); } });
//// a thenable that resolves to a thenable => 6
module.exports = () => ({ then(resolve) { resolve({ then(inner) { inner(6); } }); } });
//// a thenable that resolves to a promise => 7
module.exports = () => ({ then(resolve) { resolve(Promise.resolve(7)); } });
//// a thenable that rejects => THREW Error: no
module.exports = () => ({ then(_, reject) { reject(new Error('no')); } });
//// a thenable that throws => THREW Error: no
module.exports = () => ({ then() { throw new Error('no'); } });
//// a getter of then that throws => THREW Error: no
module.exports = () => ({ get then() { throw new Error('no'); } });
//// then is read once => 1
let reads = 0; module.exports = () => ({ get then() { reads++; return (resolve) => resolve(reads); } });
//// a function with then is awaited => 8
module.exports = () => Object.assign(() => 1, { then(resolve) { resolve(8); } });
//// a proxy with then is awaited => 4
module.exports = () => new Proxy({}, { get: (_, key) => (key === 'then' ? (resolve) => resolve(4) : undefined) });
//// then that is not a function is a property => {"then":1}
module.exports = () => ({ then: 1 });
//// a class with then is awaited => 9
class Later { then(resolve) { resolve(9); } } module.exports = () => new Later();
//// a thenable of a promise that was replaced => 5
globalThis.Promise = class { }; module.exports = () => ({ then(resolve) { resolve(5); } });
//// a thenable that resolves to itself forever => TIMEOUT
module.exports = () => { const t = { then(resolve) { resolve(t); } }; return t; };
//// an instance with getters of its class and private fields => {"x":1}
class P { x = 1; #y = 2; get z() { return this.#y; } static s = 3; } module.exports = () => new P();
//// an instance with its own getter => {"a":1,"b":2}
module.exports = () => ({ a: 1, get b() { return 2; } });
//// an instance with toJSON => {"sum":3}
class Q { #a = 1; #b = 2; toJSON() { return { sum: this.#a + this.#b }; } } module.exports = () => new Q();
//// an instance inside with toJSON => {"q":"q!"}
class R { toJSON(key) { return key + '!'; } } module.exports = () => ({ q: new R() });
//// inherited properties are left out => {"own":1}
module.exports = () => Object.assign(Object.create({ inherited: 1 }), { own: 1 });
//// a class derived from Array => [1,2]
class List extends Array { } module.exports = () => List.from([1, 2]);
//// a list with properties => [1]
module.exports = () => Object.assign([1], { a: 2 });
//// a Date => ["2020-02-30T00:00:00.000Z"]|["2020-03-01T00:00:00.000Z"]
module.exports = () => [new Date(Date.UTC(2020, 1, 30))];
//// an invalid Date => {"d":null}
module.exports = () => ({ d: new Date(NaN) });
//// a Map => NOT_JSON `result.m` is a `Map`, which has no JSON form
module.exports = () => ({ m: new Map([['a', 1]]) });
//// a Map with toJSON => [["a",1]]
module.exports = () => Object.assign(new Map([['a', 1]]), { toJSON() { return [...this]; } });
//// a class derived from Map => NOT_JSON a `Map`
class Index extends Map { } module.exports = () => new Index();
//// a Set => NOT_JSON a `Set`
module.exports = () => [new Set([1])];
//// a WeakMap => NOT_JSON a `WeakMap`
module.exports = () => [new WeakMap()];
//// typed arrays => NOT_JSON a `Float64Array`
module.exports = () => ({ a: new Float64Array([1, 2]) });
//// an iterator => NOT_JSON a `Array Iterator`
module.exports = () => [1, 2].values();
//// an Error with properties => NOT_JSON a `Error`
module.exports = () => Object.assign(new Error('x'), { code: 1 });
//// a BigInt => NOT_JSON `result.n` is a BigInt
module.exports = () => ({ n: 2n ** 64n });
//// a BigInt whose class has toJSON => {"n":"18446744073709551616"}
BigInt.prototype.toJSON = function () { return this.toString(); }; module.exports = () => ({ n: 2n ** 64n });
//// a boxed BigInt => NOT_JSON a `BigInt`
module.exports = () => [Object(1n)];
//// a boxed symbol => NOT_JSON a `Symbol`
module.exports = () => [Object(Symbol('x'))];
//// boxed values => [1,"x",true]
module.exports = () => [new Number(1), new String('x'), Object(true)];
//// a boxed NaN => NOT_JSON `NaN`
module.exports = () => [new Number(NaN)];
//// a function with toJSON => ["f"]
module.exports = () => [Object.assign(() => 1, { toJSON() { return 'f'; } })];
//// a function as a property => NOT_JSON `result.f` is a function
module.exports = () => ({ f() { } });
//// a symbol as a property => NOT_JSON `result.s` is a symbol
module.exports = () => ({ s: Symbol.iterator });
//// a symbol as a key => {}
module.exports = () => ({ [Symbol('x')]: 1 });
//// a proxy with a handler => {"a":2,"b":3}
module.exports = () => new Proxy({ a: 1 }, { get: (o, k) => (k === 'a' ? 2 : k === 'b' ? 3 : undefined), ownKeys: () => ['a', 'b'], getOwnPropertyDescriptor: () => ({ value: 0, enumerable: true, configurable: true }) });
//// a proxy whose handler throws => THREW no
module.exports = () => new Proxy({}, { ownKeys() { throw new Error('no'); } });
//// a cycle => NOT_JSON `result.a.b` is part of a cycle
module.exports = () => { const o = { a: {} }; o.a.b = o; return o; };
//// a cycle through toJSON => {"a":1}
module.exports = () => { const o = { toJSON: () => ({ a: 1 }) }; o.self = o; return o; };
//// the global Math => {"m":{}}
module.exports = () => ({ m: Math });
