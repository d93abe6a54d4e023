export {};
import { openEnv } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { train } from '@toolenv/training';

await using env = await openEnv('@toolenv/envs-qa/bridge-v1'); // environment_factory, train_dataset, reward_funcs
await using policy = await loadPolicy('my-checkpoint'); // model, processing_class
const trainer = grpo({ learningRate: 1e-6, clip: [0.2, 0.28] }); // GRPOConfig
const run = train({ env, policy, trainer, steps: 1, tasksPerStep: 2, groupSize: 4, maxTokens: 32 }); // GRPOTrainer
for await (const event of run) if (event.type === 'update') console.log(event.metrics.grad_norm! > 0);
console.log('␞');
