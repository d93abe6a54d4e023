/** The page of the study: for each environment the rows, the ceiling, GRPO minus the other rows, and GRPO's curve. */
import { differenceText, estimate, estimateText, mean, pairedDifference } from '../shared/intervals.ts';
import { markdownTable } from '../shared/markdown-table.ts';
import { ceilingOf, type EnvironmentName, learnedNames, unseenNames } from './environments.ts';
import type { Success } from './examine.ts';
import { type Result, type RowName, rowNames } from './results.ts';

const introduction = `# Every environment of the library

What rewards alone win back after a phase of bad examples: the share of test tasks that succeed, with 95 % intervals over seeds. Only a positive difference to “Best
supervised phase” is more than a habit taken back: see household.`;

const rowsExplained = `The small policy learned each environment from players who win (“Best supervised phase”), and then from hasty players, who on purpose leave out a step; in wordle, they are not hasty. A hash leaves out about
a fifth of all goals. GRPO continues in one environment at a time, on its training tasks, left-out goals included. “SFT on demonstrations” makes as many updates from as many episodes of
players who win. All learning rates are 1e-4. An update learns from 128 episodes, in household from 64. \`npm run library-study\` makes this page.

Not shown: that rewards teach what demonstrations cannot. [The study of a price](price.md) asks that.`;

const unseen = `## Environments that no demonstration shows

These sorts of questions are new to the policy. “All right answers” imitates its own episodes that succeed. One run of each row was a gate, and it stays closed: hardly an episode
succeeds, so there is nothing to reinforce. The policy answers a claim with a name, and searches for names that a new form of question does not contain.`;

export function pageOf(results: readonly Result[]): string {
  const sections = learnedNames.flatMap((name) => {
    const own = results.filter(({ environment }) => environment === name);
    return own.length === 0 ? [] : [`## ${name}`, rowsOf(name, own), differencesOf(own), curvesOf(name, own)];
  });
  const hasUnseen = unseenNames.some((name) => results.some(({ environment }) => environment === name));
  const others = hasUnseen ? [unseen, playedOf(results), unseenTable(results)] : [];
  const parts = [introduction, summaryOf(results), rowsExplained, ...sections, ...others];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

type Score = (result: Result) => number | null;

const columns: Readonly<Record<string, Score>> = {
  greedy: ({ greedy }) => greedy.all,
  sampled: ({ sampled }) => sampled.all,
  'left-out goals, greedy': ({ greedy }) => greedy.leftOut,
  'left-out goals, sampled': ({ sampled }) => sampled.leftOut,
};

function rowsOf(name: EnvironmentName, results: readonly Result[]): string {
  const lines = rowNames.flatMap((row) => {
    const own = results.filter((result) => result.row === row);
    if (own.length === 0) return [];
    return [[row, ...Object.values(columns).map((score) => cell(own.map(score)))]];
  });
  const ceiling = ceilingOf(name);
  const known =
    ceiling === undefined ? [] : [['Ceiling', ...Object.keys(columns).map(() => ceiling.toFixed(3))]];
  return markdownTable(['row', ...Object.keys(columns)], [...lines, ...known]);
}

function cell(values: readonly (Success['leftOut'] | number)[]): string {
  const present = values.filter((value) => value !== null);
  return present.length === 0 ? '' : estimateText(estimate(present));
}

/** GRPO minus the start in each environment. The sections do not repeat it. */
function summaryOf(results: readonly Result[]): string {
  const ownOf = (name: EnvironmentName) => results.filter(({ environment }) => environment === name);
  const lines = learnedNames.map((name) => [name, ...differences(ownOf(name), 'Start')]);
  return differenceTable('GRPO minus Start', lines);
}

function differencesOf(results: readonly Result[]): string {
  const others = rowNames.filter((row) => row !== 'Start' && row !== 'GRPO');
  const lines = others.map((row) => [`GRPO minus ${row}`, ...differences(results, row)]);
  return differenceTable('difference', lines);
}

/** The lines that have a difference; nothing if none has. */
function differenceTable(title: string, lines: readonly string[][]): string {
  const measured = lines.filter(([, ...cells]) => cells.some((text) => text !== ''));
  return measured.length === 0 ? '' : markdownTable([title, ...Object.keys(columns)], measured);
}

/** GRPO minus a row in an environment, of each column, paired by seed. */
function differences(results: readonly Result[], row: RowName): string[] {
  const bySeed = (row: RowName, score: Score) =>
    new Map(
      results.flatMap((result): [number, number][] => {
        const value = result.row === row ? score(result) : null;
        return value === null ? [] : [[result.seed, value]];
      }),
    );
  return Object.values(columns).map((score) => {
    const difference = pairedDifference(bySeed('GRPO', score), bySeed(row, score));
    return difference ? differenceText(difference) : '';
  });
}

/** How often the trainers succeeded in the environments that nobody showed them. */
function playedOf(results: readonly Result[]): string {
  const trainers = ['All right answers', 'GRPO with shuffled rewards', 'GRPO'] as const;
  const lines = unseenNames.map((name) => [
    name,
    ...trainers.map((row) => {
      const own = results.filter((result) => result.environment === name && result.row === row);
      const played = own.flatMap((result) => result.played ?? []);
      return played.length === 0 ? '' : `${(100 * mean(played)).toFixed(2)} %`;
    }),
  ]);
  return `The share of the episodes played for training that succeeded:\n\n${markdownTable(['', ...trainers], lines)}`;
}

/** The success of greedy and of sampled turns on the test tasks of the environments that nobody showed them. */
function unseenTable(results: readonly Result[]): string {
  const lines = unseenNames.map((name) => [
    name,
    ...rowNames.flatMap((row) => {
      const own = results.filter((result) => result.environment === name && result.row === row);
      if (own.length === 0) return [];
      const [greedy, sampled] = [own.map(({ greedy }) => greedy.all), own.map(({ sampled }) => sampled.all)];
      return [`${mean(greedy).toFixed(3)}, ${mean(sampled).toFixed(3)}`];
    }),
  ]);
  const shown = rowNames.filter((row) =>
    results.some(
      ({ environment, row: own }) => own === row && unseenNames.some((name) => name === environment),
    ),
  );
  return `Greedy and sampled success on test tasks:\n\n${markdownTable(['', ...shown], lines)}`;
}

/** The mean over seeds of each evaluation on validation tasks. */
function curvesOf(name: EnvironmentName, results: readonly Result[]): string {
  const curves = results.flatMap(({ row, curve }) => (row === 'GRPO' ? [new Map(curve)] : []));
  const [first] = curves;
  if (!first) return '';
  const points = [...first.keys()].map((step) => {
    const values = curves.flatMap((curve) => curve.get(step) ?? []);
    return `${step}: ${estimate(values).mean.toFixed(2)}`;
  });
  return `GRPO on validation tasks of ${name}, by update: ${points.join(', ')}.`;
}
