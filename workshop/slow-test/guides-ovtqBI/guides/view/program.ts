export {};
import { openEnv } from '@toolenv/core';
import { playByHand } from '@toolenv/view';

await using env = await openEnv('@toolenv/envs-qa/bridge-v1');
const turns = [
  { text: '', calls: [{ name: 'search', arguments: { query: 'Ada' } }] },
  { text: '<answer>Oslo</answer>', calls: [] },
];
const { steps, reward } = await playByHand({
  env,
  task: env.tasks.train.get(0),
  number: 1,
  seed: 1,
  player: { write: async () => turns.shift()! },
  signal: new AbortController().signal,
});
console.log(`${steps.length} turns, reward ${reward}`);
console.log('␞');
