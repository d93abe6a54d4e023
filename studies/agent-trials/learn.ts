/**
 * Trains the demo's policy as the demo does, through an agent or in process: does it learn as well, and what does the way through the agent cost?
 * `node --import tsx --conditions=@toolenv/source studies/agent-trials/learn.ts [--agent ai-sdk-7-compatible] [--steps 80] [--shuffle-rewards]`, without an agent
 * in process. Prints one line of JSON.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { evaluate, train } from '@toolenv/training';
import { agents } from '../../workshop/agents/agents.ts';
import { beta, training } from '../../workshop/demo/setting.ts';
import { openBridge } from './bridge-agents.ts';
import { plainAgent } from './plain-agent.ts';

const { values } = parseArgs({
  options: {
    agent: { type: 'string' },
    steps: { type: 'string', default: '80' },
    seed: { type: 'string', default: '1' },
    'shuffle-rewards': { type: 'boolean', default: false },
    stream: { type: 'boolean', default: false },
  },
});
const entry = agents.find(({ name }) => name === values.agent);
if (values.agent !== undefined && values.agent !== 'plain' && !entry)
  throw new Error(`No agent "${values.agent}".`);

const seed = Number(values.seed);
const agent = entry ? await entry.load() : plainAgent;
const { inProcess, byAgent, close } = await openBridge(agent, { seed, stream: values.stream });
const env = values.agent === undefined ? inProcess : byAgent;
const policy = await loadPolicy('packages/checkpoints/tiny');
const out = await mkdtemp(join(tmpdir(), 'toolenv-learn-'));
try {
  const examine = async () => {
    const options = { split: 'test', count: 256, maxTokens: 64, temperature: 0 } as const;
    const { means, intervals, aborted } = await evaluate({ env, policy, ...options });
    return { em: means.em, interval: intervals.em, aborted };
  };
  const before = await examine();
  const begun = performance.now();
  const cpu = process.cpuUsage();
  const trainer = grpo({ ...training, beta, checkpointEvery: 0 });
  const options = {
    env,
    policy,
    trainer,
    out,
    seed,
    trajectories: false,
    shuffleRewards: values['shuffle-rewards'],
  };
  let last = performance.now();
  for await (const { type, step } of train({ ...options, steps: Number(values.steps) })) {
    if (type !== 'update' || performance.now() - last < 10_000) continue;
    last = performance.now();
    process.stderr.write(`step ${step}\n`);
  }
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const after = await examine();
  const name = values.agent ?? 'in process';
  console.log(
    JSON.stringify({ agent: name, ...values, before, after, seconds, cpuSeconds: (user + system) / 1e6 }),
  );
} finally {
  await policy.close();
  await close();
  await rm(out, { recursive: true });
}
