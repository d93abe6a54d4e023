/** `math-v1`: generated problems whose answer is an exact number, with Python or without. */
import { createRng, defineToolEnv } from '@toolenv/core';
import { generatedTasks } from '../generated-tasks.ts';
import { drawProblem, type MathProblem } from './problem.ts';
import { isEqual, rational } from './rational.ts';
import { finalAnswer, type ReadValue, readValue } from './read-value.ts';

const instruction =
  'Solve the problem. Give the exact value: a whole number, a fraction or a decimal number. End with the answer in \\boxed{}.';

function read({ units }: MathProblem, answer = ''): ReadValue | undefined {
  return readValue(finalAnswer(answer), units);
}

function isCorrect(task: MathProblem, answer: string | undefined): boolean {
  const found = read(task, answer);
  if (!found) return false;
  // Of a percentage, 25 and 25 % are the same; of anything else, 25 % are 1/4.
  const { numerator, denominator } = found.value;
  const value = found.percent && !task.percent ? rational(numerator, denominator * 100n) : found.value;
  return isEqual(value, readValue(task.answer)!.value);
}

export default defineToolEnv({
  name: 'math-v1',
  description: 'Equations and word problems whose answer is an exact number, with Python or without.',
  options: {
    properties: {
      tasks: { type: 'integer', minimum: 1, default: 10_000, description: 'number of training tasks' },
      maxLevel: {
        type: 'integer',
        minimum: 1,
        maximum: 3,
        default: 3,
        description: 'highest level of a problem',
      },
      tools: { enum: ['python', 'none'], default: 'python', description: 'whether the model may run Python' },
    },
  },
  prompts: { system: instruction },
  limits: { maxTurns: 6, maxCallsPerTurn: 1, toolTimeout: 60_000, maxToolCharacters: 2048 },
  roles: { python: '@toolenv/tools-code/python-v1' },
  setup: async ({ options, tools }) => ({
    python: options.tools === 'python' ? await tools.python!({}) : undefined,
  }),
  teardown: async ({ python }) => python?.close?.(),
  tasks: ({ options: { tasks, maxLevel }, seed }) =>
    generatedTasks(tasks, (split, index) =>
      drawProblem(createRng(seed, 'math', split, index), split, maxLevel),
    ),
  rewards: {
    correct: { kind: 'outcome', score: ({ answer, task }) => Number(isCorrect(task, answer)) },
    /** Whether the answer is a number that can be read. */
    format: {
      kind: 'outcome',
      weight: 0,
      score: ({ answer, task }) => Number(read(task, answer) !== undefined),
    },
  },
  episode({ task, prompt, shared: { python } }) {
    return {
      messages: [
        { role: 'system', content: python ? `${prompt('system')} You may run Python.` : prompt('system') },
        { role: 'user', content: task.question },
      ],
      tools: python ? [python] : [],
    };
  },
  oracle:
    ({ python, answer }) =>
    ({ tools }, turn) => {
      const code = `from fractions import Fraction as F\nprint(${python})`;
      const tool = tools[0];
      return tool && turn === 0 ? [{ name: tool.name, arguments: { code } }] : `\\boxed{${answer}}`;
    },
  label: ({ answer }) => answer,
});
