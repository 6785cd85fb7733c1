// Runs one function in a fresh isolate per call, as often as it is asked on stdin, and prints the times. A line asks:
// `{"source", "args", "calls"}`; the answer is `{"nanoseconds": [...], "rss": bytes}`. The script is compiled once and its code
// cached, arguments go in as JSON and the result comes out as JSON and is parsed: the same work as ours.
const path = require("node:path");
const readline = require("node:readline");
const ivm = require(path.join(path.resolve(process.argv[2]), "node_modules/isolated-vm"));

async function one(source, cachedData, args) {
  const isolate = new ivm.Isolate({ memoryLimit: 8 });
  try {
    const context = await isolate.createContext();
    const script = await isolate.compileScript(source, { cachedData });
    await script.run(context);
    await context.global.set("input", JSON.stringify(args));
    const text = await context.eval("JSON.stringify(module.exports(JSON.parse(input)))", { timeout: 1000 });
    return JSON.parse(text);
  } finally {
    isolate.dispose();
  }
}

async function answer({ source, args, calls, together }) {
  const program = `const module = { exports: {} }; ${source}`;
  const maker = new ivm.Isolate({ memoryLimit: 8 });
  const cachedData = (await maker.compileScript(program, { produceCachedData: true })).cachedData;
  maker.dispose();
  const nanoseconds = [];
  const timed = async () => {
    const start = process.hrtime.bigint();
    const result = await one(program, cachedData, args);
    nanoseconds.push(Number(process.hrtime.bigint() - start));
    if (result === undefined) throw new Error("no result");
  };
  const start = process.hrtime.bigint();
  for (let done = 0; done < calls; done += together) await Promise.all(Array.from({ length: together }, timed));
  const all = Number(process.hrtime.bigint() - start);
  return { nanoseconds, all, rss: process.memoryUsage().rss };
}

readline.createInterface({ input: process.stdin }).on("line", async (line) => {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
});
