// The values that programs of the sandbox may return: what
// `crates/sandbox/tests/programs/values.js` expects is what Node makes of the same program. The
// tests of the sandbox hold the sandbox to it. Programs that are refused there (NOT_JSON) are not
// compared: Node writes `{}` or `null` for them.

import { readFileSync } from 'node:fs';
import vm from 'node:vm';

const text = readFileSync(new URL('../crates/sandbox/tests/programs/values.js', import.meta.url), 'utf8');
let compared = 0, skipped = 0, wrong = 0;
for (const part of text.split(/^\/\/\/\/ /m).slice(1)) {
  const [head, ...lines] = part.split('\n');
  const [name, expected] = head.split(' => ');
  const source = lines.filter((line) => !line.startsWith('//@')).join('\n');
  const args = lines.find((line) => line.startsWith('//@ args '))?.slice(9) ?? '{}';
  const isMissing = source.includes('rawJSON(') && typeof JSON.rawJSON !== 'function';
  if (isMissing || /^(NOT_JSON|TIMEOUT)/.test(expected)) {
    skipped += 1;
    continue;
  }
  // A realm of its own, because programs change built-in objects. Its `JSON` is saved first.
  const realm = vm.createContext({ module: { exports: {} } });
  const stringify = vm.runInContext('JSON.stringify', realm);
  const parsed = vm.runInContext(`JSON.parse(${JSON.stringify(args)})`, realm);
  let outcome;
  try {
    vm.runInContext(source, realm);
    outcome = stringify(await realm.module.exports(parsed));
  } catch (error) {
    outcome = `THREW ${error}`;
  }
  compared += 1;
  const isRight = expected.startsWith('THREW')
    ? outcome.startsWith('THREW') && outcome.includes(expected.slice(6))
    : expected.split('|').includes(outcome);
  if (!isRight) {
    wrong += 1;
    console.error(`${name}: expected ${expected}, Node has ${outcome}`);
  }
}
console.log(`values: ${compared} programs as in Node ${process.version}, ${skipped} not compared`);
process.exit(wrong || compared < 30 ? 1 : 0);
