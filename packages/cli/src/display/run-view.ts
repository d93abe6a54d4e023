/** A run in a terminal: what was run, and how it went. */

import {
  type ChangesLine,
  changesText,
  curveGroups,
  type Evaluation,
  type MetricsLine,
} from '@toolenv/training';
import type { RecordedRun } from '@toolenv/view/recorded';
import { evaluationTable } from './evaluation-table.ts';
import { paint } from './paint.ts';
import { terminalChart } from './terminal-chart.ts';
import { columns, safeLine } from './terminal-text.ts';

/** Columns of a panel at least; as many panels as fit stand side by side. */
const panelWidth = 50;

export function runView(
  { folder, kind, facts }: RecordedRun,
  {
    metrics,
    changes,
    width,
  }: { metrics: readonly MetricsLine[]; changes: readonly ChangesLine[]; width: number },
): string {
  const rows = [...factRows(facts, metrics), ...changes.map(changeRow)];
  const parts = [paint('bold', folder ?? ''), columns(rows, width)];
  if (kind === 'evaluation') parts.push('', evaluationTable(facts as unknown as Evaluation));
  const columnsInAll = Number.isFinite(width) ? width : 100;
  const perRow = Math.max(1, Math.floor(columnsInAll / panelWidth));
  for (const { name, unit, curves } of curveGroups(metrics)) {
    const chart = terminalChart(curves, { width: Math.min(columnsInAll, 160), height: 5, perRow });
    parts.push('', paint('bold', unit === '' ? name : `${name}, ${unit}`), chart);
  }
  return parts.join('\n');
}

function factRows(
  { env, envVersion, policy, trainer, trainerOptions, split, seed, ...facts }: RecordedRun['facts'],
  metrics: readonly MetricsLine[],
): [string, string][] {
  const done = metrics.reduce((most, { step }) => Math.max(most, step), 0);
  // 0: the trainer's data say how many steps there are.
  const planned = trainerOptions?.steps || undefined;
  const rows: [string, unknown][] = [
    ['environment', env === undefined ? undefined : [env, envVersion].filter(Boolean).join(' ')],
    ['split', split],
    ['policy', policy],
    ['trainer', trainer],
    [
      'steps',
      trainer === undefined && done === 0
        ? undefined
        : [done, planned].filter((n) => n !== undefined).join(' of '),
    ],
    ['seed', seed],
    ['packages', versionsText(facts.packages)],
    ['node', facts.node],
    ['commit', facts.commit],
  ];
  return rows.flatMap(([name, value]) =>
    value === undefined || value === null || value === ''
      ? []
      : [[name, safeLine(String(value))] as [string, string]],
  );
}

function changeRow({ step, changes }: ChangesLine): [string, string] {
  return [`from step ${step}`, safeLine(changesText(changes))];
}

function versionsText(versions: unknown): string {
  const entries = Object.entries(Object(versions) as object).filter(
    ([, version]) => typeof version === 'string',
  );
  return entries.map(([name, version]) => `${name} ${version}`).join(', ');
}
