/** Mistakes in oracles, and in the players of an environment. */
import type { Mistake } from './mistake.ts';
import { guess, price, sum } from './right-environments.ts';

export const mistakes: readonly Mistake[] = [
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
];
