/** The page of the price: what imitation of right answers does not learn. */
import type { Family } from '../../tiny-policy/families.ts';
import { mixAt } from '../baselines.ts';
import { signed } from '../intervals.ts';
import { type Decoding, measuredPrices, rowsAt } from '../price-page.ts';
import type { Result } from '../results.ts';
import { nameAt, type Study } from '../studies.ts';
import { mean, type RowSummary } from '../summary.ts';
import type { Introduce } from './introduction.ts';
import { averageOf, bestOf, countOf, differenceBetween, worldsOf } from './phrases.ts';

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
    introduction: `A claim about a world is right or wrong, and checking it takes one search or three. A right answer is worth 1, and each search costs ${main}: utility is the
exact match (EM) minus the price of the searches. A guess costs nothing and is worth 0.5, so that a claim of one hop is worth its search, and a claim of three hops is
worth a guess. The tables have the mean utility of greedy answers to ${countOf(results)} test questions of each sort, as means over ${worldsOf(rows)} worlds with 95 % intervals. Every agent begins
with the same policy and makes ${study.steps} updates, each from ${study.tasksPerStep * study.groupSize} episodes.

- **What did the model know before?** It learned from demonstrations in other worlds, by players who do not know the price: they check six claims of ten and guess the
  others, whatever the claim. Its utility: ${averageOf(rows, 'Start')}.
- **What is the ceiling?** The demonstrator knows the world and the price, and guesses where a search does not pay: ${averageOf(rows, 'Demonstrator')}.
- **What do the rows know?** SFT on demonstrations sees more of the same demonstrations. Four rows are rejection sampling: they imitate the right answers of each group of
  ${study.groupSize}, all of them, or the 6, 4 or 1 with the fewest searches. Online DPO, PPO, RLOO, REINFORCE++ and GRPO see the utility. The demonstrations that know the price are
  the solution itself.
- **Why should imitation of right answers fail here?** One episode does not show whether its answer was a lucky guess, and a filter has one rule for all claims. All right answers
  have fewer guesses than the policy; the cheapest right answer of eight is mostly a guess. Whatever share of claims a policy guesses, it earns 0.5 at this price if it
  does not look at the claim. An advantage compares a guess with what the other episodes of the same claim earned.
- **Does reinforcement learning teach what imitation does not?** GRPO, scaled by the batch, minus the best row of imitation${best ? `, ${best.name}: ${against(best.name)}` : ': not measured'}.${
      best
        ? ` In the single worlds: ${byWorld(rows, best.name)}. The other algorithms that see the utility, minus that row: ${othersMinusImitation(study, results)}.`
        : ''
    }
- **Why by the batch?** GRPO divides advantages by the standard deviation of their group. Among seven searches, a guess that is lucky then counts as much as a guess that is not, and
  nothing keeps the policy from guessing. In some worlds, GRPO ends at guessing every claim. GRPO scaled by the batch minus GRPO is
  ${against('GRPO')}; in the single worlds ${byWorld(rows, 'GRPO')}.
- **Does it need the rewards?** GRPO with rewards that are shuffled in each rollout, minus the start: ${differenceBetween(rows, 'GRPO with shuffled rewards', 'Start')}.
${otherPrices.length > 0 ? followsPrice(study, results, [main!, ...otherPrices]) : ''}- **What can this study not show?** The model is small, and its habit was taught on purpose. The two sorts and the price were chosen so that one rule for all claims earns as little as
  possible: claims of two hops are worth the same either way. No learning rate was tuned: all are 1e-4, and the critic's 3e-4. With demonstrations that know the price, nothing is left to
  reinforce: GRPO, scaled by the batch, minus SFT on demonstrations that know the price is ${against('SFT on demonstrations that know the price')}.`,
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
  return `- **Does it follow the price?** It pays most ${list.format(prices.map((price) => bestRule(study, price)))}. GRPO, scaled by the batch, was trained at each price. Its searches
  for a claim of one hop and for a claim of three hops: ${searches.join(', ')}. Where one rule for all claims is best, imitation may happen to learn that
  rule. GRPO minus the best row of imitation: ${gains.join('; ')}.
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
