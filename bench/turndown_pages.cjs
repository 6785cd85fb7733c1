// Converts every page in PEERS/pages with turndown and its GFM plugin. Prints the seconds for all
// pages, the median of seven rounds.
const fs = require("fs");
const path = require("path");
const peers = path.resolve(process.argv[2]);
const Turndown = require(path.join(peers, "node_modules/turndown"));
const { gfm } = require(path.join(peers, "node_modules/turndown-plugin-gfm"));
const service = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced" });
service.use(gfm);
service.remove(["script", "style", "nav"]);
const folder = path.join(peers, "pages");
const read = (name) => fs.readFileSync(path.join(folder, name), "utf8");
const pages = fs.readdirSync(folder).map(read);
const rounds = [];
for (let round = 0; round < 7; round++) {
  const start = process.hrtime.bigint();
  for (const page of pages) service.turndown(page);
  rounds.push(Number(process.hrtime.bigint() - start) / 1e9);
}
console.log(rounds.sort((a, b) => a - b)[3]);
