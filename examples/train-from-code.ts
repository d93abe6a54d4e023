/**
 * Evaluates a policy, trains it with GRPO, and evaluates it again: `npm run example examples/train-from-code.ts`.
 * A few steps only show how it works; `npm run demo` trains for long enough to learn.
 */
import { openEnv } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { evaluate } from '@toolenv/training';

const env = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 });
const { policy, learner } = await loadPolicy('workshop/tiny-policy/checkpoint');

const plan = { split: 'test', count: 32, concurrency: 32, seed: 1 } as const;
const score = () => evaluate({ ...plan, env, policy, sampling: { maxTokens: 64, temperature: 0 } });

const before = await score();
const run = { env, policy, learner, out: process.argv[2] ?? 'runs/example', seed: 1 };
for await (const event of grpo.train(run, { steps: 2, tasksPerStep: 8, groupSize: 4, maxTokens: 64 })) {
  if (event.type === 'update') console.log('step', event.step, 'loss', event.metrics.loss);
}
const after = await score();
console.log('exact match', before.means.em, 'before,', after.means.em, 'after');

await learner.close();
await policy.close();
await env.close();
