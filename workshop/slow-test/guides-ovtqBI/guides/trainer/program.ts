export {};
import { BanditModel, openBandit } from '@toolenv/testing';
import { train } from '@toolenv/training';
import bestOfN from './best-of-n.ts';

const env = await openBandit({ best: 1 });
const policy = new BanditModel();
const rewards: number[] = [];
for await (const event of train({ env, policy, trainer: bestOfN({ learningRate: 0.5 }), steps: 30, maxTokens: 8 })) {
  if (event.type === 'rollout') rewards.push(event.metrics.reward!);
}
console.log(rewards[0]! < 0.7, rewards.at(-1)! > 0.9);
console.log('␞');

import { assertConforms, checkTrainer } from '@toolenv/testing';

const { passed } = await assertConforms(checkTrainer(bestOfN));
console.log(passed.join(' '));
console.log('␞');
