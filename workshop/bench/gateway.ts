/** The gateway's own time: what a request of an agent costs the process that trains, the agent and the policy left out. */
import { openEnv, type Policy, playTask } from '@toolenv/core';
import { command, defineAgentEnv } from '@toolenv/gateway';
import { median } from './median.ts';

const requests = 500;
/** Requests that compile, and are not counted. */
const first = 50;
/** Requests of a conversation, after which another begins. */
const turns = 5;
/** Characters of the history that each request sends again. */
const history = 16_384;

/** Speaks chat completions in a process of its own. */
const client = `
const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env;
const begin = (i) => Array.from({ length: 16 }, (_, j) => ({ role: 'user', content: (i + ' ' + j).padEnd(${history / 16}, 'x') }));
let messages = [];
const parameters = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
const tools = [{ type: 'function', function: { name: 'search', description: 'Searches.', parameters } }];
for (let i = 0; i < ${requests}; i++) {
  if (i % ${turns} === 0) messages = begin(i);
  const response = await fetch(OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'policy', messages, tools }),
  });
  messages.push((await response.json()).choices[0].message, { role: 'user', content: 'go on' });
}
`;

/** Milliseconds of processor time of a request: reading it, placing it, the step of the environment, and the answer. */
export async function measureGateway(): Promise<Record<string, unknown>> {
  const env = await openEnv(
    defineAgentEnv({
      name: 'requests-v1',
      description: 'Asks again and again.',
      limits: { maxTurns: requests + 1, toolTimeout: 60_000 },
      tasks: { test: [{}] },
      agent: command(process.execPath, ['--input-type=module', '-e', client]),
      rewards: { ended: { kind: 'outcome', score: () => 1 } },
    }),
  );
  const times: number[] = [];
  let before = process.cpuUsage();
  const policy: Policy = {
    spec: { name: 'constant', contextLength: 1 },
    async act() {
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1000);
      before = process.cpuUsage();
      return { text: 'x', toolCalls: [], stopReason: 'stop' };
    },
  };
  const { reward } = await playTask(env, {}, policy);
  await env.close();
  if (reward !== 1 || times.length !== requests)
    throw new Error(`${times.length} requests, reward ${reward}`);
  const counted = times.slice(first).sort((a, b) => a - b);
  const ours = Number(median(counted).toFixed(3));
  const p99 = Number(counted[Math.floor(0.99 * counted.length)]!.toFixed(3));
  return { name: 'gateway', ours, p99, unit: 'ms of CPU per request', requests: counted.length, history };
}
