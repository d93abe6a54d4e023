/**
 * Evaluates a policy, trains it with GRPO, evaluates it again and saves it: `npm run example examples/train-from-code.ts`.
 * A few steps show how it works; `npm run demo` trains long enough to learn.
 */
import { openEnv } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { evaluate, train } from '@toolenv/training';

/** A new folder. By default, the run makes one under `runs/`. */
const out = process.argv[2];
await using env = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 });
await using policy = await loadPolicy('packages/checkpoints/tiny');
const before = await evaluate({ env, policy, count: 32, maxTokens: 64 });

const trainer = grpo({ learningRate: 3e-5, beta: 0.1, maxTokens: 64 });
for await (const event of train({ env, policy, trainer, out, steps: 2, tasksPerStep: 8, groupSize: 4 })) {
  if (event.type === 'update') console.log('step', event.step, 'loss', event.metrics.loss);
  if (event.type === 'checkpoint') console.log('saved', event.folder);
}

const after = await evaluate({ env, policy, count: 32, maxTokens: 64 });
console.log('exact match', before.means.em, 'before,', after.means.em, 'after');
await policy.save('runs/example-policy');
