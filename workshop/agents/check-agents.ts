/**
 * Plays the agents at the gateway against a script, streamed and not, and prints one line for each:
 * `node --import tsx --conditions=@toolenv/source workshop/agents/check-agents.ts [PART-OF-A-NAME]`.
 * Fails unless the policy reads of every agent what it would read in process, and if something connects beyond the loopback. Then checks the agents of
 * examples/agents, and episodes that the tiny policy plays with them, against the rules of the spec.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { type Message, type Observation, openEnv, playTask, type Scripted } from '@toolenv/core';
import { defineAgentEnv } from '@toolenv/gateway';
import { reportText } from '@toolenv/testing';
import { type AgentEntry, agents } from './agents.ts';
import { checkExample, exampleAgents } from './example-agents.ts';

const { positionals } = parseArgs({ allowPositionals: true });

const instructions = 'Answer the question. Put the answer in <answer></answer>.';
const question = 'Which city is it?\nName it.';
const description = 'Searches documents.';
const inputSchema = {
  type: 'object',
  properties: { query: { type: 'string', description: 'What to look for' } },
  required: ['query'],
};
const search = { description, inputSchema, run: async (query: string) => `Found "${query}".\n1. Zürich\n` };

const answer = 'I found it: <answer>Zürich</answer>';
const firstCall = { id: 'call-0', name: 'search', arguments: { query: 'Zürich "one"' } };
const nextCalls = [
  { id: 'call-0', name: 'search', arguments: { query: 'two' } },
  { id: 'call-1', name: 'search', arguments: { query: 'three' } },
];
const script: Scripted[] = [
  [firstCall],
  { text: 'Let me look again.\n', toolCalls: nextCalls, stopReason: 'tool_call' },
  answer,
];
const expected = await messagesInProcess();

const strangers: string[] = [];
const streamed: boolean[] = [];
watchConnections();
// The AI SDK warns that Anthropic has no model of this name.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const major = Number(process.versions.node.split('.')[0]);
const chosen = agents.filter(({ name, node }) => name.includes(positionals[0] ?? '') && node <= major);
let failed = 0;
for (const agent of chosen) {
  for (const stream of [false, true]) {
    const begin = performance.now();
    const faults = await check(agent, stream).catch((error: Error) => [error.stack ?? String(error)]);
    const name = `${agent.name}${stream ? ', streamed' : ''}`;
    const time = Math.round(performance.now() - begin);
    console.log(`${faults.length === 0 ? 'ok    ' : 'FAILED'}  ${name}  ${time} ms`);
    for (const fault of faults) console.log(`        ${fault}`);
    if (faults.length > 0) failed++;
  }
}
const examples = (await exampleAgents()).filter((file) => file.includes(positionals[0] ?? ''));
for (const file of examples) {
  const begin = performance.now();
  const [env, ...episodes] = await checkExample(file);
  const broken = [env!, ...episodes].filter(({ ok, warnings }) => !ok || warnings.length > 0);
  const rules = `${env!.passed.length} rules hold, and ${episodes.at(-1)!.passed.length} in ${episodes.length} episodes`;
  const time = Math.round(performance.now() - begin);
  console.log(`${broken.length === 0 ? 'ok    ' : 'FAILED'}  examples/agents/${file}  ${rules}  ${time} ms`);
  for (const report of broken) console.log(reportText(report));
  if (broken.length > 0) failed++;
}
console.log(`${2 * chosen.length + examples.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function check({ load }: AgentEntry, stream: boolean): Promise<string[]> {
  const agent = await load();
  const env = await openEnv(
    defineAgentEnv({
      name: 'questions-v1',
      description: 'Answers a question.',
      tasks: { train: [{ question }], test: [{ question }] },
      agent: ({ task, baseURL, apiKey, signal }) =>
        agent({ ...task, instructions, search, baseURL, apiKey, signal }, { stream, maxTurns: 4 }),
      rewards: { right: { kind: 'outcome', score: ({ result }) => Number(result === answer) } },
    }),
  );
  const read: Observation[] = [];
  const played = await playTask(env, { question }, (observation, turn) => {
    read.push(observation);
    return script[turn] ?? '';
  });
  await env.close();
  const faults = strangers.splice(0).map((host) => `connected to ${host}`);
  if (played.outcome.kind !== 'terminated' || played.rewards.right !== 1)
    faults.push(`ended with ${JSON.stringify({ outcome: played.outcome, rewards: played.rewards })}`);
  for (const [turn, messages] of expected.entries()) {
    const tools = [{ name: 'search', description, inputSchema }];
    if (!isDeepStrictEqual(read[turn], { messages, tools }))
      faults.push(`turn ${turn + 1} reads ${JSON.stringify(read[turn])}`);
  }
  if (read.length !== expected.length) faults.push(`made ${read.length} requests`);
  if (streamed.splice(0).some((given) => given !== stream))
    faults.push(`did not always ask for stream: ${stream}`);
  return faults;
}

/** [turn] what the policy reads before it. */
async function messagesInProcess(): Promise<Message[][]> {
  const found = async ({ id, name, arguments: { query } }: typeof firstCall): Promise<Message> => {
    return { role: 'tool', toolCallId: id, name, content: await search.run(query) };
  };
  const first: Message[] = [
    { role: 'system', content: instructions },
    { role: 'user', content: question },
  ];
  const second: Message[] = [
    ...first,
    { role: 'assistant', content: '', toolCalls: [firstCall] },
    await found(firstCall),
  ];
  const said: Message = { role: 'assistant', content: 'Let me look again.\n', toolCalls: nextCalls };
  return [first, second, [...second, said, ...(await Promise.all(nextCalls.map(found)))]];
}

/** Notes each connection of this process that leaves the loopback, and whether each answer of the gateway has a length or is streamed. */
function watchConnections(): void {
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
    const [first] = args.flat() as [{ host?: string; path?: string }];
    const host = typeof first === 'object' ? (first.host ?? first.path) : String(args[1]);
    if (host !== '127.0.0.1') strangers.push(String(host));
    return Reflect.apply(connect, this, args);
  } as typeof connect;
  subscribe('http.server.response.finish', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.url?.startsWith('/v1/')) streamed.push(!response.hasHeader('content-length'));
  });
}
