import { openEnv } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { train } from '@toolenv/training';
import '@toolenv/trainer-grpo';
const few = process.argv[2] === 'few';
const env = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 });
const all = env.tasks.train;
const count = 20;
const tasks = { ...env.tasks, train: { length: count, get: (n: number) => all.get(n) } };
const wrapped = few ? new Proxy(env, { get: (t, k) => (k === 'tasks' ? tasks : Reflect.get(t, k)) }) : env;
const policy = await loadPolicy('packages/tiny-policy/checkpoint', { threads: 1 });
for await (const e of train<Record<string, unknown>>({
  env: wrapped, policy, trainer: '@toolenv/trainer-grpo/grpo-v1', out: process.argv[3]!, seed: 2,
  steps: 12, tasksPerStep: few ? 12 : 12, groupSize: 8, maxTokens: 64, learningRate: Number(process.argv[4] ?? 3e-4), evaluateFirst: true, evaluateEvery: 6, evaluationEpisodes: 40,
} as never)) console.log(e.type, e.step, e.type !== 'checkpoint' ? (e.metrics as any)['rewards/em/mean'] : '');
