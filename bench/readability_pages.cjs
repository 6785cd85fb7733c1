// Extracts the main content of every page in PEERS/pages with Mozilla's readability on jsdom.
// Prints the seconds for all pages, the median of three rounds.
const fs = require("fs");
const path = require("path");
const peers = path.resolve(process.argv[2]);
const { Readability } = require(path.join(peers, "node_modules/@mozilla/readability"));
const { JSDOM } = require(path.join(peers, "node_modules/jsdom"));
const folder = path.join(peers, "pages");
const read = (name) => fs.readFileSync(path.join(folder, name), "utf8");
const pages = fs.readdirSync(folder).map(read);
const rounds = [];
for (let round = 0; round < 3; round++) {
  const start = process.hrtime.bigint();
  for (const page of pages) {
    new Readability(new JSDOM(page, { url: "https://example.com/" }).window.document).parse();
  }
  rounds.push(Number(process.hrtime.bigint() - start) / 1e9);
}
console.log(rounds.sort((a, b) => a - b)[1]);
