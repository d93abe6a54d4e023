/** A run that says what it does, so that a test can kill it at any moment: `killed-run.ts <folder> [--resume]`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openEnv, type Policy } from '@toolenv/core';
import { gepaWith } from '@toolenv/trainer-gepa';
import { train } from '@toolenv/training';
import { obedient, order, reflecting } from '../test/missing-rules.ts';

/** The policy, which announces each turn and lets a signal arrive. */
function announced(policy: Policy): Policy {
  return {
    spec: policy.spec,
    async act(observation, options) {
      process.stdout.write('turn\n');
      await sleep(1);
      return policy.act(observation, options);
    },
  };
}

const [out = '', resume] = process.argv.slice(2);
await using env = await openEnv(order);
const reflection = announced(reflecting());
const options = { episodes: 60, paretoTasks: 6, minibatch: 3, seed: 4, evaluateEvery: 3 };
for await (const event of train({
  ...options,
  env,
  policy: announced(obedient),
  trainer: gepaWith(reflection),
  out,
  resume: resume === '--resume',
}))
  process.stdout.write(`${event.type}\n`);
