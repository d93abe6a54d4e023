/** The page of the price: what imitation of right answers does not learn. */
import type { Family } from '../../workshop/tiny-policy/families.ts';
import { mixAt } from '../leaderboard/baselines.ts';
import type { Introduce } from '../leaderboard/introduction.ts';
import { bestOf, countOf, differenceBetween, worldsOf } from '../leaderboard/phrases.ts';
import type { Result } from '../leaderboard/results.ts';
import type { Study } from '../leaderboard/study.ts';
import type { RowSummary } from '../leaderboard/summary.ts';
import { mean, signed } from '../shared/intervals.ts';
import { nameAt } from './study.ts';
import { type Decoding, measuredPrices, rowsAt } from './utility.ts';

/** The row that the others are compared with. */
export const ours = 'GRPO scaled by the batch';

/** The other rows that see the utility. */
const others = ['PPO', 'RLOO', 'REINFORCE++', 'Online DPO', 'GRPO'];

/** Rows that learn from demonstrations or from chosen episodes, with as many episodes and updates as GRPO. */
const imitators = ['SFT on demonstrations', 'All right answers', 'Best 6 of 8', 'Best 4 of 8', 'Best of 8'];

export const price: Introduce = (study, _rows, results) => {
  const [main, ...otherPrices] = measuredPrices(study, results);
  const rows = rowsAt(study, results, main!);
  const sampled = rowsAt(study, results, main!, 'sampled');
  const best = bestImitator(rows, main!);
  const against = (name: string) =>
    `${differenceBetween(rows, ours, name)} (sampled answers: ${differenceBetween(sampled, ours, name)})`;
  return {
    title: 'A price for searching',
    introduction: `Do rewards teach when to search, and imitation of right answers not? GRPO, scaled by the batch, minus the best row of imitation${best ? `, ${best.name}: ${against(best.name)} of utility` : ': not measured'}.${
      best
        ? ` In the single worlds: ${byWorld(rows, best.name)}. The other algorithms that see the utility, minus that row: ${othersMinusImitation(study, results)}.`
        : ''
    }

Checking a claim takes one search or three. A right answer is worth 1, a guess 0.5, and each search costs ${main}: utility is the exact match (EM) minus the price of the
searches. So a claim of one hop is worth its search, and a claim of three hops a guess. Means over ${worldsOf(rows)} worlds of greedy answers to ${countOf(results)} test questions of each sort, with 95 %
intervals. Every agent makes ${study.steps} updates of ${study.tasksPerStep * study.groupSize} episodes.

- **What do the rows know?** The start learned in other worlds from players who guess four claims of ten, whatever the claim; SFT sees more of them. Four rows imitate right answers of each group of
  ${study.groupSize}: all, or the 6, 4 or 1 with the fewest searches. The others see the utility. The demonstrator knows the world and the price.
- **Why does imitation fail?** One episode does not show whether its answer was a lucky guess, and a filter has one rule for all claims, which earns 0.5 at this price. An
  advantage compares a guess with the other episodes of the same claim.
- **Why by the batch?** GRPO divides by the standard deviation of a group, so among seven searches a lucky guess counts as much as an unlucky one, and in some worlds GRPO
  ends at guessing every claim. By the batch minus GRPO: ${against('GRPO')}; in the single worlds ${byWorld(rows, 'GRPO')}.
- **Does it need the rewards?** GRPO with shuffled rewards, minus the start: ${differenceBetween(rows, 'GRPO with shuffled rewards', 'Start')}.
${otherPrices.length > 0 ? followsPrice(study, results, [main!, ...otherPrices]) : ''}- **What can this study not show?** The model is small, its habit was taught on purpose, and the sorts and the price were chosen so that one rule for all claims earns as little as
  possible. No learning rate was tuned: all are 1e-4, and the critic's 3e-4. Demonstrations that know the price teach it too: GRPO, scaled by the batch, minus them is
  ${against('SFT on demonstrations that know the price')}.`,
    explanation: '',
  };
};

/** {@link ours} minus another row, in the order of the worlds. */
function byWorld(rows: readonly RowSummary[], reference: string): string {
  const [one, other] = [ours, reference].map((name) => rows.find((row) => row.name === name)?.bySeed);
  if (!one || !other) return 'not measured';
  const worlds = [...one.keys()].filter((seed) => other.has(seed)).sort((a, b) => a - b);
  return worlds.map((seed) => signed(one.get(seed)! - other.get(seed)!)).join(', ');
}

const decodings = ['scores', 'sampled'] as const;

/** What {@link ours} does at prices where another habit pays most. */
function followsPrice(study: Study, results: readonly Result[], prices: readonly number[]): string {
  const [one, three] = study.scoredOn;
  const searches = prices.map((price) => {
    const own = results.filter(({ row }) => row === nameAt(ours, price));
    const of = (claims: Family) => mean(own.map(({ scores }) => scores[claims]!.searches!)).toFixed(2);
    return `${of(one!)} and ${of(three!)} at ${price}`;
  });
  const gains = prices.slice(1).map((price) => {
    const [greedy, sampled] = decodings.map((decoding) => minusBestImitator(study, results, price, decoding));
    return `at ${price}, ${greedy!.difference} (${greedy!.than}; sampled answers: ${sampled!.difference}, ${sampled!.than})`;
  });
  return `- **Does it follow the price?** It pays most ${list.format(prices.map((price) => bestRule(study, price)))}. Searches of GRPO, scaled by the batch, for a claim of one hop and
  of three, trained at each price: ${searches.join(', ')}. Where one rule is best, imitation may happen to learn it. GRPO minus the best
  row of imitation: ${gains.join('; ')}.
`;
}

const list = new Intl.ListFormat('en');

/** What the demonstrator does who knows the price. */
function bestRule({ scoredOn }: Study, price: number): string {
  const guessed = scoredOn.filter((claims) => 'guess' in mixAt(price, claims));
  if (guessed.length === 0) return `to check every claim at ${price}`;
  return `to guess ${guessed.length === scoredOn.length ? 'every claim' : guessed.join(' and ')} at ${price}`;
}

/** At the first price of the study: {@link ours} minus the best row of imitation. */
export function minusImitation(study: Study, results: readonly Result[]): string {
  return minusBestImitator(study, results, study.prices![0]!).difference;
}

/** At the first price of the study: the {@link others} minus the best row of imitation. */
export function othersMinusImitation(study: Study, results: readonly Result[]): string {
  const price = study.prices![0]!;
  const rows = rowsAt(study, results, price);
  const best = bestImitator(rows, price);
  if (!best) return 'not measured';
  return others.map((name) => `${name} ${differenceBetween(rows, name, best.name)}`).join(', ');
}

function minusBestImitator(
  study: Study,
  results: readonly Result[],
  price: number,
  decoding: Decoding = 'scores',
): { difference: string; than: string } {
  const rows = rowsAt(study, results, price, decoding);
  const best = bestImitator(rows, price);
  if (!best) return { difference: 'not measured', than: 'imitation' };
  return { difference: differenceBetween(rows, nameAt(ours, price), best.name), than: best.name };
}

function bestImitator(rows: readonly RowSummary[], price: number): RowSummary | undefined {
  return bestOf(
    rows.filter(({ name }) => imitators.some((each) => [each, nameAt(each, price)].includes(name))),
  );
}
