// Uses every feature of server-everything with a client of the TypeScript SDK, and prints what it
// saw.
//
//     features_client.mjs VERSION MODULES EVERYTHING FIXTURE
//
// VERSION is `1.x` or `2.x`. Servers and output are those of `features_client.py`.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';

const [version, modules, ...targets] = process.argv.slice(2);
const [everything, fixture] = targets.map((target) => JSON.parse(target));
const find = createRequire(join(modules, 'somewhere.js'));
const load = (name) => import(pathToFileURL(find.resolve(name)).href);

const text = 'demo://resource/dynamic/text/7';
const info = { name: 'e2e', version: '1.0.0' };
// `serve` declares the same to the server, which lists some tools only then.
const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };
let seen = [];

// The answers to the questions of a server, by method.
const answers = {
  'sampling/createMessage': ({ params }) => ({
    role: 'assistant',
    content: { type: 'text', text: `sampled: ${[params.messages[0].content].flat()[0].text}` },
    model: 'none',
    stopReason: 'endTurn',
  }),
  'elicitation/create': ({ params }) => {
    seen.push({ method: 'asked', params: Object.keys(params.requestedSchema.properties).toSorted() });
    return { action: 'accept', content: { name: 'Alice', check: true } };
  },
  'roots/list': () => ({ roots: [{ uri: 'file:///e2e', name: 'e2e' }] }),
};
const notifications = ['message', 'resources/updated', 'resources/list_changed'].map((name) => `notifications/${name}`);

async function sdk1() {
  const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
  const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const types = await load('@modelcontextprotocol/sdk/types.js');
  const schemas = [types.CreateMessageRequestSchema, types.ElicitRequestSchema, types.ListRootsRequestSchema];
  return {
    Stdio: StdioClientTransport,
    Http: StreamableHTTPClientTransport,
    client() {
      const client = new Client(info, { capabilities });
      const handle = (answer, n) => client.setRequestHandler(schemas[n], async (asked) => answer(asked));
      Object.values(answers).forEach(handle);
      client.fallbackNotificationHandler = async (notification) => seen.push(notification);
      return client;
    },
    call: (client, params, options) => client.callTool(params, undefined, options),
    // A call as a task: the kinds of messages about it, its result, and the list of tasks.
    task: async (client, params) => {
      const { tasks } = client.experimental;
      const kinds = [];
      let result;
      for await (const message of tasks.callToolStream(params, types.CallToolResultSchema, { task: { ttl: 60_000 } })) {
        if (message.type === 'error') throw message.error;
        if (!kinds.includes(message.type)) kinds.push(message.type);
        if (message.type === 'result') result = message.result.content;
      }
      return [kinds, result, (await tasks.listTasks()).tasks.map(({ status }) => status)];
    },
    revision: (_client, transport) => transport.protocolVersion ?? '2025-11-25',
  };
}

async function sdk2() {
  const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
  const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
  return {
    Stdio: StdioClientTransport,
    Http: StreamableHTTPClientTransport,
    client() {
      const client = new Client(info, { capabilities, versionNegotiation: { mode: 'auto' } });
      for (const [method, answer] of Object.entries(answers)) {
        client.setRequestHandler(method, async (asked) => answer(asked));
      }
      for (const method of notifications) {
        client.setNotificationHandler(method, (notification) => void seen.push(notification));
      }
      return client;
    },
    call: (client, params, options) => client.callTool(params, options),
    revision: (client) => client.getNegotiatedProtocolVersion(),
  };
}

const sdk = version === '1.x' ? await sdk1() : await sdk2();

async function connect(server) {
  const client = sdk.client();
  const transport =
    typeof server === 'string'
      ? new sdk.Http(new URL(server))
      : new sdk.Stdio({ command: server[0], args: server.slice(1), env: process.env, stderr: 'ignore' });
  await client.connect(transport);
  return [client, sdk.revision(client, transport)];
}

// Waits for a notification. Returns whether it has arrived.
async function appears(method, seconds = 4) {
  for (let n = 0; n < seconds * 20; n += 1) {
    if (seen.some((notification) => notification.method === method)) return true;
    await sleep(50);
  }
  return { error: `no ${method}` };
}

// Whether an error is reported, in a result or otherwise.
async function refused(probe) {
  try {
    return (await probe).isError || { error: 'no error was reported' };
  } catch {
    return true;
  }
}

function probes(client, isModern) {
  const call = (name, given = {}, options = undefined, meta = undefined) =>
    sdk.call(client, { name, arguments: given, ...(meta && { _meta: meta }) }, options);
  const listed = async (result, member, key) => (await result)[member].map((item) => item[key]).toSorted();
  const read = async (uri) => (await client.readResource({ uri })).contents;
  const got = async (name, given) => (await client.getPrompt({ name, arguments: given })).messages;
  const complete = async (ref, name, value, given) => {
    const context = given && { context: { arguments: given } };
    return (await client.complete({ ref, argument: { name, value }, ...context })).completion.values;
  };
  const logged = async (level) => {
    const meta = isModern ? { 'io.modelcontextprotocol/logLevel': level } : undefined;
    if (!isModern) await client.setLoggingLevel(level);
    await call('toggle-simulated-logging', {}, undefined, meta);
    await appears('notifications/message', 1.5);
    await call('toggle-simulated-logging', {}, undefined, meta);
    return seen.filter(({ method }) => method === 'notifications/message').map(({ params }) => params.level);
  };
  const prompt = { type: 'ref/prompt', name: 'completable-prompt' };
  const template = { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' };
  return {
    'instructions': () => client.getInstructions(),
    'tools/list': () => listed(client.listTools(), 'tools', 'name'),
    'tools/list: annotations, titles, output schemas': async () => {
      const { tools } = await client.listTools();
      return Object.fromEntries(tools.map((tool) => [tool.name, [tool.annotations, tool.title, tool.outputSchema]]));
    },
    'tools/call': () => call('echo', { message: 'grüße' }),
    'structured content': () => call('get-structured-content', { location: 'Chicago' }),
    'image': () => call('get-tiny-image'),
    'resource links': () => call('get-resource-links', { count: 3 }),
    'embedded resource': () => call('get-resource-reference', { resourceType: 'Text', resourceId: 7 }),
    'annotations of content': () => call('get-annotated-message', { messageType: 'error', includeImage: true }),
    'progress': async () => {
      const steps = [];
      const onprogress = ({ progress, total }) => steps.push([progress, total]);
      await call('trigger-long-running-operation', { duration: 0.4, steps: 4 }, { onprogress });
      return steps;
    },
    'cancellation': async () => {
      const began = Date.now();
      const abort = new AbortController();
      const running = call('trigger-long-running-operation', { duration: 30, steps: 1 }, { signal: abort.signal });
      const ended = running.then(() => 'answered', () => 'aborted');
      await sleep(500);
      abort.abort('enough');
      return [await ended, await call('echo', { message: 'still there' }), Date.now() - began < 5000];
    },
    'long call': () => call('trigger-long-running-operation', { duration: 2, steps: 2 }),
    'error in a result': () => refused(call('get-sum', { a: 'x' })),
    'unknown tool': () => refused(call('none')),
    'logging': async () => (await logged('debug')).length > 0 || { error: 'no log message' },
    'logging: level': async () => {
      const others = (await logged('emergency')).filter((level) => level !== 'emergency');
      return others.length === 0 || { error: `${others} although the level is emergency` };
    },
    'resources/list': () => listed(client.listResources(), 'resources', 'uri'),
    'resources/templates/list': () => listed(client.listResourceTemplates(), 'resourceTemplates', 'uriTemplate'),
    'resources/read': () => read('demo://resource/static/document/architecture.md'),
    'resources/read: template, text': () => read(text),
    'resources/read: template, blob': () => read('demo://resource/dynamic/blob/7'),
    'unknown resource': () => refused(read('demo://none')),
    'subscription, update': async () => {
      const subscription = isModern && (await client.listen({ resourceSubscriptions: [text] }));
      if (!isModern) await client.subscribeResource({ uri: text });
      await call('toggle-subscriber-updates');
      const found = await appears('notifications/resources/updated');
      await call('toggle-subscriber-updates');
      await (isModern ? subscription.close() : client.unsubscribeResource({ uri: text }));
      return found;
    },
    'list of resources changes': async () => {
      const given = { name: 'e2e.gz', data: 'data:text/plain;base64,aGVsbG8=', outputType: 'resourceLink' };
      const subscription = isModern && (await client.listen({ resourcesListChanged: true }));
      const { uri } = (await call('gzip-file-as-resource', given)).content[0];
      const found = await appears('notifications/resources/list_changed');
      if (isModern) await subscription.close();
      if (found !== true) return found;
      const uris = await listed(client.listResources(undefined, { cacheMode: 'refresh' }), 'resources', 'uri');
      return [uri, uris.includes(uri), (await read(uri))[0].mimeType];
    },
    'prompts/list': () => listed(client.listPrompts(), 'prompts', 'name'),
    'prompts/get': () => got('simple-prompt'),
    'prompts/get: arguments': () => got('args-prompt', { city: 'Oslo', state: 'Ohio' }),
    'prompts/get: embedded resource': () => got('resource-prompt', { resourceType: 'Text', resourceId: '7' }),
    'completion of a prompt': () => complete(prompt, 'department', 'S'),
    'completion with context': () => complete(prompt, 'name', 'A', { department: 'Engineering' }),
    'completion of a template': () => complete(template, 'resourceId', '7'),
    'sampling': () => call('trigger-sampling-request', { prompt: 'Hi', maxTokens: 10 }),
    'elicitation': async () => {
      const result = await call('trigger-elicitation-request');
      return [seen.filter(({ method }) => method === 'asked').map(({ params }) => params), result];
    },
    'roots': () => call('get-roots-list'),
    'task': () => sdk.task?.(client, { name: 'simulate-research-query', arguments: { topic: 'e2e', ambiguous: true } }) ?? null,
    'ping': () => (isModern ? null : client.ping()),
  };
}

const found = {};
async function note(feature, probe) {
  seen = [];
  const late = sleep(20_000, undefined, { ref: false }).then(() => {
    throw new Error('no answer in 20 seconds');
  });
  late.catch(() => {});
  try {
    found[feature] = await Promise.race([probe(), late]);
  } catch (error) {
    found[feature] = { error: String(error?.message ?? error) };
  }
}

const [client, revision] = await connect(everything);
found.revision = revision;
// The server asks for the roots a moment after the handshake.
await sleep(600);
const isModern = revision === '2026-07-28';
for (const [feature, probe] of Object.entries(probes(client, isModern))) await note(feature, probe);
await client.close();

const [other] = await connect(fixture);
await note('audio', () => sdk.call(other, { name: 'test_audio_content', arguments: {} }));
await note('_meta', async () => {
  const _meta = { 'example.org/e2e': 'grüße' };
  const result = await sdk.call(other, { name: 'test_meta', arguments: {}, _meta });
  return [result.content[0].text, { 'example.org/e2e': result._meta?.['example.org/e2e'] }];
});
await other.close();
console.log(JSON.stringify(found));
process.exit(0);
