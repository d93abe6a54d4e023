/** What an environment must not answer to a step. */
import type { Transition } from '../src/index.ts';
import { climb } from './ladder-env.ts';

export const climbing = {
  text: '',
  toolCalls: [{ id: 'c', name: 'climb', arguments: { rungs: 1 } }],
  stopReason: 'tool_call' as const,
};
/** What is wrong, what the error says, and what makes it of a right transition. */
export const brokenTransitions: [string, RegExp, (of: Transition) => unknown][] = [
  ['a reward "1"', /ladder-v1 breaks ENV-21/, (of) => ({ ...of, rewards: { climbed: '1' } })],
  ['a message of 7', /ENV-14/, (of) => ({ ...of, observation: { messages: [7], tools: [] } })],
  ['a call record of 7', /ENV-26: calls\/0: expected must be object/, (of) => ({ ...of, calls: [7] })],
  ['an info of NaN', /ENV-16.*holds NaN/, (of) => ({ ...of, info: { mean: Number.NaN } })],
  ['stop texts of 7', /ENV-14: stop is/, (of) => ({ ...of, observation: { ...of.observation, stop: [7] } })],
  [
    'an empty stop text',
    /at most 64 texts of 1 to 1,024 characters/,
    (of) => ({ ...of, observation: { ...of.observation, stop: [''] } }),
  ],
  [
    'a tool without a name',
    /ENV-14/,
    (of) => ({
      ...of,
      observation: { ...of.observation, tools: [{ ...climb, name: '' }] },
    }),
  ],
];
