/** `gsm8k-v1`: the problems of GSM8K (arXiv 2110.14168), with a calculator or without, scored as the authors' script does. */
import { defineToolEnv, type PublishedData, type TaskSet, type TaskSources } from '@toolenv/core';
import { dataset } from '@toolenv/dataset';
import { calculate } from './arithmetic/calculate-tool.ts';

interface Problem {
  question: string;
  /** As the authors write it, with a calculation in each `<<…>>`, and the answer after `####`. */
  solution: string;
  answer: string;
}

const hub = 'hf:openai/gsm8k';
const address = 'https://raw.githubusercontent.com/openai/grade-school-math/master/grade_school_math/data';

const data: PublishedData = {
  files: Object.entries({
    'train.jsonl': '17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465',
    'test.jsonl': '3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14',
  }).map(([name, sha256]) => ({ name, url: `${address}/${name}`, sha256 })),
  options: { path: 'train.jsonl', testPath: 'test.jsonl' },
  license: 'MIT, https://github.com/openai/grade-school-math',
};

const row = {
  type: 'object',
  properties: { question: { type: 'string', minLength: 1 }, answer: { type: 'string' } },
  required: ['question', 'answer'],
} as const;

export default defineToolEnv({
  name: 'gsm8k-v1',
  description: 'The word problems of GSM8K, with a calculator or without.',
  data,
  options: {
    properties: {
      path: {
        type: 'string',
        minLength: 1,
        default: hub,
        description: "file of the training problems in the authors' format, or a dataset of the Hub",
      },
      testPath: {
        type: 'string',
        minLength: 1,
        description: 'file of the test problems (default: none, or those of the dataset of the Hub)',
      },
      validationTasks: {
        type: 'integer',
        minimum: 0,
        default: 473,
        description: 'problems at the end of path that are for validation',
      },
      calculator: { type: 'boolean', default: true, description: 'whether there is the tool calculate' },
    },
  },
  prompts: { system: 'Solve the problem. End with #### and the answer, a number without a unit.' },
  limits: { maxTurns: 12, maxCallsPerTurn: 4 },
  async tasks({ options: { path, testPath = path.startsWith('hf:') ? path : undefined, validationTasks } }) {
    const problems = (from: string, split: 'train' | 'test') =>
      dataset(from, {
        schema: row,
        map: toProblem,
        ...(from.startsWith('hf:') && { split, config: 'main' }),
      });
    const all = problems(path, 'train');
    const border = async () => Math.max(0, (await all.length) - validationTasks);
    const sources: TaskSources<Problem> = {
      train: async () => between(all, 0, await border()),
      validation: async () => between(all, await border(), await all.length),
    };
    return testPath === undefined ? sources : { ...sources, test: problems(testPath, 'test') };
  },
  rewards: {
    correct: { kind: 'outcome', score: ({ answer, task }) => Number(readAnswer(answer) === task.answer) },
    /** Whether there was an answer after ####. */
    format: { kind: 'outcome', weight: 0, score: ({ answer }) => Number(readAnswer(answer) !== undefined) },
  },
  episode: ({ task, prompt, options }) => ({
    messages: [
      { role: 'system', content: prompt('system') },
      { role: 'user', content: task.question },
    ],
    tools: options.calculator ? [calculate] : [],
  }),
  oracle: ({ solution }) => {
    const calls = calculations(solution);
    const text = solution.replaceAll(/<<[^>]*>>/g, '');
    return ({ tools }, turn) => (tools.length > 0 && calls[turn]) || text;
  },
  // A problem may name its answer by chance.
  label: ({ question, answer }) => (question.includes(answer) ? undefined : answer),
});

/** The digits after the first `####`, without commas: `extract_answer` of the authors' dataset.py. */
function readAnswer(text = ''): string | undefined {
  return /#### (-?[0-9.,]+)/.exec(text)?.[1]?.replaceAll(',', '');
}

function toProblem({ question, answer: solution }: { question: string; answer: string }): Problem {
  const answer = readAnswer(solution);
  if (answer === undefined) throw new Error('the answer has no number after ####');
  return { question, solution, answer };
}

/** A call for each calculation, one after the other. Two of the authors' calculations divide whole numbers by Python's `//`. */
function calculations(solution: string) {
  const expressions = [...solution.matchAll(/<<([^=>]*)=/g)].map(([, each]) => each!.replace('//', '/'));
  return expressions.map((expression) => [{ name: 'calculate', arguments: { expression } }]);
}

/** The tasks from one index to before another. */
function between<Task>(set: TaskSet<Task>, from: number, to: number): TaskSet<Task> {
  return { length: to - from, get: (index) => set.get(from + index) };
}
