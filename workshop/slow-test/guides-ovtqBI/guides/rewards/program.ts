export {};
import { defineToolEnv, openEnv, playTask } from '@toolenv/core';

const capitals = defineToolEnv({
  name: 'capitals-v1',
  description: 'Name the capital.',
  limits: { maxTurns: 3 },
  tasks: { train: [{ country: 'France', capital: 'Paris' }] },
  rewards: {
    right: { kind: 'outcome', score: ({ answer, task }) => (answer === undefined ? null : Number(answer === task.capital)) },
    length: { kind: 'outcome', weight: 0, range: [0, 1000], score: ({ answer }) => (answer === undefined ? null : Math.min(answer.length, 1000)) },
    close: { kind: 'process', weight: 0.1 },
  },
  episode: ({ task: { country, capital } }) => ({
    messages: `What is the capital of ${country}?`,
    onAnswer(answer) {
      const close = Number(answer[0] === capital[0]);
      return answer === capital ? { rewards: { close }, end: 'right' } : { reply: 'No.', rewards: { close } };
    },
  }),
  oracle: ({ capital }) => [capital],
});

await using env = await openEnv(capitals);
const france = env.tasks.train.get(0);
const { rewards, reward } = await playTask(env, france, ['Rome', 'Pau', 'Paris']);
console.log(rewards, reward!.toFixed(1));
console.log('␞');

const cut = await playTask(env, france, ['Rome', 'Oslo', 'Bern']);
console.log(cut.outcome, cut.rewards);
console.log('␞');

import type { Trajectory } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { evaluate, toTrainingRows } from '@toolenv/training';

await using bridge = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 });
await using policy = await loadPolicy('my-checkpoint');
const episodes: Trajectory[] = [];
await evaluate({ env: bridge, policy, count: 1, maxTokens: 64, onTrajectory: (episode) => void episodes.push(episode) });
const [row] = toTrainingRows(episodes[0]!);
console.log(row!.tokens.length, 'tokens,', row!.mask.filter((bit) => bit === 1).length, 'written by the policy');
console.log('␞');

import { groupAdvantages, turnAdvantages } from '@toolenv/training';

const turns = [[1, 0], [0, 1]];
const group = [0, 0];
console.log('episode', groupAdvantages(turns.map(([first, second]) => first! + second!), group, 'none'));
console.log('turn   ', turnAdvantages(turns, group, { scale: 'none', leaveOneOut: false }));
console.log('␞');
