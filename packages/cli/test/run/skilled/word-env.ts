/** An environment that asks for a word, which it shows. */
import { defineToolEnv } from '@toolenv/core';

export default defineToolEnv({
  name: 'word-v1',
  description: 'Say a word.',
  tasks: { test: Array.from({ length: 40 }, (_, number) => ({ word: `word${number}` })) },
  rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === task.word) } },
  episode: ({ task }) => ({ messages: `Say ${task.word}` }),
});
