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

// The optimising compiler has its turn first: each schema has been called 400 times then.
for (let n = 0; n < 100; n++) round();
const rounds = Array.from({ length: 101 }, round).sort((a, b) => a - b);
const ajvNs = rounds[50];
const ours = Number(oursText);
console.log(`  ajv ${ajvNs.toFixed(0)} ns per call   ours is ${(ajvNs / ours).toFixed(2)}x as fast (bound 3.00)`);
