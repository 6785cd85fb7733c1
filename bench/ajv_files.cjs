// Checks definitions as a program built on ajv would: validates every file of a folder against the
// schema of a definition. With `schemas` it also compiles every schema in it and validates the
// examples. Arguments: the folder of peers, the schema, the folder of definitions, `shape` or
// `schemas`. Prints the number of errors.
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
    for (const [schema, field] of [
      [tool.inputSchema ?? tool.parameters, "input"],
      [tool.outputSchema, "output"],
    ]) {
      if (!schema) continue;
      const validate = ajv.compile(schema);
      for (const example of tool.examples ?? []) {
        if (field in example && !validate(example[field])) findings += validate.errors.length;
      }
      // ajv caches every compiled schema otherwise, and memory would grow with the number of files.
      ajv.removeSchema(schema);
    }
  }
}
console.log(findings);
