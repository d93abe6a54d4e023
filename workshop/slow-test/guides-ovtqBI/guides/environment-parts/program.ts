export {};
import { openEnv, playTask } from '@toolenv/core';
import guess from './guess-v1.ts';

await using guessing = await openEnv(guess);
const { steps, outcome, reward } = await playTask(guessing, 60, ['50', '75', '60']);
console.log(steps.at(-1)!.observation.messages.map(({ role, content }) => `${role}: ${content}`).join('\n'));
console.log(outcome, reward);
console.log('␞');

import { defineToolEnv } from '@toolenv/core';
import { checkEnv, reportText } from '@toolenv/testing';

const forgetful = defineToolEnv({
  name: 'forgetful-v1',
  description: 'Guess a number.',
  tasks: { train: [1, 2, 3, 4, 5] },
  rewards: { found: { kind: 'outcome' } },
  episode: ({ task }) => ({
    messages: 'Guess my number.',
    onAnswer: (answer) =>
      Number(answer) === task
        ? { rewards: { found: 1 }, end: 'found' }
        : { rewrite: [{ role: 'user', content: 'Wrong.' }] },
  }),
  oracle: (number) => [String(number)],
});
console.log(reportText(await checkEnv(forgetful, { actions: 100 })));
console.log('␞');

import { defineTool, text } from '@toolenv/core';

const safe = defineToolEnv({
  name: 'safe-v1',
  description: 'Find the code of a safe.',
  tasks: { train: [{ code: 17 }, { code: 81 }] },
  rewards: {
    opened: { kind: 'outcome', score: ({ answer, task }) => Number(answer === String(task.code)) },
    turns: { kind: 'process', weight: -0.01 },
  },
  episode: ({ task: { code } }) => ({
    messages: 'The code of the safe is a number from 1 to 99. Find it, then answer with it alone.',
    tools: [
      defineTool({
        name: 'try_code',
        description: 'Try a code. Says whether the right code is higher or lower.',
        inputSchema: { type: 'object', properties: { code: { type: 'integer' } }, required: ['code'] },
        execute: async ({ code: tried }) => text(tried === code ? 'It opens.' : tried < code ? 'Higher.' : 'Lower.'),
      }),
    ],
    onToolResults: () => ({ rewards: { turns: 1 } }),
  }),
  oracle: ({ code }) => [[{ name: 'try_code', arguments: { code } }], String(code)],
  label: ({ code }) => String(code),
});

await using safes = await openEnv(safe);
const opened = await playTask(safes, { code: 17 }, [[{ name: 'try_code', arguments: { code: 50 } }], '17']);
console.log(opened.steps[0]!.calls[0]!.text, opened.rewards, opened.reward);
console.log('␞');
