//// module.exports is a function => {"got":1}
//@ args 1
module.exports = (x) => ({ got: x });
//// module.exports is an async function => 2
module.exports = async () => { await null; return 2; };
//// module.exports holds one function => "one"
module.exports = { version: 1, one: () => 'one' };
//// module.exports holds several, one of them the entry => "the entry"
module.exports = { other: () => 'other', theEntry: () => 'the entry' };
//// module.exports holds several, none of them the entry => NO_ENTRY_POINT several functions are exported (`a`, `b`), none called `theEntry`
module.exports = { a: () => 1, b: () => 2 };
//// several with long names => NO_ENTRY_POINT `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…`, `b
const long = (letter) => letter.repeat(200000); module.exports = { [long('a')]: () => 1, [long('b')]: () => 2 };
//// several with names that are not identifiers => NO_ENTRY_POINT …`
for (const c of '\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u007f😀') exports[c.repeat(100000)] = () => 1;
//// exports => 3
exports.x = () => 3;
//// exports goes before the value => "exports"
exports.x = () => 'exports'; 'value';
//// module.exports goes before a declared function => 1
function two() { return 2; } module.exports = () => 1;
//// exports without a function, then a value => 4
module.exports = { a: 1 }; 4
//// the value is an IIFE => {"valid":true,"errors":[]}
(function () { return { valid: true, errors: [] }; })()
//// an IIFE that reads args => 5
//@ args {"x":5}
(function () { return args.x; })();
//// an async IIFE => 6
(async () => 6)()
//// the value is a function => 7
//@ args 7
(function (x) { return x; })
//// the value is an arrow => 8
(x) => 8
//// the value is null => null
null
//// the value is false => false
false
//// a value behind declarations => 9
function f() { return 1; } function g() { return 2; } 9
//// one declared function => {"a":1}
//@ args {"a":1}
function check(args) { return args; }
//// one declared async function => 10
async function check() { return 10; }
//// one declared const => 11
const check = () => 11;
//// one declared let => 12
let check = function () { return 12; };
//// one declared var => 13
var check = function () { return 13; };
//// inner functions do not count => 14
function outer() { function inner() { return 14; } const other = () => inner(); return other(); }
//// names in strings and comments do not count => 15
// function comment() {}
const text = 'function string() {}'; function real() { return 15; }
//// constants that are not functions do not count => 16
const LIMIT = 16; const NAMES = ['a']; function real() { return LIMIT; }
//// a name of the language inside does not count => 17
function real() { const parseInt = () => 17; return parseInt(); }
//// several declared functions => NO_ENTRY_POINT 2 functions are declared (`a`, `b`)
function a() { } function b() { }
//// a directive is not a result => 18
'use strict';
function real() { return 18; }
//// a comment before the name => 19
function /* the check */ real() { return 19; }
//// the second of two names => 30
let limit = 30, check = () => limit;
//// a name of a pattern => 31
const { limit, check } = { limit: 31, check: () => 31 };
//// an exported object without functions is not a result => 32
function real() { return 32; }
module.exports = { version: 1 };
//// nothing callable is exported => NO_ENTRY_POINT the program exports nothing callable
module.exports = { version: 1 };
//// nothing => NO_ENTRY_POINT
//// only a constant => NO_ENTRY_POINT
const x = 1;
//// only a class => NO_ENTRY_POINT
class A { }
//// a module with a default export => 20
//@ module
//@ args {"n":20}
export default ({ n }) => n;
//// a module with a declared default => 21
//@ module
export default async function run() { return 21; }
//// a module with top-level await => 22
//@ module
const x = await Promise.resolve(22); export default () => x;
//// a module without a default export => NO_ENTRY_POINT no default export
//@ module
export const run = () => 1;
//// a module whose default is not a function => NO_ENTRY_POINT is not a function
//@ module
export default { run() { } };
//// a module is strict => "undefined"
//@ module
export default function () { return typeof this; }
//// the parameter is the global => true
//@ args {"a":1}
module.exports = (x) => x === args;
//// args points to itself => [true,true,[]]
//@ args {}
module.exports = (x) => [x.args === x, args.args.args === args, Object.keys(x)];
//// args.args.x, as validators in the wild read it => 1
//@ args {"x":1}
module.exports = () => args.args.x;
//// a property `args` of the argument stays => {"args":{"y":2}}
//@ args {"args":{"y":2}}
module.exports = (x) => x;
//// args can be returned => {"x":1}
//@ args {"x":1}
module.exports = (x) => x;
//// args that is not an object => "text"
//@ args "text"
module.exports = (x) => x;
//// args that is null => null
//@ args null
module.exports = (x) => x;
//// args that is a list => [1,2]
//@ args [1,2]
module.exports = (x) => x;
//// data => {"d":1}
//@ data {"d":1}
module.exports = () => data;
//// without data there is no global data => "undefined"
module.exports = () => typeof data;
//// a parameter may shadow the global => 23
//@ args {"n":23}
module.exports = ({ n: args }) => args;
//// a const may shadow the global => 24
const args = 24; module.exports = () => args;
//// a script is sloppy unless it says otherwise => 25
undeclared = 25; module.exports = () => undeclared;
