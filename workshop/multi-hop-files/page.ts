/** pageOf: the page of the runs as Markdown. All its numbers and verdicts are computed from the runs. */
import { confidenceInterval, pairedDifference } from '@toolenv/training';
import {
  differenceText,
  direction,
  type Estimate,
  estimateText,
  pairedDifference as pairedByWorld,
} from '../leaderboard/intervals.ts';
import { markdownTable } from '../leaderboard/markdown-table.ts';
import { mean } from '../leaderboard/summary.ts';
import { type Environment, environments, type Run } from './runs.ts';

export function pageOf(runs: readonly Run[]): string {
  const { steps, count } = runs[0]!;
  return `${[
    '# Learning from the files of published datasets',
    `GRPO with the settings of the demo and ${steps} steps, on the bridge questions of a synthetic world: as \`bridge-v1\` generates them, and as files in the formats of 2WikiMultihopQA and MuSiQue hold them. \`2wikimultihopqa-v1\` and \`musique-v1\` read the files that \`npm run datasets\` writes. Training, validation and test questions are the same. These differ: an answer may also be one of its aliases; the search covers the paragraphs of the files, not the whole world; \`musique-v1\` allows six turns, not five.`,
    `Exact match (EM) of greedy answers to ${count} test questions, before and after. Each interval is of 95 %, over the questions. The last column is paired by question with \`bridge-v1\` of the same world.`,
    runTable(runs),
    worldSection(runs),
    'The first policy, the questions, their order and the seeds of sampling are the same in the three environments of a world. So their runs go the same way until a search finds other documents or an alias counts, and equal scores are no surprise. The intervals over questions do not contain what another seed of the training would change.',
    '## Runs',
    `\`npm run multi-hop-files\` made this page. [multi-hop-files.jsonl](multi-hop-files.jsonl) has the score of every question; \`+\` marks a commit with changes.`,
    markdownTable(
      ['environment', 'world', 'commit', 'minutes'],
      runs.map((run) => [run.environment, String(run.seed), run.commit, (run.seconds / 60).toFixed(1)]),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`;
}

function runTable(runs: readonly Run[]): string {
  const header = [
    'environment',
    'world',
    'EM before',
    'EM after',
    'after − before',
    'after, minus `bridge-v1`',
  ];
  const lines = runs.map((run) => {
    const bridge = runs.find(({ environment, seed }) => environment === 'bridge-v1' && seed === run.seed);
    return [
      run.environment,
      String(run.seed),
      share(run.before),
      share(run.after),
      between(run.before, run.after),
      bridge && bridge !== run ? between(bridge.after, run.after) : '',
    ];
  });
  return markdownTable(header, lines);
}

/** Means over the worlds, if there are several. */
function worldSection(runs: readonly Run[]): string {
  const bridge = emByWorld(runs, 'bridge-v1');
  const lines = environments.flatMap((environment) => {
    const ems = emByWorld(runs, environment);
    if (ems.size < 2) return [];
    const difference = environment === 'bridge-v1' ? undefined : pairedByWorld(ems, bridge);
    return [{ environment, em: mean([...ems.values()]), difference }];
  });
  if (lines.length < 2) return '';
  const table = markdownTable(
    ['environment', 'worlds', 'EM after', 'minus `bridge-v1`'],
    lines.map(({ environment, em, difference }) => [
      environment,
      String(emByWorld(runs, environment).size),
      em.toFixed(3),
      difference ? differenceText(difference) : '',
    ]),
  );
  const verdicts = lines.flatMap(({ environment, difference }) =>
    difference ? [`\`${environment}\` ${verdict(difference)}`] : [],
  );
  return `Means over the worlds. Differences are paired by world, with their intervals over the worlds (Student’s t), which are wide with so few worlds:\n\n${table}\n\n${verdicts.join('; ')}.`;
}

function verdict(difference: Estimate): string {
  const words = {
    '-1': 'learns less than',
    '0': 'cannot be told apart from',
    '1': 'learns more than',
  } as const;
  return `${words[`${direction(difference)}`]} \`bridge-v1\``;
}

function emByWorld(runs: readonly Run[], name: Environment): Map<number, number> {
  return new Map(
    runs.filter(({ environment }) => environment === name).map(({ seed, after }) => [seed, meanOf(after)]),
  );
}

/** `0.972 [0.944, 0.986]`. */
function share(scores: Run['after']): string {
  const [low, high] = confidenceInterval(byQuestion(scores))!;
  return estimateText({ mean: meanOf(scores), low, high });
}

function between(first: Run['after'], second: Run['after']): string {
  const { mean, interval } = pairedDifference(byQuestion(first), byQuestion(second))!;
  return differenceText({ mean, low: interval![0], high: interval![1] });
}

function byQuestion(scores: Run['after']): number[][] {
  return scores.map((score) => (score === null ? [] : [score]));
}

function meanOf(scores: Run['after']): number {
  return mean(scores.filter((score) => score !== null));
}
