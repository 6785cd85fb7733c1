// Code that is made and compiled when the argument arrives: what the load-time bombs of
// ../it/hostile_definitions.rs do before the first call, these do in a running guest.

//// a BigInt literal of many digits => TIMEOUT|MEMORY_LIMIT|THREW
return String(new Function('return ' + '9'.repeat(7e5) + 'n')()).length;
//// a number literal of many digits => OK|TIMEOUT|MEMORY_LIMIT|THREW|NOT_JSON
return { valid: true, errors: [], n: new Function('return 0.' + '9'.repeat(7e5))() };
//// many named groups => TIMEOUT|MEMORY_LIMIT|THREW
const groups = Array.from({ length: 4e4 }, (_, i) => `(?<g${i}>)`).join(''); for (;;) new RegExp(groups);
//// many names in one function => TIMEOUT|MEMORY_LIMIT|THREW
return new Function('let ' + Array.from({ length: 6e4 }, (_, i) => 'v' + i).join());
//// many parameters => TIMEOUT|MEMORY_LIMIT|THREW|OK
return { valid: true, errors: [], n: new Function(Array.from({ length: 6e4 }, (_, i) => 'p' + i).join(), 'return 1')() };
//// many cases => TIMEOUT|MEMORY_LIMIT|THREW|OK
return { valid: true, errors: [], n: new Function('switch (1) {' + Array.from({ length: 3e4 }, (_, i) => `case ${i}: `).join('') + '}')() ?? 1 };
//// closures that capture everything => NOT_JSON|TIMEOUT|MEMORY_LIMIT|THREW|STACK_OVERFLOW
let s = ''; for (let i = 0; i < 400; i++) s += `let a${i} = 1; (() => {`; s += Array.from({ length: 400 }, (_, i) => 'a' + i).join('+'); return new Function(s + '})();'.repeat(400))();
//// direct evals that see everything => TIMEOUT|MEMORY_LIMIT|THREW|OK
const names = Array.from({ length: 500 }, (_, i) => `x${i} = 1`).join(); return { valid: true, errors: [], n: new Function(`let ${names};` + '(() => eval("1"))();'.repeat(500))() ?? 1 };
//// a class of many fields => TIMEOUT|MEMORY_LIMIT|THREW|OK|STACK_OVERFLOW
return { valid: true, errors: [], n: Object.keys(new (new Function('return class {' + Array.from({ length: 1e4 }, (_, i) => `f${i} = ${i};`).join('') + '}')())()).length };
//// a class of many private names => TIMEOUT|MEMORY_LIMIT|THREW|OK|STACK_OVERFLOW
new (new Function('return class {' + Array.from({ length: 1e4 }, (_, i) => `#f${i} = ${i};`).join('') + '}')())(); return { valid: true, errors: [] };
//// a long chain of operators => TIMEOUT|MEMORY_LIMIT|THREW|OK|STACK_OVERFLOW
return { valid: true, errors: [], n: new Function('return ' + '1+'.repeat(2e5) + '1')() };
//// many texts => TIMEOUT|MEMORY_LIMIT|THREW|OK
return { valid: true, errors: [], n: new Function('return [' + Array.from({ length: 5e4 }, (_, i) => `'t${i}'`).join() + ']')().length };
//// a name of many letters => TIMEOUT|MEMORY_LIMIT|THREW|OK
return { valid: true, errors: [], n: new Function('let ' + 'n'.repeat(5e5) + ' = 1; return 1')() };
//// escapes in a name => TIMEOUT|MEMORY_LIMIT|THREW|OK
return { valid: true, errors: [], n: new Function('let ' + '\\u{6e}'.repeat(1e5) + ' = 1; return 1')() };
//// a template of many parts => TIMEOUT|MEMORY_LIMIT|THREW|OK|STACK_OVERFLOW
return { valid: true, errors: [], n: new Function('return `' + '${1}'.repeat(3e4) + '`')().length };
//// try in try => TIMEOUT|MEMORY_LIMIT|THREW|OK|STACK_OVERFLOW
return { valid: true, errors: [], n: new Function('try {'.repeat(2000) + '} finally { for (;;) { break; } }'.repeat(2000) + 'return 1')() };
//// generators of many steps => TIMEOUT|MEMORY_LIMIT|THREW|OK
return { valid: true, errors: [], n: [...new Function('return function* () {' + 'yield 1;'.repeat(3e4) + '}')()()].length };
//// an error in the last byte => THREW|TIMEOUT|MEMORY_LIMIT
return new Function('x;'.repeat(2e5) + ')');
//// an error message that quotes the code => THREW|TIMEOUT|MEMORY_LIMIT
return new Function('x'.repeat(5e5) + ' ' + 'y'.repeat(5e5));
