//// no require => THREW not defined
require('fs');
//// no process => THREW not defined
process.exit(1);
//// no fetch => THREW not defined
fetch('http://localhost');
//// no timers => THREW not defined
setTimeout(() => 1, 1);
//// no intervals => THREW not defined
setInterval(() => 1, 1);
//// no std => THREW not defined
std.open('/etc/passwd', 'r');
//// no os => THREW not defined
os.exec(['id']);
//// no bjson => THREW not defined
bjson.read(new ArrayBuffer(8), 0, 8);
//// no Worker => THREW not defined
new Worker('x');
//// no SharedArrayBuffer => THREW not defined
new SharedArrayBuffer(8);
//// no shared buffer through WebAssembly => THREW not defined
new WebAssembly.Memory({ initial: 1 });
//// no Atomics => THREW not defined
Atomics.wait(new Int32Array(8), 0, 0);
//// nothing that is missing is there by another name => []
module.exports = () => ['performance', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'require', 'process', 'fetch', 'setTimeout', 'std', 'os', 'print', 'load', 'scriptArgs', 'gc', 'navigator', 'Deno', 'Bun', 'global', 'window', 'self', 'importScripts', 'XMLHttpRequest', 'WebSocket', 'Intl', 'DOMException', 'atob'].filter((name) => name in globalThis);
//// Function makes functions in the same global scope => "undefined"
module.exports = () => Function('return typeof process')();
//// the constructor's constructor does not lead to the host => "undefined"
module.exports = (args) => args.constructor.constructor('return typeof process')();
//// console does not lead to the host => "undefined"
module.exports = () => console.log.constructor('return typeof process')();
//// an async function's constructor does not lead to the host => "undefined"
module.exports = () => (async () => { }).constructor('return typeof process')();
//// a generator's constructor does not lead to the host => "undefined"
module.exports = () => (function* () { }).constructor('return typeof process')().next().value;
//// `this` is the global object => true
module.exports = function () { return this === globalThis; };
//// dynamic import is refused => THREW cannot be imported
module.exports = () => import('fs');
//// dynamic import of data is refused => THREW cannot be imported
module.exports = () => import('data:text/javascript,export default 1');
//// dynamic import with an object whose text changes => THREW cannot be imported
let n = 0; module.exports = () => import({ toString: () => (n++ ? '/etc/passwd' : 'x') });
//// a static import is refused => SYNTAX cannot be imported
//@ module
import fs from 'fs'; export default () => fs;
//// an export from elsewhere is refused => SYNTAX cannot be imported
//@ module
export { default } from 'os';
//// a module cannot import itself => THREW cannot be imported
//@ module
export default async () => (await import('./program.js')).default();
//// import.meta contains no path => true
//@ module
export default () => !/[/]/.test(String(import.meta.url ?? ''));
//// the stack contains no path => true
module.exports = () => !/\//.test(new Error('x').stack);
//// Error.captureStackTrace shows no path => true
module.exports = () => { const o = {}; Error.captureStackTrace?.(o); return !/\//.test(o.stack ?? ''); };
//// a call site shows no path => true
Error.prepareStackTrace = (e, sites) => sites.map((s) => String(s.getFileName?.())).join(); module.exports = () => !/\//.test(new Error('x').stack);
//// with cannot reach further => THREW not defined
with (globalThis) { process; }
//// a proxy as the global prototype sees nothing of the host => 1
Object.setPrototypeOf(Object.prototype, null); module.exports = () => 1;
//// args can be overwritten, which changes only this call => 5
globalThis.args = 5; module.exports = () => args;
//// JSON.stringify that is replaced changes nothing => {"a":1}
JSON.stringify = () => '"forged"'; JSON.parse = () => 'forged'; module.exports = () => ({ a: 1 });
//// Object functions that are replaced change nothing => {"a":[1]}
Object.keys = Object.entries = Object.getOwnPropertyNames = Reflect.ownKeys = Array.isArray = () => { throw 1; }; module.exports = () => ({ a: [1] });
//// an iterator that is replaced changes nothing => [1,2]
Array.prototype[Symbol.iterator] = function* () { yield 'forged'; }; module.exports = () => [1, 2];
//// then that is replaced changes nothing => 7
Promise.prototype.then = function () { throw new Error('forged'); }; module.exports = async () => 7;
//// a Promise that is replaced changes nothing => 7
globalThis.Promise = class { }; module.exports = async () => 7;
//// species changes nothing => 7
Object.defineProperty(Promise, Symbol.species, { get() { throw 1; } }); module.exports = async () => 7;
//// Array.prototype with setters changes nothing => [1]
Object.defineProperty(Array.prototype, '0', { set() { throw 1; }, configurable: true }); module.exports = () => [1];
//// Object.prototype with a getter changes nothing => {"b":1}
Object.defineProperty(Object.prototype, 'a', { get() { throw 1; } }); module.exports = () => ({ b: 1 });
//// Function.prototype.call that is replaced changes nothing => 3
Function.prototype.call = Function.prototype.apply = () => 'forged'; module.exports = () => 3;
//// an exception of the engine is an error although Error is replaced => THREW
globalThis.Error = class { }; null.x;
//// Symbol.hasInstance that is replaced changes nothing => THREW x
Object.defineProperty(Error, Symbol.hasInstance, { value: () => false }); throw new Error('x');
//// pollution, first call => 1
Object.prototype.polluted = 1; Array.prototype.polluted = 1; globalThis.polluted = 1; Promise.prototype.polluted = 1; module.exports = () => 1;
//// pollution, second call => ["undefined","undefined","undefined"]
module.exports = () => [typeof ({}).polluted, typeof [].polluted, typeof globalThis.polluted];
//// what cannot be deleted does not survive, first call => 1
Object.defineProperty(globalThis, 'sticky', { value: 1, configurable: false }); Object.freeze(Object.prototype); Object.freeze(Array.prototype); module.exports = () => 1;
//// what cannot be deleted does not survive, second call => [false,false,"undefined"]
module.exports = () => [Object.isFrozen(Object.prototype), Object.isFrozen(Array.prototype), typeof sticky];
//// jobs that were left over do not run later, first call => 1
module.exports = () => { Promise.resolve().then(() => { globalThis.later = 1; for (;;); }); return 1; };
//// jobs that were left over do not run later, second call => "undefined"
module.exports = () => typeof later;
//// RegExp's statics do not survive => null
module.exports = () => RegExp.$1 || null;
