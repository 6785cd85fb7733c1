// Checks definitions as somebody with ajv would: every file against the schema of a definition, and (`schemas`) every
// schema in it compiled, examples held against it.
const fs = require("node:fs");
const path = require("node:path");
const [peers, schemaFile, folder, how] = process.argv.slice(2);
const Ajv = require(path.join(path.resolve(peers), "node_modules/ajv/dist/2020")).default;
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
const shape = ajv.compile(JSON.parse(fs.readFileSync(schemaFile, "utf8")));
let findings = 0;
for (const name of fs.readdirSync(folder)) {
  const document = JSON.parse(fs.readFileSync(path.join(folder, name), "utf8"));
  if (!shape(document)) findings += shape.errors.length;
  if (how !== "schemas") continue;
  for (const tool of document.tools ?? [document]) {
    for (const [schema, field] of [[tool.inputSchema ?? tool.parameters, "input"], [tool.outputSchema, "output"]]) {
      if (!schema) continue;
      const validate = ajv.compile(schema);
      for (const example of tool.examples ?? []) {
        if (field in example && !validate(example[field])) findings += validate.errors.length;
      }
      // Otherwise it would keep every schema for good.
      ajv.removeSchema(schema);
    }
  }
}
console.log(findings);
