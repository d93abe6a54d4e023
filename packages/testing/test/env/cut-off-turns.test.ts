/** ENV-24: a turn that is cut off ends its episode, except in a named conversation. */
import { running, type Transition, truncated } from '@toolenv/core';
import { expect, test } from 'vitest';
import { transitionViolations } from '../../src/env/transition-rules.ts';

const spec = {
  name: 'cut-v1',
  limits: { maxTurns: 4, maxCallsPerTurn: 4, toolTimeout: 1000, maxToolCharacters: 100 },
  rewards: {},
} as never;
const action = { text: 'cu', toolCalls: [], stopReason: 'length' as const };

test.each([
  [undefined, running, ['ENV-24']],
  [undefined, truncated('max_tokens'), []],
  ['helper', running, []],
  ['helper', truncated('max_tokens'), []],
] as const)(
  'in the conversation %s, a cut-off turn and the outcome %o break %o',
  (conversation, outcome, broken) => {
    const observation = { messages: [], tools: [] };
    const transition: Transition = { observation, outcome, rewards: {}, calls: [], info: {} };
    const step = { action, spec, offered: [], conversation, turn: 1 };
    expect([...transitionViolations(transition, step)].map(({ rule }) => rule)).toEqual(broken);
  },
);

test('no call of a cut-off turn is run in a named conversation', () => {
  const call = { id: 'a', name: 'look', arguments: {} };
  const calls = [{ call, result: { content: [] }, text: '', milliseconds: 0 }];
  const transition: Transition = {
    ...{ observation: { messages: [], tools: [] }, outcome: running, rewards: {}, info: {} },
    calls,
  };
  const step = {
    action: { ...action, toolCalls: [call] },
    spec,
    offered: [],
    conversation: 'helper',
    turn: 1,
  };
  expect([...transitionViolations(transition, step)].map(({ rule }) => rule)).toEqual(['ENV-24']);
});
