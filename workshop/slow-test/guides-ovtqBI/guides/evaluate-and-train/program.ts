export {};
import { openEnv } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { evaluate } from '@toolenv/training';

await using env = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 });
await using policy = await loadPolicy('my-checkpoint');
const { reward, means, outcomes } = await evaluate({ env, policy, split: 'test', count: 8, maxTokens: 64 });
console.log(reward, means.em, outcomes);
console.log('␞');

const often = await evaluate({ env, policy, split: 'test', count: 8, samples: 4, temperature: 1, maxTokens: 64 });
console.log(often.episodes, often.pass?.score, Object.keys(often.pass!.at), often.intervals.em?.length);
console.log('␞');

import { grpo } from '@toolenv/trainer-grpo';
import { train } from '@toolenv/training';

const trainer = grpo({ learningRate: 3e-5 });
const short = { tasksPerStep: 2, groupSize: 4, maxTokens: 64 };
for await (const event of train({ env, policy, trainer, ...short, steps: 2, out: 'runs/mine' })) {
  if (event.type === 'rollout') console.log(`step ${event.step}: ${event.trajectories.length} episodes`);
  if (event.type === 'update') console.log(`step ${event.step}: gradient ${event.metrics.grad_norm}`);
}
await policy.save('my-policy');
console.log('␞');

import { readdir } from 'node:fs/promises';

console.log((await readdir('runs/mine')).sort());
console.log('␞');

import { mixEnvs } from '@toolenv/core/wrappers';

await using lookup = await openEnv('@toolenv/envs-qa/lookup-v1', { topK: 2 });
const mix = mixEnvs({ bridge: env, lookup }, { weights: { bridge: 1, lookup: 3 } });
const evaluation = { evaluateEvery: 1, evaluationEpisodes: 4, evaluateOn: { lookup } };
for await (const event of train({ env: mix, policy, trainer, ...short, tasksPerStep: 4, ...evaluation, steps: 1, out: 'runs/mix' })) {
  if (event.type === 'rollout') console.log(event.trajectories.map(({ task }) => (task as { env: string }).env).join(' '));
  if (event.type === 'evaluation') console.log('lookup/reward' in event.metrics);
}
console.log('␞');

import { withCurriculum } from '@toolenv/core/wrappers';

/** Prefers tasks that were neither always solved nor never. */
const uncertain = withCurriculum(env, ({ tasks, results }) =>
  Array.from({ length: tasks.length }, (_, index) => {
    const share = results.get(index)?.mean ?? 0.5;
    return 0.05 + share * (1 - share);
  }),
);
for await (const event of train({ env: uncertain, policy, trainer, ...short, steps: 2, out: 'runs/curriculum' })) {
  if (event.type === 'update') console.log(`step ${event.step}`);
}
console.log('␞');

for await (const event of train({ env, policy, trainer, ...short, steps: 3, out: 'runs/mine', resume: true })) {
  if (event.type === 'update') console.log(`step ${event.step}`);
}
console.log('␞');

import type { MetricSink } from '@toolenv/training/reports';

const print: MetricSink = {
  name: 'print',
  open: async ({ name }) => name,
  write: async (events) => console.log(events.map(({ step, metrics }) => `${step}: ${metrics['rollout/reward'] ?? ''}`)),
  close: async (end) => console.log(end),
};
const sinks = { ...short, steps: 1, out: 'runs/reported', reportTo: [print] };
for await (const _ of train({ env, policy, trainer, ...sinks })) continue;
console.log('␞');
