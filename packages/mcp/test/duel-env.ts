/** A game of two, whose opponent is the policy itself or a script. */
import { defineToolEnv, type EnvDefinition } from '@toolenv/core';
import { expect } from 'vitest';

export const duels: EnvDefinition<string, { opponent?: string }> = defineToolEnv({
  name: 'duel-v1',
  description: 'Say a longer word than the opponent.',
  tasks: { test: ['begin'] },
  players: { opponent: { description: 'the opponent', scripts: { brief: () => 'a' } } },
  rewards: { won: { kind: 'outcome' } },
  episode: ({ task, player }) => ({
    messages: task,
    async onAnswer(word) {
      const { text } = await player('opponent').ask(task);
      return { end: 'said', rewards: { won: Number(word.length > text.length) } };
    },
  }),
});

/** Expects that a server refuses the game against oneself. */
export async function expectRefusal(serving: Promise<unknown>): Promise<void> {
  await expect(serving).rejects.toMatchObject({
    code: 'usage.serve_self_play',
    message:
      'duel-v1: a client plays one player, and this environment is open with self-play of opponent: name a script or a policy as opponent (--opponent <name>).',
  });
}
