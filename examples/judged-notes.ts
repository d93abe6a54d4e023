/**
 * A reward that a model judges: how clear a note is. The user names the judge:
 * `toolenv eval judged-notes.ts --policy my-checkpoint --judge openai:http://127.0.0.1:8000/v1#qwen3`.
 */
import { defineToolEnv } from '@toolenv/core';
import { judge } from '@toolenv/judge';

const topics = ['how a bicycle stays upright', 'why the sky is blue', 'what a tide is', 'how bread rises'];

export default defineToolEnv({
  name: 'judged-notes-v1',
  description: 'Explain something in a short note.',
  capabilities: { networked: true },
  limits: { maxTurns: 1 },
  tasks: { train: topics.map((topic) => ({ topic })) },
  rewards: {
    clear: {
      kind: 'outcome',
      score: judge({
        prompt: ({ task }) => `A note must explain ${task.topic}, correctly and in words that a child knows.`,
        scale: [0, 10],
      }),
    },
    short: {
      kind: 'outcome',
      weight: 0.2,
      score: ({ answer }) => (answer === undefined ? null : Number(answer.length <= 400)),
    },
  },
  episode: ({ task: { topic } }) => ({ messages: `Explain in a short note ${topic}.` }),
});
