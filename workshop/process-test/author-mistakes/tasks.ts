/** Mistakes in the tasks of an environment. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import type { Mistake } from './mistake.ts';
import { capital, guess, sum } from './right-environments.ts';

export const mistakes: readonly Mistake[] = [
  {
    did: 'tasks as a list',
    in: sum,
    edits: [
      [
        '{ train: [{ a: 1, b: 2 }, { a: 3, b: 4 }, { a: 5, b: 7 }], test: [{ a: 2, b: 9 }] }',
        '[{ a: 1, b: 2 }, { a: 3, b: 4 }]',
      ],
    ],
    says: /"tasks" has no splits, but \[object Array\]: give the tasks of each split/,
  },
  {
    did: 'a split of another name',
    in: sum,
    edits: [['test: [', 'eval: [']],
    says: /unknown part "eval"\. Parts: train, validation, test/,
  },
  {
    did: 'a BigInt in a task',
    in: sum,
    edits: [['{ a: 1, b: 2 }', '{ a: 1, b: 2, id: 7n }']],
    says: /tasks\.train\.at\(0\)\s+received \/id is of type bigint/,
  },
  {
    did: 'a Date in a task',
    in: sum,
    edits: [['{ a: 1, b: 2 }', '{ a: 1, b: 2, day: new Date(0) }']],
    says: /received \/day is of class Date/,
  },
  {
    did: 'a function in a task',
    in: sum,
    edits: [['{ a: 1, b: 2 }', '{ a: 1, b: 2, check: () => true }']],
    says: /received \/check is of type function/,
  },
  {
    did: 'a cyclic task',
    in: sum,
    edits: [
      [
        'export default',
        'const first: { a: number; b: number; self?: unknown } = { a: 1, b: 2 };\nfirst.self = first;\n\nexport default',
      ],
      ['[{ a: 1, b: 2 }', '[first'],
    ],
    says: /received \/self contains itself/,
  },
  {
    did: 'NaN in a task',
    in: sum,
    edits: [['{ a: 3, b: 4 }', "{ a: 3, b: Number('four') }"]],
    says: /tasks\.train\.at\(1\)\s+received \/b is NaN/,
  },
  {
    did: 'an episode changes its task',
    in: sum,
    edits: [['({ messages: `What is ${task.a}', '({ messages: `What is ${task.a++}']],
    says: /the task left as it was[\s\S]*copy the task/,
  },
  {
    did: 'a promise of tasks',
    in: sum,
    edits: [
      [
        'train: [{ a: 1, b: 2 }, { a: 3, b: 4 }, { a: 5, b: 7 }]',
        'train: Promise.resolve([{ a: 1, b: 2 }, { a: 3, b: 4 }])',
      ],
    ],
    says: /tasks of a split are \[object Promise\]: give an array/,
  },
  {
    did: 'tasks without a return',
    in: sum,
    edits: [
      ['tasks: { train', 'tasks: () => { const all = { train'],
      ['b: 9 }] },', 'b: 9 }] }; void all; },'],
    ],
    says: /"tasks" has no splits, but \[object Undefined\]/,
  },
  {
    did: 'get is off by one',
    in: guess,
    edits: [['train: [2, 5, 8]', 'train: { length: 3, get: (index: number) => [2, 5, 8][index + 1]! }']],
    says: /tasks\.train\.at\(2\)\s+received undefined/,
  },
  {
    did: 'tasks from Math.random',
    in: guess,
    edits: [['train: [2, 5, 8]', 'train: { length: 9, get: () => 1 + Math.floor(Math.random() * 9) }']],
    says: /the same task from tasks\.train\.at\(\d\) (again|for the same seed)/,
  },
  {
    did: 'a test task in train',
    in: guess,
    edits: [['test: [3, 9]', 'test: [5, 9]']],
    says: /WARN-9[\s\S]*1 of 2 tasks of test, such as 5/,
  },
  {
    did: 'a slice that leaves no tests',
    in: guess,
    edits: [['test: [3, 9]', 'test: [3, 9].slice(80)']],
    says: /WARN-12[\s\S]*tasks in the split "test", which is named\s+received none, 3 in train[\s\S]*all\.slice/,
  },
  {
    did: 'a split that a function reads from nowhere',
    in: guess,
    edits: [['test: [3, 9]', 'validation: () => []']],
    says: /WARN-12[\s\S]*tasks in the split "validation"/,
  },
  {
    did: 'a task as [object Object]',
    in: sum,
    edits: [['${task.a} + ${task.b}', '${task}']],
    says: /WARN-11[\s\S]*"What is \[object Object\]\?"/,
  },
  {
    did: 'a misspelt field of the task',
    in: capital,
    edits: [['task.country', 'task.county']],
    says: /WARN-11[\s\S]*"What is the capital of undefined\?"/,
  },
];
