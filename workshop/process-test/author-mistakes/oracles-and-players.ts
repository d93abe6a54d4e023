/** Mistakes in oracles, and in the players of an environment. */
import { type Mistake, mistakesIn } from './mistake.ts';
import { guess, price, sum } from './right-environments.ts';

export const mistakes: readonly Mistake[] = [
  ...mistakesIn(sum, {
    'an oracle with arguments as JSON': [
      ['arguments: { a, b }', 'arguments: JSON.stringify({ a, b })'],
      /toolCalls\/0\/arguments must be object/,
    ],
    'an oracle that calls another tool': [
      ["name: 'add', arguments", "name: 'sum', arguments"],
      /a mistake in a call \(unknown_tool\).*received sum\. Available tools: add/,
    ],
  }),
  ...mistakesIn(guess, {
    'an oracle of one text': [
      ['[String(number)]', 'String(number)'],
      /received the text "2"\s+hint +Give a list of turns/,
    ],
  }),
  ...mistakesIn(price, {
    'a player that is not declared': [
      ["player('buyer')", "player('byer')"],
      /no player "byer"\. Did you mean "buyer"\?/,
    ],
    'a reward for a player that is not declared': [
      ['playerRewards: { buyer', 'playerRewards: { byer'],
      /rewards a player "byer".* Did you mean "buyer"\?/,
    ],
    'an ask without await': [
      ["await player('buyer')", "player('buyer')"],
      /reading 'startsWith'\), at .*env-v1\.ts:21:17/,
    ],
    'play names no script': [
      ["play: 'plain'", "play: 'plian'"],
      /"buyer" is to be played by "plian"\. Did you mean "plain"\?/,
    ],
  }),
];
