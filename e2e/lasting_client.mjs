// A client of the TypeScript SDK that reads commands from standard input; see `lasting_client.py`.
//
//     lasting_client.mjs VERSION MODULES URL PREFIX
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [version, modules, url, prefix] = process.argv.slice(2);
const find = createRequire(join(modules, 'somewhere.js'));
const load = (name) => import(pathToFileURL(find.resolve(name)).href);
const info = { name: 'e2e', version: '1.0.0' };
const isOld = version === '1.x';

const { Client } = await load(isOld ? '@modelcontextprotocol/sdk/client/index.js' : '@modelcontextprotocol/client');
const { StreamableHTTPClientTransport } = await load(
  isOld ? '@modelcontextprotocol/sdk/client/streamableHttp.js' : '@modelcontextprotocol/client',
);
const calls = {
  echo: { name: `${prefix}echo`, arguments: { message: 'here' } },
  long: { name: `${prefix}trigger-long-running-operation`, arguments: { duration: 2, steps: 4 } },
};
const answer = (words) => console.log(JSON.stringify(words));
const message = (error) => String(error?.message ?? error);

let client;
async function connect() {
  client = isOld ? new Client(info) : new Client(info, { versionNegotiation: { mode: 'auto' } });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  try {
    await client.connect(transport);
    answer({ text: isOld ? transport.protocolVersion : client.getNegotiatedProtocolVersion() });
  } catch (error) {
    answer({ error: message(error) });
  }
}

await connect();
for await (const word of createInterface({ input: process.stdin })) {
  if (word === 'end') break;
  if (word === 'reconnect') {
    await client.close().catch(() => {});
    await connect();
    continue;
  }
  try {
    const options = { timeout: 15_000 };
    const call = isOld ? [calls[word], undefined, options] : [calls[word], options];
    const result = await client.callTool(...call);
    answer({ [result.isError ? 'error' : 'text']: result.content[0].text });
  } catch (error) {
    answer({ error: message(error) });
  }
}
process.exit(0);
