/** `safe-agent-v1`: an agent finds the three-digit code of a safe. Each try tells it whether the code is higher or lower. */
import { createRng } from '@toolenv/core';
import { defineAgentEnv } from '@toolenv/gateway';
import { findCode } from './safe-agent.ts';

const [lowest, highest] = [100, 999];

export default defineAgentEnv({
  name: 'safe-agent-v1',
  description: 'An agent finds the code of a safe by trying: higher or lower.',
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
  // Equal answers of the model give equal requests.
  capabilities: { seedable: true },
  limits: { maxTurns: 12 },
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
  /** The codes that no try has ruled out. */
  state: () => ({ low: lowest, high: highest }),
  async agent({ task: { code }, state, reward, baseURL, apiKey, signal }) {
    const tryCode = (tried: number): string => {
      const before = state.high - state.low;
      if (tried <= code) state.low = Math.max(state.low, tried === code ? tried : tried + 1);
      if (tried >= code) state.high = Math.min(state.high, tried === code ? tried : tried - 1);
      reward('narrowed', (before - (state.high - state.low)) / (highest - lowest));
      return tried === code ? 'The safe opens.' : tried < code ? 'Higher.' : 'Lower.';
    };
    return await findCode(tryCode, { baseURL, apiKey, signal });
  },
  rewards: {
    /** At the end: 1 if the agent returns the code. */
    opened: { kind: 'outcome', score: ({ result, task }) => Number(result?.trim() === String(task.code)) },
    /** At each turn of tries: the share of all codes that they rule out. */
    narrowed: { kind: 'process', weight: 0.1 },
  },
  /** The answers of a model that wins, one for each request: shows that the task can be solved. */
  oracle: ({ code }) => [[{ name: 'try_code', arguments: { code } }], String(code)],
  label: ({ code }) => String(code),
});
