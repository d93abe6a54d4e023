export {};
import { BanditModel, openBandit } from '@toolenv/testing';
import { grpo } from '@toolenv/trainer-grpo';
import { train } from '@toolenv/training';
import surprise from './own-advantage.ts';
import spo from './own-loss.ts';

const env = await openBandit({ best: 1 });
const policy = new BanditModel();
const trainer = grpo({ loss: spo({ width: 0.3 }), advantage: surprise, learningRate: 0.5 });
for await (const _ of train({ env, policy, trainer, steps: 30, maxTokens: 8, out: 'runs/own' }));
console.log(policy.probabilities()[1]! > 0.9);
console.log('␞');

import { policyLoss } from '@toolenv/training';

const at = (logprob: number) =>
  policyLoss(
    {
      logprobs: [Float32Array.of(logprob)],
      oldLogprobs: [Float32Array.of(-1.25)],
      mask: [Uint8Array.of(1)],
      advantages: [[0.5]],
    },
    { loss: spo },
  );
const slope = (at(-1 + 2 ** -10).value - at(-1 - 2 ** -10).value) / 2 ** -9;
console.log(Math.abs(slope - at(-1).dLogprobs[0]![0]!) < 1e-5);
console.log('␞');
