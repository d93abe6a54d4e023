/** `code-v1`: write a function in Python. Hidden tests call it in an interpreter that the model never used. */
import { createRng, defineToolEnv } from '@toolenv/core';
import { generatedTasks } from '../generated-tasks.ts';
import { drawTask } from './draw-task.ts';
import { judge, mayPass, solutionOf, trialOf } from './trial.ts';
import { toPython } from './values.ts';

const python = '@toolenv/tools-code/python-v1';
const instruction =
  'Solve the task. End with the whole function in a block of Python (```python). Hidden tests then call it with other values.';

export default defineToolEnv({
  name: 'code-v1',
  description: 'Write a function in Python; hidden tests judge it.',
  options: {
    properties: {
      tasks: { type: 'integer', minimum: 1, default: 10_000, description: 'number of training tasks' },
      maxSteps: {
        type: 'integer',
        minimum: 2,
        maximum: 3,
        default: 3,
        description: 'most steps of a function',
      },
      tools: { enum: ['python', 'none'], default: 'python', description: 'whether the model may run Python' },
    },
  },
  prompts: { system: instruction },
  limits: { maxTurns: 6, maxCallsPerTurn: 1, toolTimeout: 60_000, maxToolCharacters: 2048 },
  roles: { python, tests: python },
  async setup({ options, tools }) {
    const tests = await tools.tests!({});
    try {
      return {
        tests,
        python: options.tools === 'python' ? await tools.python!({}) : undefined,
      };
    } catch (error) {
      await tests.close?.();
      throw error;
    }
  },
  async teardown({ tests, python }) {
    await tests.close?.();
    await python?.close?.();
  },
  tasks: ({ options: { tasks, maxSteps }, seed }) =>
    generatedTasks(tasks, (split, index) => drawTask(createRng(seed, 'code', split, index), split, maxSteps)),
  rewards: {
    /** The function passes all hidden tests. */
    correct: { kind: 'outcome' },
    /** Share of the hidden tests that it passes. */
    passed: { kind: 'outcome', weight: 0 },
  },
  episode({ task, prompt, shared: { tests, python }, rng }) {
    const mark = `${rng.int(2 ** 31).toString(36)}:`;
    const shown = task.examples.map(
      ({ input, output }) => `solve(${toPython(input)}) == ${toPython(output)}`,
    );
    return {
      messages: [
        {
          role: 'system',
          content: python ? `${prompt('system')} You may run Python before.` : prompt('system'),
        },
        { role: 'user', content: `${task.question}\n\nExamples:\n${shown.join('\n')}` },
      ],
      tools: python ? [python] : [],
      async onAnswer(answer, { call }) {
        const code = solutionOf(answer);
        let passed = 0;
        if (mayPass(code)) {
          const inputs = task.tests.map(({ input }) => input);
          const { text } = await call(tests, { code: trialOf(code, inputs, mark) });
          const outputs = task.tests.map(({ output }) => output);
          passed = judge(text, outputs, mark).filter((isRight) => isRight).length;
        }
        const share = passed / task.tests.length;
        return { rewards: { correct: Math.floor(share), passed: share }, end: 'answered' };
      },
    };
  },
  oracle:
    ({ reference, examples }) =>
    ({ tools }, turn) => {
      const tool = tools[0];
      const tries = examples.map(({ input }) => `print(solve(${toPython(input)}))`);
      if (tool && turn === 0)
        return [{ name: tool.name, arguments: { code: [reference, ...tries].join('\n') } }];
      return `\`\`\`python\n${reference}\n\`\`\``;
    },
  label: ({ reference }) => reference,
});
