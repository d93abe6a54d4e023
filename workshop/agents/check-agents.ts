/**
 * Runs the agents against a scripted model, streamed and not, and prints one line for each:
 * `node --import tsx workshop/agents/check-agents.ts [PART-OF-A-NAME] [--bodies FOLDER]`.
 * Fails if an answer, a history or the declaration of the tool is not what it must be, or if something connects beyond the loopback.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { type AgentEntry, agents } from './agents.ts';
import type { QuestionAgentContext } from './question-agent.ts';
import { type ScriptedAnswer, ScriptedServer, searchResult } from './test/scripted-server.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { bodies: { type: 'string' } },
});

const script: ScriptedAnswer[] = [
  { calls: [{ id: 'call_aB-1', name: 'search', arguments: '{"query":"Zürich \\"one\\""}' }] },
  {
    text: 'Let me look again.\n',
    calls: [
      { id: 'call_2', name: 'search', arguments: '{"query":"two"}' },
      { id: 'call_3', name: 'search', arguments: '{"query":"three"}' },
    ],
  },
  { text: 'I found it: <answer>Zürich</answer>' },
];
const instructions = 'Answer the question. Put the answer in <answer></answer>.';
const question = 'Which city is it?\nName it.';
const description = 'Searches documents.';
const inputSchema = {
  type: 'object',
  properties: { query: { type: 'string', description: 'What to look for' } },
  required: ['query'],
};

// The AI SDK warns that Anthropic has no model of this name.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
const strangers: string[] = [];
watchConnections();
let failed = 0;
const chosen = agents.filter(({ name }) => name.includes(positionals[0] ?? ''));
const runnable = chosen.filter(({ node }) => node <= Number(process.versions.node.split('.')[0]));
for (const agent of runnable) {
  for (const stream of [false, true]) {
    const begin = performance.now();
    const faults = await check(agent, stream).catch((error: Error) => [error.stack ?? String(error)]);
    const name = `${agent.name}${stream ? ', streamed' : ''}`;
    console.log(
      `${faults.length === 0 ? 'ok    ' : 'FAILED'}  ${name}  ${Math.round(performance.now() - begin)} ms`,
    );
    for (const fault of faults) console.log(`        ${fault}`);
    if (faults.length > 0) failed++;
  }
}
console.log(`${2 * runnable.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function check({ name, load, wire }: AgentEntry, stream: boolean): Promise<string[]> {
  const agent = await load();
  await using server = new ScriptedServer(script, 'the-key');
  const search = { description, inputSchema, run: async (query: string) => searchResult(query) };
  const context: QuestionAgentContext = {
    question,
    instructions,
    search,
    baseURL: await server.listen(),
    apiKey: 'the-key',
    signal: AbortSignal.timeout(20_000),
  };
  let answer: string | undefined;
  const faults: string[] = [];
  try {
    answer = await agent(context, { stream, maxTurns: 4 });
  } catch (error) {
    faults.push((error as Error).stack ?? String(error));
  }
  faults.push(...server.faults, ...strangers.splice(0).map((host) => `connected to ${host}`));
  if (answer !== script.at(-1)!.text) faults.push(`answered ${JSON.stringify(answer)}`);
  if (server.requests.length !== script.length) faults.push(`made ${server.requests.length} requests`);
  for (const { body } of server.requests) {
    if (Boolean(body.stream) !== stream) faults.push(`sent stream: ${body.stream}`);
    const [declared] = body.tools;
    const tool = wire === 'chat' ? declared.function : declared;
    const schema = wire === 'anthropic' ? tool.input_schema : tool.parameters;
    if (tool.name !== 'search' || tool.description !== description || !isDeepStrictEqual(schema, inputSchema))
      faults.push(`declared ${JSON.stringify(declared)}`);
  }
  if (values.bodies) {
    mkdirSync(values.bodies, { recursive: true });
    const file = join(values.bodies, `${name}-${stream ? 'streamed' : 'whole'}.json`);
    writeFileSync(file, `${JSON.stringify(server.requests, null, 2)}\n`);
  }
  return [...new Set(faults)];
}

/** Notes each connection of this process that leaves the loopback. */
function watchConnections(): void {
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
    const [first] = args.flat() as [{ host?: string; path?: string }];
    const host = typeof first === 'object' ? (first.host ?? first.path) : String(args[1]);
    if (host !== '127.0.0.1') strangers.push(String(host));
    return Reflect.apply(connect, this, args);
  } as typeof connect;
}
