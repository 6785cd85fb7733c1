// Measures ajv on the cases that `toolwright-bench validate` measured, and prints the ratio.
// Arguments: the folder with node_modules and cases.json, and our nanoseconds per call.
const path = require("node:path");
const [folder, oursText] = process.argv.slice(2);
const root = path.resolve(folder);
const Ajv = require(path.join(root, "node_modules/ajv/dist/2020")).default;
const cases = require(path.join(root, "cases.json"));

// The same settings as ours: all errors are collected, and formats are not checked.
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
const compiled = cases.map((c) => ({ validate: ajv.compile(c.schema), instances: c.instances }));
const calls = compiled.reduce((sum, c) => sum + c.instances.length, 0);

// One round over all schemas: nanoseconds per call.
function round() {
  const start = process.hrtime.bigint();
  for (const { validate, instances } of compiled) {
    for (const instance of instances) if (!validate(instance)) throw new Error("must be valid");
  }
  return Number(process.hrtime.bigint() - start) / calls;
}

// The median of 51 rounds after some that warm up.
function median(warmUp) {
  for (let n = 0; n < warmUp; n++) round();
  return Array.from({ length: 51 }, round).sort((a, b) => a - b)[25];
}

const ours = Number(oursText);
const report = (when, ns) =>
  console.log(
    `  ajv ${ns.toFixed(0)} ns per call ${when}   ours is ${(ns / ours).toFixed(2)}x as fast`,
  );
const each = compiled[0].instances.length;
report(`after ${25 * each} calls of each schema (bound 3.00)`, median(25));
// After thousands of calls V8's optimising compiler has compiled the validators. No bound is set
// for that.
report(`after ${3000 * each} calls of each schema`, median(2924));
