// Runs a function in a fresh isolate of isolated-vm per call, and prints how long the calls took.
//
// A line on standard input is a request, `{"source", "args", "calls", "together"}`: make so many
// calls, so many of them at a time. The response is one line, `{"nanoseconds": [...], "all",
// "rss"}`: the time of each call, of all of them, and the resident bytes.
//
// The work is the same as ours: the script is compiled once and its code cached, arguments are
// passed in as JSON, and the result is passed out as JSON and parsed.
const path = require("node:path");
const readline = require("node:readline");
const ivm = require(path.join(path.resolve(process.argv[2]), "node_modules/isolated-vm"));

// One call.
async function one(source, cachedData, args) {
  const isolate = new ivm.Isolate({ memoryLimit: 8 });
  try {
    const context = await isolate.createContext();
    const script = await isolate.compileScript(source, { cachedData });
    await script.run(context);
    await context.global.set("input", JSON.stringify(args));
    const call = "JSON.stringify(module.exports(JSON.parse(input)))";
    const text = await context.eval(call, { timeout: 1000 });
    return JSON.parse(text);
  } finally {
    isolate.dispose();
  }
}

// The response to one request.
async function respond({ source, args, calls, together }) {
  const program = `const module = { exports: {} }; ${source}`;
  const compiler = new ivm.Isolate({ memoryLimit: 8 });
  const cachedData = (await compiler.compileScript(program, { produceCachedData: true })).cachedData;
  compiler.dispose();
  const nanoseconds = [];
  const timed = async () => {
    const start = process.hrtime.bigint();
    const result = await one(program, cachedData, args);
    nanoseconds.push(Number(process.hrtime.bigint() - start));
    if (result === undefined) throw new Error("no result");
  };
  const start = process.hrtime.bigint();
  for (let done = 0; done < calls; done += together) {
    await Promise.all(Array.from({ length: together }, timed));
  }
  const all = Number(process.hrtime.bigint() - start);
  return { nanoseconds, all, rss: process.memoryUsage().rss };
}

readline.createInterface({ input: process.stdin }).on("line", async (line) => {
  console.log(JSON.stringify(await respond(JSON.parse(line))));
});
