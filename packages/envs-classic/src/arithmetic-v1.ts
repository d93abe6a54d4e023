/** `arithmetic-v1`: generated word problems like those of GSM8K, and a tool that calculates. */
import { createRng, defineToolEnv, ToolEnvError } from '@toolenv/core';
import { calculate } from './arithmetic/calculate-tool.ts';
import { drawProblem } from './arithmetic/problem.ts';
import { generatedTasks } from './generated-tasks.ts';

/** The number after the last `####`, as in GSM8K. Commas between digits do not count. */
function readAnswer(text = ''): number | undefined {
  const found = [...text.matchAll(/####\s*(-?\d[\d,]*(?:\.\d+)?)/g)].at(-1)?.[1];
  return found === undefined ? undefined : Number(found.replaceAll(',', ''));
}

export default defineToolEnv({
  name: 'arithmetic-v1',
  description: 'Word problems of several steps, like those of GSM8K, with a calculator.',
  options: {
    properties: {
      tasks: { type: 'integer', minimum: 1, default: 10_000, description: 'number of training tasks' },
      minSteps: {
        type: 'integer',
        minimum: 2,
        maximum: 7,
        default: 2,
        description: 'fewest operations of a problem',
      },
      maxSteps: {
        type: 'integer',
        minimum: 2,
        maximum: 7,
        default: 5,
        description: 'most operations of a problem',
      },
    },
  },
  prompts: { system: 'Solve the problem. End with #### and the answer, a number without a unit.' },
  limits: { maxTurns: 8, maxCallsPerTurn: 4 },
  tasks({ options: { tasks, minSteps, maxSteps }, seed }) {
    if (minSteps > maxSteps) {
      const remedy = 'give minSteps at most maxSteps';
      throw new ToolEnvError('usage.bad_option', `arithmetic-v1: minSteps is above maxSteps: ${remedy}.`);
    }
    return generatedTasks(tasks, (split, index) => {
      const rng = createRng(seed, split, index);
      return drawProblem(rng, split, minSteps + rng.int(maxSteps - minSteps + 1));
    });
  },
  rewards: {
    correct: { kind: 'outcome', score: ({ answer, task }) => Number(readAnswer(answer) === task.answer) },
    /** Whether there was an answer after ####. */
    format: { kind: 'outcome', weight: 0, score: ({ answer }) => Number(readAnswer(answer) !== undefined) },
  },
  episode: ({ task, prompt }) => ({
    messages: [
      { role: 'system', content: prompt('system') },
      { role: 'user', content: task.question },
    ],
    tools: [calculate],
  }),
  oracle: ({ expression, answer }) => [
    [{ name: 'calculate', arguments: { expression } }],
    `${expression} = ${answer}\n#### ${answer}`,
  ],
  label: ({ answer }) => String(answer),
});
