/** Mistakes in episodes: messages, hooks, state and prompts. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import type { Mistake } from './mistake.ts';
import { capital, guess, sum } from './right-environments.ts';

export const mistakes: readonly Mistake[] = [
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
    did: 'process.exit with a code',
    in: guess,
    edits: [
      [
        'if (Number(answer) === number)',
        'if (Number(answer) === number) process.exit(3);\n      if (Number(answer) === number)',
      ],
    ],
    isProcess: true,
    says: /a plugin called process\.exit\(\), at .*env-v1\.ts:\d+:\d+, so the command did not end/,
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
  {
    did: 'a prompt that is not declared',
    in: capital,
    edits: [["prompt('system')", "prompt('sytem')"]],
    says: /no open text "sytem"\. Did you mean "system"\?/,
  },
];
