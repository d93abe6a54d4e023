import { defineTool, defineToolEnv } from '@toolenv/core';

/** A question whose answer is 42, with a tool that says nothing. */
export default defineToolEnv({
  name: 'quiz-v1',
  description: 'Says a number.',
  tasks: { test: [{ answer: '42' }] },
  rewards: {
    correct: { kind: 'outcome', score: ({ answer, task }) => Number(answer?.trim() === task.answer) },
  },
  episode: () => ({
    messages: 'What is six by seven?',
    tools: [defineTool('wait', 'Does nothing.', {}, () => 'Done.')],
  }),
});
