import type { Trajectory } from '@toolenv/core';
import { expect, it } from 'vitest';
import { episodeText } from '../../src/display/episode-text.ts';

it('shows the conversation and what it was worth', () => {
  const question = {
    messages: [
      { role: 'system' as const, content: 'You may search.' },
      { role: 'user' as const, content: 'Who founded\nSelarel?' },
    ],
    tools: [],
  };
  const call = { id: '0', name: 'search', arguments: { query: 'Selarel' } };
  const trajectory: Trajectory = {
    version: 1,
    env: 'qa-v1',
    policy: 'tiny',
    episodeId: '1',
    index: 0,
    task: {},
    group: 0,
    sample: 0,
    seed: 1,
    rewardSpec: { em: { kind: 'outcome', range: [0, 1], weight: 1 } },
    steps: [
      {
        observation: question,
        action: { text: '', toolCalls: [call], stopReason: 'tool_call' },
        calls: [
          {
            call,
            text: 'Selarel was founded by Ada, a long time ago, in a town by the sea.\nAda: a doctor.',
            milliseconds: 1,
          },
        ],
        info: {},
      },
      {
        observation: question,
        action: { text: 'Ada', toolCalls: [], stopReason: 'stop' },
        calls: [],
        info: {},
      },
    ],
    outcome: { kind: 'terminated', reason: 'answered' },
    rewards: { em: 1, retrieved: null },
    reward: 1,
  };
  expect(`\n${episodeText(trajectory, { width: 50 })}\n`).toBe(`
  user    Who founded Selarel?
  call    search {"query":"Selarel"}
  tool    Selarel was founded by Ada, a long time…
  tool    Ada: a doctor.
  policy  Ada
  end     answered · reward 1.000 · EM 1.000
`);
});
