//// an Error => THREW Error: boom
//@ position 2:13
module.exports = () => {
  throw new Error('boom');
};
//// an Error in a helper => THREW TypeError: bad
//@ position 2:17
function helper() {
      throw new TypeError('bad');
}
module.exports = () => helper();
//// an Error behind characters that are not ASCII => THREW Error: x
//@ position 1:44
module.exports = () => { 'äöü😀'; throw new Error('x'); };
//// an Error of the engine => THREW TypeError: cannot read property 'c' of undefined
//@ position 3:3
module.exports = () => {
  const a = {};
  a.b.c.x;
};
//// a syntax error behind characters that are not ASCII => SYNTAX
//@ position 2:18
module.exports = () => {
  const ä = 'ü😀' 1;
};
//// a name that is not defined => THREW ReferenceError: nope is not defined
//@ position 2:3
module.exports = () => {
  nope();
};
//// a rejected promise => THREW Error: late
//@ position 3:13
module.exports = async () => {
  await null;
  throw new Error('late');
};
//// at the top => THREW Error: top
//@ position 1:11
throw new Error('top');
//// in a module => THREW Error: m
//@ module
//@ position 2:13
export default () => {
  throw new Error('m');
};
//// a class of its own => THREW Mine: own
class Mine extends Error { constructor(m) { super(m); this.name = 'Mine'; } } throw new Mine('own');
//// own properties of an Error are reported => THREW Error: x
//@ fields {"code":"NOT_FOUND","suggestion":"look elsewhere","data":{"a":[1]}}
throw Object.assign(new Error('x'), { code: 'NOT_FOUND', suggestion: 'look elsewhere', data: { a: [1] }, f() { } });
//// getters of an Error are not called => THREW Error: x
//@ fields {"b":1}
throw Object.defineProperty(Object.assign(new Error('x'), { b: 1 }), 'a', { enumerable: true, get() { throw 1; } });
//// an own property that is too deep is left out => THREW Error: x
//@ fields {"e":1}
let a = []; for (let i = 1; i < 126; i++) a = [a]; throw Object.assign(new Error('x'), { d: a, e: 1 });
//// an own property of the greatest depth => THREW Error: x
let a = []; for (let i = 1; i < 125; i++) a = [a]; throw Object.assign(new Error('x'), { d: a });
//// a property of a rejected object that is far too deep => THREW an object
let a = []; for (let i = 1; i < 1000; i++) a = [a]; module.exports = () => Promise.reject({ d: a });
//// a typed array => THREW threw an object
throw new Uint8Array(1e6);
//// a long list => THREW threw an object
throw new Array(3e5).fill(1);
//// a boxed string => THREW threw an object
throw new String('x'.repeat(1e6));
//// minus infinity => THREW threw `-Infinity`
throw -Infinity;
//// a string => THREW threw the string "text", which is not an Error
throw 'text';
//// null => THREW threw `null`
throw null;
//// undefined => THREW threw `undefined`
throw undefined;
//// a number => THREW threw `42`
throw 42;
//// a symbol => THREW threw a symbol
throw Symbol('x');
//// a function => THREW threw a function
throw () => 1;
//// an object => THREW threw an object
throw { a: 1 };
//// an object with a message => THREW an object with the message "m"
throw { message: 'm' };
//// an object whose properties throw => THREW
throw { get message() { throw 1; }, get name() { throw 2; }, get stack() { throw 3; } };
//// an Error whose properties throw => THREW
const e = new Error('x'); for (const k of ['message', 'name', 'stack']) Object.defineProperty(e, k, { get() { throw new Error(k); } }); throw e;
//// an Error whose properties are not strings => THREW
const e = new Error('x'); e.message = { toString() { for (;;); } }; e.name = 1; throw e;
//// a revoked proxy => THREW
const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy;
//// a proxy that throws => THREW
throw new Proxy({}, { get() { throw 1; }, ownKeys() { throw 1; }, getOwnPropertyDescriptor() { throw 1; } });
//// a long message is cut => THREW …
throw new Error('x'.repeat(1e6));
//// a long string is cut => THREW …
throw 'x'.repeat(1e6);
//// many fields are cut => THREW Error: x
const e = new Error('x'); for (let i = 0; i < 1e4; i++) e['k' + i] = 'v'.repeat(100); throw e;
//// a long key is left out => THREW Error: x
throw Object.assign(new Error('x'), { ['k'.repeat(1e6)]: 1 });
//// a forged stack changes nothing else => THREW Error: x
const e = new Error('x'); e.stack = 'at program.js:999999999999:1'; throw e;
//// prepareStackTrace that throws => THREW
Error.prepareStackTrace = () => { throw new Error('inner'); }; throw new Error('outer');
//// an Error with a cause => THREW Error: outer
throw new Error('outer', { cause: new Error('inner') });
//// a RangeError of the program is not an overflow => THREW RangeError: mine
throw new RangeError('mine');
//// a syntax error => SYNTAX
//@ position 2:12
module.exports = () => {
  const a =;
};
//// a syntax error in the first line => SYNTAX
//@ position 1:1
)
//// a missing end => SYNTAX
module.exports = () => {
//// a bad regex => SYNTAX
module.exports = /(/;
//// an export in a script => SYNTAX
export default 1;
//// a return at the top => SYNTAX
return 1;
//// a regex that is nested too deeply => STACK_OVERFLOW
new RegExp('(?:'.repeat(1e5) + ')'.repeat(1e5));
//// a syntax error in eval is thrown => THREW SyntaxError
eval(')');
