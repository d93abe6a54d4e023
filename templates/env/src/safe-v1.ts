/** `safe-v1`: find the three-digit code of a safe. Each try tells whether the code is higher or lower; the answer is the code. */
import { createRng, defineTool, defineToolEnv } from '@toolenv/core';

const [lowest, highest] = [100, 999];

/** The tool reports what happened. The environment decides what that is worth. */
const tryCode = (code: number) =>
  defineTool(
    'try_code',
    'Try a code. Says whether the right one is higher or lower.',
    { code: { type: 'integer', minimum: lowest, maximum: highest } },
    ({ code: tried }) => (tried === code ? 'The safe opens.' : tried < code ? 'Higher.' : 'Lower.'),
  );

export default defineToolEnv({
  name: 'safe-v1',
  description: 'Find the code of a safe by trying: higher or lower.',
  options: {
    properties: {
      tasks: {
        type: 'integer',
        minimum: 1,
        maximum: 600,
        default: 600,
        description: 'number of training tasks',
      },
    },
  },
  limits: { maxTurns: 12, maxCallsPerTurn: 1 },
  // A task must be a JSON value, because trajectories contain it. The splits share no task.
  tasks({ options, seed }) {
    const all = Array.from({ length: highest - lowest + 1 }, (_, index) => ({ code: lowest + index }));
    const codes = createRng(seed, 'codes').shuffle(all);
    return {
      validation: codes.slice(0, 100),
      test: codes.slice(100, 300),
      train: codes.slice(300, 300 + options.tasks),
    };
  },
  rewards: {
    /** At the end: 1 if the answer is the code. */
    opened: { kind: 'outcome', score: ({ answer, task }) => Number(answer?.trim() === String(task.code)) },
    /** At each turn of tries: the share of the remaining codes that they rule out. */
    narrowed: { kind: 'process', weight: 0.1 },
  },
  episode({ task: { code } }) {
    let [low, high] = [lowest, highest];
    return {
      messages: 'The code of the safe is a number of three digits. Find it, then answer with it alone.',
      tools: [tryCode(code)],
      onToolResults(calls) {
        const before = high - low + 1;
        for (const { call, result } of calls) {
          // A mistaken call has no result. The model has already read what was wrong with the call.
          if (!result || !('arguments' in call)) continue;
          const tried = Number(call.arguments.code);
          if (tried <= code) low = Math.max(low, tried === code ? tried : tried + 1);
          if (tried >= code) high = Math.min(high, tried === code ? tried : tried - 1);
        }
        return { rewards: { narrowed: (before - (high - low + 1)) / before } };
      },
    };
  },
  /** Wins because it knows the code: shows that the task can be solved. */
  oracle: ({ code }) => [[{ name: 'try_code', arguments: { code } }], String(code)],
  label: ({ code }) => String(code),
});
