// Times ajv on the cases that toolwright-bench timed, and prints the ratio.
const path = require("node:path");
const [folder, oursText] = process.argv.slice(2);
const root = path.resolve(folder);
const Ajv = require(path.join(root, "node_modules/ajv/dist/2020")).default;
const cases = require(path.join(root, "cases.json"));

const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
const compiled = cases.map((c) => ({ validate: ajv.compile(c.schema), instance: c.instance }));
const calls = 200000;

function round() {
  const start = process.hrtime.bigint();
  for (const { validate, instance } of compiled) {
    for (let n = 0; n < calls; n++) if (!validate(instance)) throw new Error("must be valid");
  }
  return Number(process.hrtime.bigint() - start) / (calls * compiled.length);
}

round(); // the optimising compiler has its turn first
const rounds = Array.from({ length: 9 }, round).sort((a, b) => a - b);
const ajvNs = rounds[4];
const ours = Number(oursText);
console.log(`  ajv ${ajvNs.toFixed(0)} ns a call   ours is ${(ajvNs / ours).toFixed(2)}x as fast (bound 3.00)`);
