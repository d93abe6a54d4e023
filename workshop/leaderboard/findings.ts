/** Findings of the table, as sentences whose numbers and verdicts are computed from its rows. */
import { datasets } from './datasets.ts';
import { agents, baselines } from './entries.ts';
import { type Row, type Spread, spreadText } from './summary.ts';

export function findings(rows: readonly Row[]): string {
  return [...comparisons(rows), ...ablations(rows)].join('\n');
}

/** Compares agents with both masks with the baselines. */
function comparisons(rows: readonly Row[]): string[] {
  const whole = agents.filter(({ ablation }) => !ablation).flatMap(({ name }) => find(rows, name));
  const low = baselines.flatMap(({ name }) => find(rows, name));
  if (whole.length === 0 || low.length === 0) return [];
  const pairs = whole.flatMap((agent) =>
    low.flatMap((baseline) =>
      datasets.map((name) => isBeyond(agent.scores[name].em, baseline.scores[name].em)),
    ),
  );
  const won = pairs.filter(Boolean).length;
  const best = whole.reduce((a, b) => (b.scores.average.em.mean > a.scores.average.em.mean ? b : a));
  const lines = [
    `- Of ${pairs.length} comparisons of an agent with a baseline on a dataset, the agent is better beyond the spread in ${won}.`,
  ];
  const [naive] = find(rows, 'Naive RAG');
  if (naive) {
    const [ours, theirs] = [best.scores.average.em.mean, naive.scores.average.em.mean];
    const times = theirs > 0 ? `${(ours / theirs).toFixed(1)} times the` : 'beside the';
    lines.push(
      `- The best average EM is ${ours.toFixed(3)}, of ${best.name}: ${times} ${theirs.toFixed(3)} of Naive RAG.`,
    );
  }
  return lines;
}

/** Compares each agent without a mask with the same agent with both masks. */
function ablations(rows: readonly Row[]): string[] {
  return agents
    .filter(({ ablation }) => ablation)
    .flatMap(({ name }) => {
      const [without] = find(rows, name);
      const [whole] = find(rows, name.split(' without ')[0]!);
      if (!without || !whole) return [];
      const [less, all] = [without.scores.average.em, whole.scores.average.em];
      const verdict = isBeyond(all, less) ? 'worse beyond the spread' : 'not worse beyond the spread';
      return [`- ${name}: average EM ${spreadText(less)}, ${whole.name} ${spreadText(all)}: ${verdict}.`];
    });
}

/** Whether the intervals of one standard deviation do not overlap. */
function isBeyond(high: Spread, low: Spread): boolean {
  return high.mean - high.deviation > low.mean + low.deviation;
}

function find(rows: readonly Row[], name: string): Row[] {
  return rows.filter((row) => row.name === name);
}
