/** Mistakes in episodes: messages, hooks, state and prompts. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import { type Mistake, mistakesIn } from './mistake.ts';
import { capital, guess, sum } from './right-environments.ts';

export const mistakes: readonly Mistake[] = [
  ...mistakesIn(sum, {
    'message for messages': [['messages:', 'message:'], /unknown part "message"\. Did you mean "messages"\?/],
    'tool for tools': [['tools: [add]', 'tool: [add]'], /unknown part "tool"\. Did you mean "tools"\?/],
    'a hook in the definition': [
      ['oracle:', "onAnswer: () => ({ end: 'over' }),\n  oracle:"],
      /unknown part "onAnswer"\. Return it from "episode"/,
    ],
    'an episode without a return': [
      ['({ task }) => ({ messages', '({ task }) => { void ({ messages'],
      ['tools: [add] })', 'tools: [add] }); }'],
      /episode returned nothing: return an object such as \{ messages/,
    ],
    'no messages': [['`What is ${task.a} + ${task.b}?`', '[]'], /\/messages must have at least 1 item/],
    'tools by name, not a list': [
      ['tools: [add]', 'tools: { add }'],
      /"tools" that is an object: give an array of tools/,
    ],
    'two tools of one name': [['tools: [add]', 'tools: [add, add]'], /two tools named "add"/],
    'the answer in the question': [
      ['What is ${', 'The sum is ${task.a + task.b}. What is ${'],
      ['oracle:', 'label: ({ a, b }) => String(a + b),\n  oracle:'],
      /ENV-15[\s\S]*no "3" in the first observation/,
    ],
    'a close that throws': [
      ['tools: [add] })', "tools: [add], close: () => { throw new Error('The file is closed.'); } })"],
      /ENV-10[\s\S]*The file is closed\., at .*env-v1\.ts:12:108/,
    ],
  }),
  ...mistakesIn(guess, {
    onAnwser: [['onAnswer', 'onAnwser'], /unknown part "onAnwser"\. Did you mean "onAnswer"\?/],
    'a hook without a reply': [
      ["return Number(answer) < number ? 'Higher.' : 'Lower.';", ''],
      /onAnswer neither replies nor ends: return a text/,
    ],
    'done for end': [
      ["end: 'found'", 'done: true'],
      /unknown part "done"\. Parts: reply, rewrite, rewards, playerRewards, end/,
    ],
    'end: true': [["end: 'found'", 'end: true'], /\/outcome\/reason must be string\s+received true/],
    'a hook that returns a boolean': [
      ["return { rewards: { found: 1 }, end: 'found' };", 'return true;'],
      /onAnswer returned true: return a text/,
    ],
    'a hook that ends nothing': [
      ["{ rewards: { found: 1 }, end: 'found' }", "{ rewards: { found: 1 }, reply: 'Right.' }"],
      /ENV-19[\s\S]*only in the step that ends the episode/,
    ],
    'rewrite for a reply': [
      [
        "return Number(answer) < number ? 'Higher.' : 'Lower.'",
        "return { rewrite: [{ role: 'user', content: Number(answer) < number ? 'Higher.' : 'Lower.' }] }",
      ],
      /WARN-1 [\s\S]*rewrite replaces the whole context/,
    ],
    'state of the module': [
      ['export default', 'let turns = 0;\n\nexport default'],
      ["? 'Higher.'", '? `Higher. Turn ${++turns}.`'],
      /ENV-11[\s\S]*Make all state in episode\(\)/,
    ],
    'Math.random in an episode': [
      ["'Guess my number.'", '`Guess my number ${Math.random()}.`'],
      /Math\.random\(\) in .*env-v1\.ts:11/,
    ],
    'a hook that throws': [
      ['return Number(answer) < number ?', 'return JSON.parse(answer).number < number ?'],
      /SyntaxError: .*at .*env-v1\.ts:14:19/,
    ],
    'a hook that never settles': [
      [
        'onAnswer(answer) {',
        'async onAnswer(answer) {\n      if (Number(answer) !== number) await new Promise(() => {});',
      ],
      /ENV-28[\s\S]*nothing within 10000 ms/,
    ],
  }),
  ...mistakesIn(capital, {
    'a role of another API': [
      ["role: 'user'", "role: 'human'"],
      /\/messages\/1\/role must be equal to one of [\s\S]*received "human"/,
    ],
    'text for content': [
      ["role: 'user', content:", "role: 'user', text:"],
      /\/messages\/1\/content must have required property 'content'/,
    ],
    'a prompt that is not declared': [
      ["prompt('system')", "prompt('sytem')"],
      /no open text "sytem"\. Did you mean "system"\?/,
    ],
  }),
  ...mistakesIn(
    guess,
    {
      'a promise that nobody awaits': [
        [
          'onAnswer(answer) {',
          "onAnswer(answer) {\n      void Promise.reject(new TypeError('log is not open'));",
        ],
        /was not caught: TypeError: log is not open, at .*env-v1\.ts:13:27\. Await the promise/,
      ],
      'process.exit at the end': [
        [
          'if (Number(answer) === number)',
          'if (Number(answer) === number) process.exit(0);\n      if (Number(answer) === number)',
        ],
        /a plugin called process\.exit\(\)/,
      ],
      'process.exit with a code': [
        [
          'if (Number(answer) === number)',
          'if (Number(answer) === number) process.exit(3);\n      if (Number(answer) === number)',
        ],
        /a plugin called process\.exit\(\), at .*env-v1\.ts:\d+:\d+, so the command did not end/,
      ],
    },
    { isProcess: true },
  ),
];
