// Times ajv on the cases that toolwright-bench timed, and prints the ratio.
const path = require("node:path");
const [folder, oursText] = process.argv.slice(2);
const root = path.resolve(folder);
const Ajv = require(path.join(root, "node_modules/ajv/dist/2020")).default;
const cases = require(path.join(root, "cases.json"));

// All errors, as we report them; formats annotate.
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
const compiled = cases.map((c) => ({ validate: ajv.compile(c.schema), instances: c.instances }));
const calls = compiled.reduce((sum, c) => sum + c.instances.length, 0);

function round() {
  const start = process.hrtime.bigint();
  for (const { validate, instances } of compiled) {
    for (const instance of instances) if (!validate(instance)) throw new Error("must be valid");
  }
  return Number(process.hrtime.bigint() - start) / calls;
}

function median(warmUp) {
  for (let n = 0; n < warmUp; n++) round();
  return Array.from({ length: 51 }, round).sort((a, b) => a - b)[25];
}

const ours = Number(oursText);
const report = (when, ns) =>
  console.log(`  ajv ${ns.toFixed(0)} ns per call ${when}   ours is ${(ns / ours).toFixed(2)}x as fast`);
const each = compiled[0].instances.length;
report(`after ${25 * each} calls of each schema (bound 3.00)`, median(25));
// A process that lives long enough for the optimising compiler has another ajv; no bound is set for it.
report(`after ${3000 * each} calls of each schema`, median(2924));
