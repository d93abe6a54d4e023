/**
 * Plays a policy that writes odd JSON at each agent, a hundred calls for each, and fails if a client's way of writing it back makes another conversation:
 * `node --import tsx --conditions=@toolenv/source workshop/agents/odd-json.ts [PART-OF-A-NAME]`.
 */
import { type Action, openEnv, playTask } from '@toolenv/core';
import { hermesFormat } from '@toolenv/core/tools';
import { defineAgentEnv } from '@toolenv/gateway';
import { agents } from './agents.ts';

/** What a model may write as arguments. */
const odd: readonly string[] = [
  '{ "query" :\n\t"spacing" }',
  '{"query":"one","n":1.0}',
  '{"query":"minus zero","n":-0}',
  '{"query":"large","n":12345678901234567890}',
  '{"query":"large","n":1e21}',
  '{"query":"small","n":5e-324,"m":1e-7}',
  '{"query":"infinite","n":1e400}',
  '{"query":"escapes \\u00e9\\ud83d\\ude00 \\" \\\\ \\/"}',
  '{"query":"half \\ud800 a pair"}',
  '{"query":"line\\nbreak\\r\\n\\ttab\\u0000 nul\\u2028separator"}',
  '{"query":"x","query":"twice"}',
  '{"__proto__":{"a":1},"query":"prototype"}',
  '{"constructor":{"prototype":{}},"query":"constructor"}',
  '{"toString":"x","query":"to string"}',
  '{"10":1,"2":2,"query":"numbers as keys"}',
  '{"b":1,"a":2,"query":"order"}',
  '{"query":"empty","a":[],"b":{},"c":null}',
  '{"query":"deep","x":{"a":{"b":{"c":[[[{"d":1}]]]}}}}',
  '{"query":"</tool_call_><|im_end|>"}',
  '{"query":"data: [DONE]\\n\\n"}',
  `{"query":"${'long '.repeat(2000)}"}`,
  '{"query":5}',
  '{}',
  '{"query":"not closed"',
  'query = "no JSON"',
];
const callsEach = 100;
const callsInEpisode = 10;

const description = 'Searches.';
const inputSchema = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
const search = { description, inputSchema, run: async (query: string) => `found ${query}` };

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
const major = Number(process.versions.node.split('.')[0]);
const chosen = agents.filter(({ name, node }) => name.includes(process.argv[2] ?? '') && node <= major);
let [passed, failed] = [0, 0];
for (const { name, load } of chosen) {
  for (const stream of [false, true]) {
    const agent = await load();
    const env = await openEnv(
      defineAgentEnv({
        name: 'odd-v1',
        description: 'Odd calls.',
        limits: { maxTurns: 3 * callsInEpisode },
        malformed: 'correct',
        tasks: { test: [{}] },
        agent: ({ baseURL, apiKey, signal }) =>
          agent(
            { question: 'Which?', instructions: 'Answer.', search, baseURL, apiKey, signal },
            { stream, maxTurns: 3 * callsInEpisode },
          ),
        rewards: { right: { kind: 'outcome', score: ({ result }) => Number(result === 'The end.') } },
      }),
    );
    const faults: string[] = [];
    for (let first = 0; first < callsEach; first += callsInEpisode) {
      const script = Array.from({ length: callsInEpisode }, (_, i) =>
        actionOf(odd[(first + i) % odd.length]!),
      );
      const { steps, outcome, reward } = await playTask(env, {}, [...script, 'The end.'], { retries: 0 });
      const forks = steps.filter(({ observation }) => observation.conversation !== undefined).length;
      if (steps.length === callsInEpisode + 1 && forks === 0 && reward === 1) continue;
      faults.push(
        `calls from ${first}: ${steps.length} turns, ${forks} forks, ${JSON.stringify(outcome).slice(0, 200)}`,
      );
    }
    await env.close();
    console.log(`${faults.length === 0 ? 'ok    ' : 'FAILED'}  ${name}${stream ? ', streamed' : ''}`);
    for (const fault of faults) console.log(`        ${fault}`);
    if (faults.length === 0) passed += 1;
    else failed += 1;
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function actionOf(args: string): Action {
  const parsed = hermesFormat.parse(`<tool_call>{"name": "search", "arguments": ${args}}</tool_call>`);
  return { ...parsed, stopReason: 'tool_call' };
}
