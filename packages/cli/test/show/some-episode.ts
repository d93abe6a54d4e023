/** Makes episodes for tests: a question, a call, an answer. */
import { type ToolCallRecord, ToolEnvError } from '@toolenv/core';
import type { RecordedEpisode } from '@toolenv/view/recorded';

const call = { id: '0', name: 'search', arguments: { query: 'Selarel' } };

export const goodCall: ToolCallRecord = {
  call,
  result: { content: [{ type: 'text', text: 'Founded by Ada.' }] },
  text: 'Founded by Ada.',
  milliseconds: 12,
};

export const refusedCall: ToolCallRecord = {
  call,
  mistake: {
    code: 'invalid_arguments',
    path: '/query',
    expected: 'string',
    received: 'nothing',
    hint: 'Give it.',
  },
  text: 'Error (invalid_arguments): /query',
  milliseconds: 0,
};

export const failedCall: ToolCallRecord = {
  call: { ...call, name: 'fetch' },
  result: { content: [], isError: true },
  text: 'Error: offline',
  milliseconds: 2500,
};

export function someEpisode(
  changes: Partial<RecordedEpisode> = {},
  calls: ToolCallRecord[] = [goodCall],
): RecordedEpisode {
  const user = { role: 'user' as const, content: 'Who founded Selarel?' };
  const asked = { role: 'assistant' as const, content: 'I look.', toolCalls: [call] };
  const told = { role: 'tool' as const, content: 'Founded by Ada.', toolCallId: '0', name: 'search' };
  const tokens = (prompt: number[], action: number[], logprobs: number[]) => ({
    prompt: Int32Array.from(prompt),
    action: Int32Array.from(action),
    logprobs: Float32Array.from(logprobs),
  });
  return {
    version: 1,
    env: 'qa-v1',
    policy: 'tiny',
    episodeId: '7-0-1',
    index: 4,
    task: {},
    group: 2,
    sample: 1,
    seed: 1,
    step: 3,
    rewardSpec: {
      em: { kind: 'outcome', range: [0, 1], weight: 1 },
      f1: { kind: 'outcome', range: [0, 1], weight: 0 },
      found: { kind: 'process', range: [0, 1], weight: 0.1 },
    },
    steps: [
      {
        observation: { messages: [user], tools: [] },
        action: {
          text: 'I look.',
          toolCalls: [call],
          stopReason: 'tool_call',
          tokens: tokens([1, 2], [3, 4], [Math.log(0.95), Math.log(0.2)]),
        },
        calls,
        rewards: { em: null, f1: null, found: 0.5 },
        info: {},
      },
      {
        observation: { messages: [user, asked, told], tools: [] },
        action: {
          text: 'Ada',
          toolCalls: [],
          stopReason: 'stop',
          tokens: tokens([1, 2, 3, 4, 5], [6], [Math.log(0.5)]),
        },
        calls: [],
        rewards: { em: 1, f1: 0.25, found: null },
        info: {},
      },
    ],
    outcome: { kind: 'terminated', reason: 'answered' },
    rewards: { em: 1, f1: 0.25, found: 0.5 },
    reward: 1.05,
    ...changes,
  };
}

export const abortedEpisode: RecordedEpisode = someEpisode({
  outcome: {
    kind: 'aborted',
    cause: new ToolEnvError('infrastructure.tool_failed', 'the server is gone'),
    retryable: true,
  },
  rewards: { em: null, f1: null, found: null },
  reward: null,
});
