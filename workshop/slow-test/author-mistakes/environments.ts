/** Mistakes in environments: the definition, tasks, episodes, rewards, players and prompts. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import type { Mistake } from './mistake.ts';

const sum = `
import { defineTool, defineToolEnv } from '@toolenv/core';

const add = defineTool('add', 'Add two numbers.', { a: { type: 'number' }, b: { type: 'number' } }, ({ a, b }) => String(a + b));

export default defineToolEnv({
  name: 'sum-v1',
  description: 'Add two numbers.',
  limits: { maxTurns: 4 },
  tasks: { train: [{ a: 1, b: 2 }, { a: 3, b: 4 }, { a: 5, b: 7 }], test: [{ a: 2, b: 9 }] },
  rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === String(task.a + task.b)) } },
  episode: ({ task }) => ({ messages: \`What is \${task.a} + \${task.b}?\`, tools: [add] }),
  oracle: ({ a, b }) => [[{ name: 'add', arguments: { a, b } }], String(a + b)],
});
`;

const guess = `
import { defineToolEnv } from '@toolenv/core';

export default defineToolEnv({
  name: 'guess-v1',
  description: 'Guess a number from 1 to 9.',
  limits: { maxTurns: 6 },
  tasks: { train: [2, 5, 8], test: [3, 9] },
  rewards: { found: { kind: 'outcome' } },
  episode: ({ task: number }) => ({
    messages: 'Guess my number.',
    onAnswer(answer) {
      if (Number(answer) === number) return { rewards: { found: 1 }, end: 'found' };
      return Number(answer) < number ? 'Higher.' : 'Lower.';
    },
  }),
  oracle: (number) => [String(number)],
});
`;

const price = `
import { defineToolEnv } from '@toolenv/core';

export default defineToolEnv({
  name: 'price-v1',
  description: 'Sell a lamp.',
  tasks: { train: [{ most: 40 }, { most: 50 }], test: [{ most: 60 }] },
  players: {
    buyer: {
      description: 'the buyer',
      play: 'plain',
      scripts: { plain: ({ task }, { messages }) => (Number(/\\d+/.exec(messages.at(-1)!.content)?.[0]) <= task.most ? 'Deal' : 'No') },
    },
  },
  rewards: { price: { kind: 'outcome' } },
  episode: ({ player }) => ({
    messages: 'Sell the lamp. Answer with a price.',
    async onAnswer(offer) {
      const price = Number(/\\d+/.exec(offer)?.[0] ?? 0);
      const { text } = await player('buyer').ask(\`The seller wants \${price}. Answer Deal or No.\`);
      if (!text.startsWith('Deal')) return \`The buyer says: \${text}\`;
      return { end: 'sold', rewards: { price: Math.min(price, 100) / 100 }, playerRewards: { buyer: { price: 1 - Math.min(price, 100) / 100 } } };
    },
  }),
  oracle: ({ most }) => [String(most)],
  best: ({ most }) => most / 100,
});
`;

const capital = `
import { defineToolEnv } from '@toolenv/core';

export default defineToolEnv({
  name: 'capital-v1',
  description: 'Name a capital.',
  prompts: { system: 'Answer with the name alone.' },
  options: { properties: { shout: { type: 'boolean', default: false, description: 'whether to shout' } } },
  tasks: { train: [{ country: 'Peru', capital: 'Lima' }, { country: 'Kenya', capital: 'Nairobi' }] },
  rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === task.capital) } },
  episode: ({ task, prompt }) => ({
    messages: [
      { role: 'system', content: prompt('system') },
      { role: 'user', content: \`What is the capital of \${task.country}?\` },
    ],
  }),
  oracle: ({ capital }) => [capital],
});
`;
export const right: Readonly<Record<string, string>> = { sum, guess, price, capital };

export const environmentMistakes: readonly Mistake[] = [
  // The definition
  {
    did: 'reward for rewards',
    in: sum,
    edits: [['rewards:', 'reward:']],
    says: /env-v1\.ts:6:16 cannot be loaded: sum-v1: .*"reward"\. Did you mean "rewards"\?/,
  },
  { did: 'no name', in: sum, edits: [["  name: 'sum-v1',\n", '']], says: /has no "name": add it/ },
  {
    did: 'maxTurns outside of limits',
    in: sum,
    edits: [['limits: { maxTurns: 4 }', 'maxTurns: 4']],
    says: /unknown part "maxTurns"\. It belongs into "limits"/,
  },
  {
    did: 'maxTurn for maxTurns',
    in: sum,
    edits: [['maxTurns: 4', 'maxTurn: 4']],
    says: /"limits" has an unknown part "maxTurn"\. Did you mean "maxTurns"\?/,
  },
  {
    did: 'a limit as a text',
    in: sum,
    edits: [['maxTurns: 4', "maxTurns: '4'"]],
    says: /limits\/maxTurns must be integer\s+received "4"/,
  },
  {
    did: 'too few turns to win',
    in: sum,
    edits: [['maxTurns: 4', 'maxTurns: 1']],
    says: /ENV-32[\s\S]*the oracle to terminate[\s\S]*max_turns/,
  },
  {
    did: 'a toolTimeout in seconds',
    in: sum,
    edits: [
      ['maxTurns: 4', 'maxTurns: 4, toolTimeout: 5'],
      [
        '({ a, b }) => String(a + b))',
        'async ({ a, b }) => { await new Promise((resolve) => setTimeout(resolve, 50)); return String(a + b); })',
      ],
    ],
    says: /did not answer within 0\.005 s: raise the environment's toolTimeout/,
  },
  {
    did: 'no default export',
    in: sum,
    edits: [['export default', 'export const env =']],
    says: /no plugin as its default export: use defineToolEnv/,
  },
  {
    did: 'a function that defines it',
    in: sum,
    edits: [['export default ', 'export default () => ']],
    says: /it is a function: export what the function returns/,
  },
  {
    did: 'an opened environment',
    in: sum,
    edits: [
      ['defineToolEnv }', 'defineToolEnv, openEnv }'],
      ['export default defineToolEnv(', 'export default await openEnv(defineToolEnv('],
      ['String(a + b)],\n});', 'String(a + b)],\n}));'],
    ],
    says: /it is an open environment: export its definition/,
  },
  {
    did: 'a plain object',
    in: sum,
    edits: [['export default defineToolEnv({', 'export default ({']],
    says: /it is a plain object: give it to one of defineToolEnv/,
  },
  {
    did: 'a forgotten import',
    in: sum,
    edits: [['defineTool, ', '']],
    says: /env-v1\.ts:4:13 cannot be loaded: ReferenceError: defineTool is not defined/,
  },
  {
    did: 'a brace too few',
    in: sum,
    edits: [['limits: { maxTurns: 4 }', 'limits: { maxTurns: 4 ']],
    isProcess: true,
    // By tsx, and by Node itself from Node 22.
    says: /env-v1\.ts cannot be loaded: ([\s\S]*env-v1\.ts:14:1: ERROR: Expected "}"|Expected ',', got '\)')/,
  },
  {
    did: 'an import of a package that is not installed',
    in: sum,
    edits: [['export default', "import { z } from 'zodd';\nvoid z;\nexport default"]],
    says: /Cannot find package 'zodd'.*Install it: npm install zodd/,
  },
  {
    did: 'options that are values, not a schema',
    in: capital,
    edits: [
      [
        "{ properties: { shout: { type: 'boolean', default: false, description: 'whether to shout' } } }",
        '{ shout: false }',
      ],
    ],
    says: /"options" is no JSON Schema: write options: \{ properties: \{ shout/,
  },
  {
    did: 'an option whose default breaks its schema',
    in: capital,
    edits: [['default: false', "default: 'no'"]],
    says: /default \/shout must be boolean\s+received "no"/,
  },

  // Tasks
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

  // Episodes
  {
    did: 'message for messages',
    in: sum,
    edits: [['messages:', 'message:']],
    says: /unknown part "message"\. Did you mean "messages"\?/,
  },
  {
    did: 'tool for tools',
    in: sum,
    edits: [['tools: [add]', 'tool: [add]']],
    says: /unknown part "tool"\. Did you mean "tools"\?/,
  },
  {
    did: 'onAnwser',
    in: guess,
    edits: [['onAnswer', 'onAnwser']],
    says: /unknown part "onAnwser"\. Did you mean "onAnswer"\?/,
  },
  {
    did: 'a hook in the definition',
    in: sum,
    edits: [['oracle:', "onAnswer: () => ({ end: 'over' }),\n  oracle:"]],
    says: /unknown part "onAnswer"\. Return it from "episode"/,
  },
  {
    did: 'an episode without a return',
    in: sum,
    edits: [
      ['({ task }) => ({ messages', '({ task }) => { void ({ messages'],
      ['tools: [add] })', 'tools: [add] }); }'],
    ],
    says: /episode returned nothing: return an object such as \{ messages/,
  },
  {
    did: 'no messages',
    in: sum,
    edits: [['`What is ${task.a} + ${task.b}?`', '[]']],
    says: /\/messages must have at least 1 item/,
  },
  {
    did: 'a role of another API',
    in: capital,
    edits: [["role: 'user'", "role: 'human'"]],
    says: /\/messages\/1\/role must be equal to one of [\s\S]*received "human"/,
  },
  {
    did: 'text for content',
    in: capital,
    edits: [["role: 'user', content:", "role: 'user', text:"]],
    says: /\/messages\/1\/content must have required property 'content'/,
  },
  {
    did: 'tools by name, not a list',
    in: sum,
    edits: [['tools: [add]', 'tools: { add }']],
    says: /"tools" that is an object: give an array of tools/,
  },
  {
    did: 'two tools of one name',
    in: sum,
    edits: [['tools: [add]', 'tools: [add, add]']],
    says: /two tools named "add"/,
  },
  {
    did: 'a hook without a reply',
    in: guess,
    edits: [["return Number(answer) < number ? 'Higher.' : 'Lower.';", '']],
    says: /onAnswer neither replies nor ends: return a text/,
  },
  {
    did: 'done for end',
    in: guess,
    edits: [["end: 'found'", 'done: true']],
    says: /unknown part "done"\. Parts: reply, rewrite, rewards, playerRewards, end/,
  },
  {
    did: 'end: true',
    in: guess,
    edits: [["end: 'found'", 'end: true']],
    says: /\/outcome\/reason must be string\s+received true/,
  },
  {
    did: 'a hook that returns a boolean',
    in: guess,
    edits: [["return { rewards: { found: 1 }, end: 'found' };", 'return true;']],
    says: /onAnswer returned true: return a text/,
  },
  {
    did: 'a hook that ends nothing',
    in: guess,
    edits: [["{ rewards: { found: 1 }, end: 'found' }", "{ rewards: { found: 1 }, reply: 'Right.' }"]],
    says: /ENV-19[\s\S]*only in the step that ends the episode/,
  },
  {
    did: 'rewrite for a reply',
    in: guess,
    edits: [
      [
        "return Number(answer) < number ? 'Higher.' : 'Lower.'",
        "return { rewrite: [{ role: 'user', content: Number(answer) < number ? 'Higher.' : 'Lower.' }] }",
      ],
    ],
    says: /WARN-1 [\s\S]*rewrite replaces the whole context/,
  },
  {
    did: 'state of the module',
    in: guess,
    edits: [
      ['export default', 'let turns = 0;\n\nexport default'],
      ["? 'Higher.'", '? `Higher. Turn ${++turns}.`'],
    ],
    says: /ENV-11[\s\S]*Make all state in episode\(\)/,
  },
  {
    did: 'Math.random in an episode',
    in: guess,
    edits: [["'Guess my number.'", '`Guess my number ${Math.random()}.`']],
    says: /Math\.random\(\) in .*env-v1\.ts:11/,
  },
  {
    did: 'a hook that throws',
    in: guess,
    edits: [['return Number(answer) < number ?', 'return JSON.parse(answer).number < number ?']],
    says: /SyntaxError: .*at .*env-v1\.ts:14:19/,
  },
  {
    did: 'a hook that never settles',
    in: guess,
    edits: [
      [
        'onAnswer(answer) {',
        'async onAnswer(answer) {\n      if (Number(answer) !== number) await new Promise(() => {});',
      ],
    ],
    says: /ENV-28[\s\S]*nothing within 10000 ms/,
  },
  {
    did: 'a promise that nobody awaits',
    in: guess,
    edits: [
      [
        'onAnswer(answer) {',
        "onAnswer(answer) {\n      void Promise.reject(new TypeError('log is not open'));",
      ],
    ],
    isProcess: true,
    says: /was not caught: TypeError: log is not open, at .*env-v1\.ts:13:27\. Await the promise/,
  },
  {
    did: 'process.exit at the end',
    in: guess,
    edits: [
      [
        'if (Number(answer) === number)',
        'if (Number(answer) === number) process.exit(0);\n      if (Number(answer) === number)',
      ],
    ],
    isProcess: true,
    says: /a plugin called process\.exit\(\)/,
  },
  {
    did: 'the answer in the question',
    in: sum,
    edits: [
      ['What is ${', 'The sum is ${task.a + task.b}. What is ${'],
      ['oracle:', 'label: ({ a, b }) => String(a + b),\n  oracle:'],
    ],
    says: /ENV-15[\s\S]*no "3" in the first observation/,
  },
  {
    did: 'a close that throws',
    in: sum,
    edits: [['tools: [add] })', "tools: [add], close: () => { throw new Error('The file is closed.'); } })"]],
    says: /ENV-10[\s\S]*The file is closed\., at .*env-v1\.ts:12:108/,
  },

  // Rewards
  {
    did: 'no kind',
    in: sum,
    edits: [["kind: 'outcome', ", '']],
    says: /env-v1\.ts:6:16 .*kind of reward "right": give "process" or "outcome"/,
  },
  {
    did: 'a kind of its own',
    in: sum,
    edits: [["kind: 'outcome'", "kind: 'final'"]],
    says: /"final" is the kind of reward "right": give "process" or "outcome"/,
  },
  {
    did: 'weight NaN',
    in: sum,
    edits: [["kind: 'outcome',", "kind: 'outcome', weight: Number(process.env.NO_SUCH_WEIGHT),"]],
    says: /NaN is the weight of reward "right": give a finite number/,
  },
  {
    did: 'a range the wrong way round',
    in: sum,
    edits: [["kind: 'outcome',", "kind: 'outcome', range: [1, 0],"]],
    says: /\[1,0\] is the range of reward "right"/,
  },
  {
    did: 'a range of -1 to 1 forgotten',
    in: guess,
    edits: [
      [
        "return Number(answer) < number ? 'Higher.' : 'Lower.';",
        "return { rewards: { found: -1 }, end: 'lost' };",
      ],
    ],
    says: /"found" within \[0, 1\]\s+received -1/,
  },
  {
    did: 'a score of true',
    in: sum,
    edits: [['Number(answer === String(task.a + task.b))', 'answer === String(task.a + task.b)']],
    says: /\/rewards\/right must be number,null\s+received false/,
  },
  {
    did: 'a score of NaN',
    in: sum,
    edits: [
      ['Number(answer === String(task.a + task.b))', '1 / (1 + Math.abs(Number(answer) - task.a - task.b))'],
    ],
    says: /a finite "right", or null\s+received NaN/,
  },
  {
    did: 'a score without a return',
    in: sum,
    edits: [
      ['=> Number(answer === String(task.a + task.b))', '=> { void (answer === String(task.a + task.b)); }'],
    ],
    says: /\/rewards\/right must be number,null\s+received nothing/,
  },
  {
    did: 'a score that never awaits',
    in: sum,
    edits: [
      [
        'Number(answer === String(task.a + task.b))',
        'Number(Promise.resolve(answer === String(task.a + task.b)))',
      ],
    ],
    says: /a finite "right", or null\s+received NaN/,
  },
  {
    did: 'a score that throws without an answer',
    in: sum,
    edits: [['Number(answer === ', 'Number(answer!.trim() === ']],
    says: /reading 'trim'\), at .*env-v1\.ts:11:84/,
  },
  {
    did: 'a number compared with a text',
    in: sum,
    edits: [['String(task.a + task.b)', '(task.a + task.b as unknown)']],
    says: /"right" 1 for the oracle on [\s\S]*received \{"right":0\}/,
  },
  {
    did: 'a reward of another name in a hook',
    in: guess,
    edits: [['rewards: { found: 1 }', 'rewards: { foud: 1 }']],
    says: /a declared component \(found\)\s+received "foud"/,
  },
  {
    did: 'reward: 1 in a hook',
    in: guess,
    edits: [['rewards: { found: 1 }', 'reward: 1']],
    says: /unknown part "reward"\. Did you mean "rewards"\?/,
  },
  {
    did: 'a reward that nobody gives',
    in: sum,
    edits: [['rewards: {', "rewards: { steps: { kind: 'process', weight: 0.1 },"]],
    says: /WARN-4[\s\S]*differ in "steps"/,
  },
  {
    did: 'a wide reward beside a narrow one',
    in: sum,
    edits: [
      [
        'rewards: {',
        "rewards: { length: { kind: 'outcome', range: [0, 1000], score: ({ answer }) => Math.min(answer?.length ?? 0, 1000) },",
      ],
    ],
    says: /WARN-10[\s\S]*"length" in \[0, 1000\]/,
  },
  {
    did: 'a cost that pays',
    in: sum,
    edits: [
      [
        'rewards: {',
        "rewards: { calls: { kind: 'outcome', range: [0, 8], score: ({ calls }) => Math.min(calls.length, 8) },",
      ],
    ],
    says: /"calls" 8 for the oracle on [\s\S]*received \{"calls":1/,
  },

  // The oracle, players and prompts
  {
    did: 'an oracle with arguments as JSON',
    in: sum,
    edits: [['arguments: { a, b }', 'arguments: JSON.stringify({ a, b })']],
    says: /toolCalls\/0\/arguments must be object/,
  },
  {
    did: 'an oracle of one text',
    in: guess,
    edits: [['[String(number)]', 'String(number)']],
    says: /received the text "2"\s+hint +Give a list of turns/,
  },
  {
    did: 'an oracle that calls another tool',
    in: sum,
    edits: [["name: 'add', arguments", "name: 'sum', arguments"]],
    says: /a mistake in a call \(unknown_tool\).*received sum\. Available tools: add/,
  },
  {
    did: 'a player that is not declared',
    in: price,
    edits: [["player('buyer')", "player('byer')"]],
    says: /no player "byer"\. Did you mean "buyer"\?/,
  },
  {
    did: 'a reward for a player that is not declared',
    in: price,
    edits: [['playerRewards: { buyer', 'playerRewards: { byer']],
    says: /rewards a player "byer".* Did you mean "buyer"\?/,
  },
  {
    did: 'an ask without await',
    in: price,
    edits: [["await player('buyer')", "player('buyer')"]],
    says: /reading 'startsWith'\), at .*env-v1\.ts:21:17/,
  },
  {
    did: 'play names no script',
    in: price,
    edits: [["play: 'plain'", "play: 'plian'"]],
    says: /"buyer" is to be played by "plian"\. Did you mean "plain"\?/,
  },
  {
    did: 'a prompt that is not declared',
    in: capital,
    edits: [["prompt('system')", "prompt('sytem')"]],
    says: /no open text "sytem"\. Did you mean "system"\?/,
  },
];
