/** Stories of arithmetic-v1: an amount that grows and shrinks. `{name}` is a person; `{n}` is a number. */
import type { BinaryOperator } from './evaluate-expression.ts';

export interface Story {
  /** `{a}` times `{b}` is the amount at first. */
  begin: string;
  /** Sentences that change the amount by `{n}`. Each occurs at most once in a problem. */
  changes: readonly (readonly [BinaryOperator, string])[];
  ask: string;
}

export const stories: readonly Story[] = [
  {
    begin: '{name} buys {a} boxes of {b} pencils.',
    changes: [
      ['+', 'A friend gives {name} {n} more pencils.'],
      ['+', 'Under a desk, {name} finds {n} pencils.'],
      ['-', '{name} lends {n} of the pencils to classmates, who lose them.'],
      ['-', 'In the rain, {n} pencils are ruined and thrown away.'],
      ['*', 'A teacher gives {name} so many that there are {n} times as many pencils.'],
      ['/', '{name} sorts all pencils into {n} equal groups and keeps one group.'],
    ],
    ask: 'How many pencils does {name} have now?',
  },
  {
    begin: 'For {a} weeks, {name} saves {b} dollars a week.',
    changes: [
      ['+', 'An aunt gives {name} {n} dollars.'],
      ['+', '{name} sells an old bicycle for {n} dollars.'],
      ['-', '{name} spends {n} dollars on books.'],
      ['-', 'A concert ticket costs {name} {n} dollars.'],
      ['*', 'An uncle adds so much that {name} has {n} times as much money.'],
      ['/', '{name} divides the money into {n} equal shares, keeps one and gives the others away.'],
    ],
    ask: 'How many dollars does {name} have now?',
  },
  {
    begin: '{name} fills {a} buckets with {b} litres of water each and pours them into an empty tank.',
    changes: [
      ['+', 'A shower of rain adds {n} litres.'],
      ['+', 'With a hose, {name} adds {n} litres.'],
      ['-', 'Overnight, {n} litres leak out.'],
      ['-', '{name} takes {n} litres from the tank for the garden.'],
      ['*', 'A pump then works until the tank has {n} times as much water as before.'],
      ['/', '{name} spreads the water evenly over this and other tanks, {n} in all.'],
    ],
    ask: 'How many litres of water are in this tank of {name} now?',
  },
  {
    begin: '{name} bakes {a} trays of {b} cookies.',
    changes: [
      ['+', 'A neighbour brings {n} cookies.'],
      ['+', 'From the last party, {name} still has {n} cookies and adds them.'],
      ['-', 'The children eat {n} cookies.'],
      ['-', 'In the oven, {n} of the cookies were burnt, and {name} throws them away.'],
      ['*', '{name} bakes again until there are {n} times as many cookies.'],
      ['/', '{name} packs the cookies into {n} equal bags and sells all bags but one.'],
    ],
    ask: 'How many cookies does {name} have now?',
  },
  {
    begin: 'On a farm, {name} picks {a} baskets of {b} apples.',
    changes: [
      ['+', 'From another tree, {name} picks {n} apples.'],
      ['+', 'A farmer nearby gives {name} {n} apples.'],
      ['-', '{name} sells {n} apples at the market.'],
      ['-', 'The horses get {n} of the apples.'],
      ['*', 'After another day of picking, {name} has {n} times as many apples.'],
      ['/', '{name} and some helpers divide the apples equally, {n} people in all.'],
    ],
    ask: 'How many apples does {name} have now?',
  },
  {
    begin: '{name} has an album of {a} pages with {b} stamps on each.',
    changes: [
      ['+', 'At a flea market, {name} buys {n} stamps.'],
      ['+', 'A letter from abroad brings {n} more stamps.'],
      ['-', '{name} trades {n} stamps for a coin.'],
      ['-', 'The dog chews {n} stamps to pieces.'],
      ['*', '{name} inherits a collection and then has {n} times as many stamps.'],
      ['/', '{name} gives the stamps in equal parts to {n} albums and keeps one of the albums.'],
    ],
    ask: 'How many stamps does {name} have now?',
  },
];
