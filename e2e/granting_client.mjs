// Calls a tool that needs a grant, with a client of the TypeScript SDK, and prints how it was asked.
//
//     granting_client.mjs VERSION MODULES SERVER ANSWERS
//
// VERSION is `1.x` or `2.x`. The rest is that of `granting_client.py`.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [version, modules, ...rest] = process.argv.slice(2);
const [server, answers] = rest.map((word) => JSON.parse(word));
const find = createRequire(join(modules, 'somewhere.js'));
const load = (name) => import(pathToFileURL(find.resolve(name)).href);

const info = { name: 'e2e', version: '1.0.0' };
const capabilities = { elicitation: { form: {} } };
const state = { word: null, offered: null };

const answer = async ({ params }) => {
  const offered = params.requestedSchema.properties.decision.enum;
  state.offered = offered;
  const decision = offered.includes(state.word) ? state.word : 'no';
  return { action: 'accept', content: { decision } };
};

async function sdk1() {
  const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
  const { ElicitRequestSchema } = await load('@modelcontextprotocol/sdk/types.js');
  const client = new Client(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, answer);
  return [client, StdioClientTransport];
}

async function sdk2() {
  const { Client } = await load('@modelcontextprotocol/client');
  const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
  const client = new Client(info, { capabilities, versionNegotiation: { mode: 'auto' } });
  client.setRequestHandler('elicitation/create', answer);
  return [client, StdioClientTransport];
}

const [client, Stdio] = version === '1.x' ? await sdk1() : await sdk2();
await client.connect(new Stdio({ command: server[0], args: server.slice(1), env: process.env, stderr: 'ignore' }));
const found = [];
for (const word of answers) {
  Object.assign(state, { word, offered: null });
  const result = await client.callTool({ name: 'press__print', arguments: { text: word } });
  found.push([state.offered, Boolean(result.isError)]);
}
await client.close();
console.log(JSON.stringify(found));
