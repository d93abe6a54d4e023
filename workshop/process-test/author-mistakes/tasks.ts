/** Mistakes in the tasks of an environment. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import { type Mistake, mistakesIn } from './mistake.ts';
import { capital, guess, sum } from './right-environments.ts';

export const mistakes: readonly Mistake[] = [
  ...mistakesIn(sum, {
    'tasks as a list': [
      [
        '{ train: [{ a: 1, b: 2 }, { a: 3, b: 4 }, { a: 5, b: 7 }], test: [{ a: 2, b: 9 }] }',
        '[{ a: 1, b: 2 }, { a: 3, b: 4 }]',
      ],
      /"tasks" has no splits, but \[object Array\]: give the tasks of each split/,
    ],
    'a split of another name': [
      ['test: [', 'eval: ['],
      /unknown part "eval"\. Parts: train, validation, test/,
    ],
    'a BigInt in a task': [
      ['{ a: 1, b: 2 }', '{ a: 1, b: 2, id: 7n }'],
      /tasks\.train\.at\(0\)\s+received \/id is of type bigint/,
    ],
    'a Date in a task': [
      ['{ a: 1, b: 2 }', '{ a: 1, b: 2, day: new Date(0) }'],
      /received \/day is of class Date/,
    ],
    'a function in a task': [
      ['{ a: 1, b: 2 }', '{ a: 1, b: 2, check: () => true }'],
      /received \/check is of type function/,
    ],
    'a cyclic task': [
      [
        'export default',
        'const first: { a: number; b: number; self?: unknown } = { a: 1, b: 2 };\nfirst.self = first;\n\nexport default',
      ],
      ['[{ a: 1, b: 2 }', '[first'],
      /received \/self contains itself/,
    ],
    'NaN in a task': [
      ['{ a: 3, b: 4 }', "{ a: 3, b: Number('four') }"],
      /tasks\.train\.at\(1\)\s+received \/b is NaN/,
    ],
    'an episode changes its task': [
      ['({ messages: `What is ${task.a}', '({ messages: `What is ${task.a++}'],
      /the task left as it was[\s\S]*copy the task/,
    ],
    'a promise of tasks': [
      [
        'train: [{ a: 1, b: 2 }, { a: 3, b: 4 }, { a: 5, b: 7 }]',
        'train: Promise.resolve([{ a: 1, b: 2 }, { a: 3, b: 4 }])',
      ],
      /tasks of a split are \[object Promise\]: give an array/,
    ],
    'tasks without a return': [
      ['tasks: { train', 'tasks: () => { const all = { train'],
      ['b: 9 }] },', 'b: 9 }] }; void all; },'],
      /"tasks" has no splits, but \[object Undefined\]/,
    ],
    'a task as [object Object]': [
      ['${task.a} + ${task.b}', '${task}'],
      /WARN-11[\s\S]*"What is \[object Object\]\?"/,
    ],
  }),
  ...mistakesIn(guess, {
    'get is off by one': [
      ['train: [2, 5, 8]', 'train: { length: 3, get: (index: number) => [2, 5, 8][index + 1]! }'],
      /tasks\.train\.at\(2\)\s+received undefined/,
    ],
    'tasks from Math.random': [
      ['train: [2, 5, 8]', 'train: { length: 9, get: () => 1 + Math.floor(Math.random() * 9) }'],
      /the same task from tasks\.train\.at\(\d\) (again|for the same seed)/,
    ],
    'a test task in train': [
      ['test: [3, 9]', 'test: [5, 9]'],
      /WARN-9[\s\S]*1 of 2 tasks of test, such as 5/,
    ],
    'a slice that leaves no tests': [
      ['test: [3, 9]', 'test: [3, 9].slice(80)'],
      /WARN-12[\s\S]*tasks in the split "test", which is named\s+received none, 3 in train[\s\S]*all\.slice/,
    ],
    'a split that a function reads from nowhere': [
      ['test: [3, 9]', 'validation: () => []'],
      /WARN-12[\s\S]*tasks in the split "validation"/,
    ],
  }),
  ...mistakesIn(capital, {
    'a misspelt field of the task': [
      ['task.country', 'task.county'],
      /WARN-11[\s\S]*"What is the capital of undefined\?"/,
    ],
  }),
];
