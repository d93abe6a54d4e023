/** What each page says before and after its tables. */
import { differenceText, estimate, estimateText, pairedDifference } from './intervals.ts';
import { markdownTable } from './markdown-table.ts';
import { atPrice } from './price-page.ts';
import type { Recovery } from './recovery.ts';
import type { Result } from './results.ts';
import { chances } from './sort-scores.ts';
import type { Study } from './studies.ts';
import { difference as differenceOf, mean, type RowSummary, summarise } from './summary.ts';

interface Introduction {
  title: string;
  introduction: string;
  explanation: string;
}

type Introduce = (study: Study, rows: readonly RowSummary[], results: readonly Result[]) => Introduction;

const table: Introduce = (study, rows, results) => {
  const best = bestAgent(study, rows);
  return {
    title: 'Agents on synthetic worlds',
    introduction: `Exact match (EM) and F1 of greedy answers to ${countOf(results)} test questions of each dataset, as means over ${worldsOf(rows)} worlds with 95 %
intervals. All rows have the same model, search index and questions.

- **What is the ceiling?** The demonstrator knows each world and plays a good strategy with the same search tool: ${averageOf(rows, 'Demonstrator')}.
- **What can this table show, and what not?** How near each trainer comes to a skill that supervised training has already taught. It shows little of comparisons. Half of
  their questions ask for yes or no, and half for one of two names. Who answers the first half and draws a name by a coin has 0.75; who draws each word of a
  name of two words, 0.625. The rows lie between: they differ mostly in whether they write one of the two names whole.
- **What did the model know before?** It learned to search in other worlds, on bridge and comparison questions. A last supervised phase gave it bad habits on purpose: from ${averageOf(rows, 'Best supervised phase')} down to ${averageOf(rows, 'Base Tool Call')}, where every agent starts. So an agent must beat the row
  “Best supervised phase”, which is from another run of the recipe, to show more than it could do before.${best ? ` The best agent, ${best.name}, minus that row: ${differenceTo(rows, best, 'Best supervised phase')}.` : ''}
- **Is reinforcement learning needed?**${
      best
        ? ` ${best.name} minus supervised training on the demonstrator’s episodes: ${differenceTo(rows, best, 'SFT on demonstrations')}. Minus rejection sampling: ${differenceTo(rows, best, 'Rejection sampling')}. Rejection sampling
  imitates the best of each ${study.groupSize} episodes even if its answer is wrong, because a found document has a reward of its own. [The study of the budget](budget.md) judges by
  the answer.`
        : ''
    }
- **When did training end?** After ${study.patience} evaluations on ${study.evaluationEpisodes} validation questions without a new best, one every ${study.evaluateEvery} steps, or after ${study.steps} steps. The
  weights of the best evaluation were scored; the table has their step. Each update uses ${study.tasksPerStep * study.groupSize} episodes.
- **Who chose the learning rates?** Validation questions in another world: see below. REINFORCE++, REINFORCE++-baseline and RLOO have the rate of GRPO.
- **Is it chance?** All rows played the same ${worldsOf(rows)} worlds, so differences are paired. Read the intervals below, not the order of the rows.`,
    explanation: sortSection(rows, results),
  };
};

/** Exact match by sort of question, of the results that have it. */
function sortSection(rows: readonly RowSummary[], results: readonly Result[]): string {
  const sorts = Object.keys(chances);
  const lines = rows.flatMap(({ name }) => {
    const own = results.filter((result) => result.row === name && result.scores.comparison?.sorts);
    if (own.length === 0) return [];
    const cells = sorts.map((sort) => mean(own.map(({ scores }) => scores.comparison!.sorts![sort]!.em)));
    return [[name, ...cells.map((em) => em.toFixed(3)), own.map(({ seed }) => seed).join(', ')]];
  });
  if (lines.length === 0) return '';
  const chance = ['A guess of the right kind', ...sorts.map((sort) => chances[sort]!.toFixed(3)), ''];
  return `## Comparisons by sort of question\n\n${markdownTable(['row', ...sorts, 'worlds'], [chance, ...lines])}`;
}

const masks: Introduce = (study, rows, results) => ({
  title: 'What the masks are worth',
  introduction: `The action mask keeps the environment’s tokens out of the loss. The advantage mask keeps them out of returns, advantages and the critic’s loss. Each
row trains without one mask, or without both, and is otherwise equal: ${study.steps} updates of ${study.tasksPerStep * study.groupSize} episodes, the same start, the same ${worldsOf(rows)} worlds, and the settings
of [the table](table.md). PPO has γ = 1 and λ = 0.95. Scores are exact match (EM) and F1 of greedy answers to ${countOf(results)} test questions of each dataset, with 95 %
intervals.

- **What is the action mask worth?** In PPO ${worthOf(rows, 'PPO', 'PPO without action mask')} of average exact match, in GRPO ${worthOf(rows, 'GRPO', 'GRPO without action mask')}.
- **What is the advantage mask worth?** With the action mask ${worthOf(rows, 'PPO', 'PPO without advantage mask')}, without it ${worthOf(rows, 'PPO without action mask', 'PPO without both masks')}.
- **What could not show an effect?** GRPO gives every token of an episode the same advantage, so the advantage mask changes nothing, to the last bit. The
  rows without a mask have the learning rate that was chosen with masks, so a part of what they lose may be the size of their steps.`,
  explanation: `## Why

${courseTable(rows, results)}

- Without the action mask, each token of a document is trained as if the policy had chosen it. These tokens are improbable for the policy, so they dominate the
  gradient: its norm in the first update is greater by ${withoutMask(results, 'PPO', gradNorm)} in PPO, and by ${withoutMask(results, 'GRPO', gradNorm)} in GRPO.
  The documents of good searches become likelier and those of bad searches less likely, without a bound, and the same weights write the policy’s turns. In the last
  step, the policy is less sure of each token than with the mask, by ${withoutMask(results, 'PPO', surprise)} nats in PPO and ${withoutMask(results, 'GRPO', surprise)} in GRPO.
- With λ below 1, credit decays over the steps of the recursion. Without the advantage mask, each token of a document is a step: over 60 tokens, only a share of
  0.95⁶⁰ = 5 % of a later reward remains, and the critic’s values replace the rest.`,
});

/** How much better a row is than the same row without a mask. */
function worthOf(rows: readonly RowSummary[], name: string, without: string): string {
  const row = rows.find((each) => each.name === name);
  return row ? differenceTo(rows, row, without) : 'not measured';
}

const gradNorm = ({ firstGradNorm }: Result) => firstGradNorm;
const surprise = ({ logPerplexity }: Result) => logPerplexity?.last;

/** How much greater a value is without the action mask, paired by world. */
function withoutMask(
  results: readonly Result[],
  name: string,
  measure: (result: Result) => number | undefined,
): string {
  const bySeed = (row: string) =>
    new Map(
      results
        .filter((result) => result.row === row)
        .flatMap((result) => {
          const value = measure(result);
          return value === undefined ? [] : [[result.seed, value] as const];
        }),
    );
  const difference = pairedDifference(bySeed(`${name} without action mask`), bySeed(name));
  return difference ? differenceText(difference) : 'a number that was not measured';
}

/** The first and the last step of each row, as means over its worlds. */
function courseTable(rows: readonly RowSummary[], results: readonly Result[]): string {
  const lines = rows.map(({ name }) => {
    const own = results.filter(({ row }) => row === name);
    const perplexities = own.flatMap(({ logPerplexity }) => logPerplexity ?? []);
    return [
      name,
      rangeText(own.flatMap(({ firstGradNorm }) => firstGradNorm ?? [])),
      rangeText(perplexities.map(({ first }) => first)),
      rangeText(perplexities.map(({ last }) => last)),
    ];
  });
  const header = ['row', 'gradient norm, first update', 'nats per written token, first step', 'last step'];
  return markdownTable(header, lines);
}

/** The mean, and the least and the greatest value: `3.24 (2.97 to 3.51)`. */
function rangeText(values: readonly number[]): string {
  if (values.length === 0) return '';
  return `${mean(values).toFixed(2)} (${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)})`;
}

const budget: Introduce = (study, rows, results) => ({
  title: 'Learning from the same episodes',
  introduction: `Four ways to learn from ${(study.steps * study.tasksPerStep * study.groupSize).toLocaleString('en')} episodes of bridge questions, with ${study.steps} updates each, from the policy of the demo. Exact match (EM) and F1 of greedy answers
to ${countOf(results)} test questions, as means over ${worldsOf(rows)} worlds with 95 % intervals.

- Rejection sampling learns from the best of each ${study.groupSize} episodes, by supervised training.
- DPO plays all episodes with the start policy first, and learns from pairs of the best and the worst of each ${study.groupSize}.
- Online DPO makes the same pairs from episodes of the policy as it learns.
- GRPO learns from all episodes, weighed by their advantage in the group.

Each learning rate is the best of four on validation questions of another world: see below.

The demo’s policy learned to answer such questions in other worlds, before a last supervised phase gave it bad habits on purpose. So these figures compare how fast the
trainers restore a skill. They do not show what each could teach a model without that skill.`,
  explanation: '',
});

/** Rows that learn from demonstrations or from chosen episodes, with as many episodes and updates as GRPO. */
const imitators = ['SFT on demonstrations', 'All right answers', 'Best 6 of 8', 'Best 4 of 8', 'Best of 8'];

const price: Introduce = (study, _rows, results) => {
  const [main, ...others] = study.prices!;
  const rows = summarise(study, atPrice(results, main!, 'scores'));
  const sampled = summarise(study, atPrice(results, main!, 'sampled'));
  const best = bestOf(rows.filter(({ name }) => imitators.includes(name)));
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
      best ? ` In the single worlds: ${byWorld(rows, best.name)}.` : ''
    }
- **Why by the batch?** GRPO divides advantages by the standard deviation of their group. Among seven searches, a guess that is lucky then counts as much as a guess that is not, and
  nothing keeps the policy from guessing: GRPO scaled by the batch minus GRPO is ${against('GRPO')}.
- **Does it need the rewards?** GRPO with rewards that are shuffled in each rollout, minus the start: ${differenceBetween(rows, 'GRPO with shuffled rewards', 'Start')}.
- **What about the price?** At ${others.join(' and ')} for each search, agents were trained again. See below.
- **What can this study not show?** The model is small, and its habit was taught on purpose. The two sorts and the price were chosen so that one rule for all claims earns as little as
  possible: claims of two hops are worth the same either way, and with other prices the difference is smaller. With demonstrations that know the price, nothing is left to
  reinforce: GRPO, scaled by the batch, minus SFT on demonstrations that know the price is ${against('SFT on demonstrations that know the price')}.`,
    explanation: '',
  };
};

/** The row of the study of a price that the others are compared with. */
const ours = 'GRPO scaled by the batch';

/** This row minus another, in the order of the worlds. */
function byWorld(rows: readonly RowSummary[], reference: string): string {
  const [one, other] = [ours, reference].map((name) => rows.find((row) => row.name === name)?.bySeed);
  if (!one || !other) return 'not measured';
  const worlds = [...one.keys()].filter((seed) => other.has(seed)).sort((a, b) => a - b);
  return worlds.map((seed) => signed(one.get(seed)! - other.get(seed)!)).join(', ');
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}

const staleness: Introduce = (study, rows, results) => {
  const [least, most] = study.searchSeconds!;
  return {
    title: 'Slow tools: rollouts that run ahead of the learner',
    introduction: `\`--max-staleness N\` lets GRPO play up to N rollouts ahead of the learner. Each search takes ${1000 * least} to ${1000 * most} ms here, drawn uniformly, and each run
makes ${study.steps} updates of ${study.tasksPerStep * study.groupSize} episodes of bridge questions, from the policy of the demo. Exact match (EM) and F1 of greedy answers to ${countOf(results)} test
questions, as means over ${worldsOf(rows)} worlds with 95 % intervals.

${timeTable(rows, results)}

- **What corrects a rollout that is behind?** Each token is weighed by its probability under the learner over that under the sampler, at most 3. The rows “unweighted” leave
  the weights out.
- **What could not show an effect?** One world’s scores differ from another’s by as much as the intervals say; smaller effects are not seen here. All rows have the
  learning rate of [the budget](budget.md), which was chosen without staleness.`,
    explanation: '',
  };
};

/** Time and the score of sampled answers. */
function timeTable(rows: readonly RowSummary[], results: readonly Result[]): string {
  const lines = rows.map(({ name }) => {
    const own = results.filter(({ row }) => row === name);
    const seconds = own.map((result) => result.seconds / (result.stepsInAll ?? 1));
    const sampled = own.flatMap((result) =>
      result.sampled ? [mean(Object.values(result.sampled).map(({ em }) => em))] : [],
    );
    return [name, mean(seconds).toFixed(2), sampled.length > 0 ? estimateText(estimate(sampled)) : ''];
  });
  return markdownTable(['row', 'seconds a step', 'EM of sampled answers'], lines);
}

const failures: Introduce = (study, rows, results) => ({
  title: 'A search that fails',
  introduction: `${100 * study.failures!} % of the searches return nothing here, by a hash of the query and its place in the episode; the same search may succeed when it is repeated. Bridge questions, ${study.steps} updates of ${study.tasksPerStep * study.groupSize} episodes, at most
${study.maxTurns! - 1} searches each. Exact match (EM) and F1 of answers to ${countOf(results)} test questions, in ${worldsOf(rows)} world: a gate, which decides whether the study is worth more worlds.

${recoveryTable(rows, results)}

- **What did the model know before?** It is the policy of the demo before its bad habits: it answers such questions where no search fails, and no demonstration
  showed it a search that fails. It repeats some of them all the same.
- **What is the ceiling?** The demonstrator repeats every search that fails: ${averageOf(rows, 'Demonstrator')}.
- **Does reinforcement learning amplify what is rare?** GRPO minus the start: ${differenceBetween(rows, 'GRPO', 'Start')}. So does the imitation of all right answers of each group of
  ${study.groupSize}: GRPO minus that row is ${differenceBetween(rows, 'GRPO', 'All right answers')}. The gate asked for 0.8 and for 0.1 more than imitation, so no other world was played.
- **Why not more?** Look at the episodes: where the first search fails, the trained policy repeats it and goes on. Where the second fails, the policy reads the name for its next search
  from the document just before it, and an empty result has no name: it repeats its thought with another entity, and answers about that.
- **What can this study not show?** Whether supervision could do it: no row learns from demonstrations that repeat searches. The rows have the same number of updates, and learning rates that were not
  tuned here.`,
  explanation: '',
});

/** Sampled answers, and what happened after searches that failed. */
function recoveryTable(rows: readonly RowSummary[], results: readonly Result[]): string {
  const lines = rows.flatMap(({ name }) => {
    const own = results.filter(({ row }) => row === name);
    return (['scores', 'sampled'] as const).flatMap((decoding) => {
      const scores = own.flatMap((result) => Object.values(result[decoding] ?? {}));
      const sum = (count: (recovery: Recovery) => number) =>
        scores.reduce((total, { recovery }) => total + (recovery ? count(recovery) : 0), 0);
      if (scores.length === 0) return [];
      const [right, repeated] = [
        sum((recovery) => recovery.right) / sum(({ episodes }) => episodes),
        sum((recovery) => recovery.repeated) / sum(({ failed }) => failed),
      ];
      const cells = [mean(scores.map(({ em }) => em)), right, repeated].map((value) => value.toFixed(3));
      return [[name, decoding === 'scores' ? 'greedy' : 'sampled', ...cells]];
    });
  });
  const header = ['row', 'answers', 'EM', 'EM where a search failed', 'failed searches that are repeated'];
  return markdownTable(header, lines);
}

/** By name of the study. */
export const introductions: Readonly<Record<string, Introduce>> = {
  table,
  masks,
  budget,
  price,
  staleness,
  failures,
};

function bestOf(rows: readonly RowSummary[]): RowSummary | undefined {
  return rows.toSorted((a, b) => b.average.em.mean - a.average.em.mean)[0];
}

/** The trained row with the greatest average, of those that play episodes of their own by an algorithm of reinforcement learning. */
function bestAgent({ references, rows: all }: Study, rows: readonly RowSummary[]): RowSummary | undefined {
  const isAgent = ({ name }: RowSummary) =>
    all.some((row) => row.name === name && 'trainer' in row && !row.trainer.includes('trainer-sft'));
  return references.length === 0 ? undefined : bestOf(rows.filter(isAgent));
}

function averageOf(rows: readonly RowSummary[], name: string): string {
  const row = rows.find((each) => each.name === name);
  return row ? estimateText(row.average.em, -Infinity) : 'not measured';
}

function differenceBetween(rows: readonly RowSummary[], name: string, reference: string): string {
  const row = rows.find((each) => each.name === name);
  return row ? differenceTo(rows, row, reference) : 'not measured';
}

function differenceTo(rows: readonly RowSummary[], row: RowSummary, name: string): string {
  const reference = rows.find((each) => each.name === name);
  const difference = reference && differenceOf(row, reference);
  return difference ? differenceText(difference) : 'not measured';
}

function countOf(results: readonly Result[]): string {
  return [...new Set(results.map(({ count }) => count))].join(' or ');
}

function worldsOf(rows: readonly RowSummary[]): string {
  const counts = rows.map(({ seeds }) => seeds.length);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? String(most) : `${least} to ${most}`;
}
