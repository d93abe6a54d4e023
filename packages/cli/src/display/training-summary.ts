/** The last block of `toolenv train`: the curves, and the validation before and after with its intervals. */
import { curveGroups, type Evaluation, type Interval, type MetricsLine } from '@toolenv/training';
import type { Curve } from '@toolenv/training/reports';
import { type ChangesLine, changesText, scoreLabel } from '@toolenv/training/runs';
import type { RecordedRun, ScoreRow } from '@toolenv/view/recorded';
import { estimateText } from './comparison-table.ts';
import { evaluationTable } from './evaluation-table.ts';
import { paint } from './guarded-output.ts';
import { abortText } from './number-text.ts';
import { terminalChart } from './terminal-chart.ts';
import { columns, safeLine } from './terminal-text.ts';

/** Scores that are shown; `toolenv view` shows all. */
const most = 5;
/** Columns of two charts side by side, and of the widest chart. */
const sideBySide = 100;
const widest = 160;

/** @param width Of the terminal; a file or pipe has no width, and gets 80 columns. */
export function trainingChart(curves: readonly Curve[], width: number): string {
  const columns = Number.isFinite(width) ? Math.min(width, widest) : 80;
  return terminalChart(curves, { width: columns, perRow: columns >= sideBySide ? 2 : 1 });
}

/** Empty without evaluations. @param rows The score that says which episodes were right, the reward, then the others. */
export function validationTable(rows: readonly ScoreRow[], width: number): string {
  const [first] = rows;
  if (!first) return '';
  const steps = [first.before, first.after].flatMap((score) => score?.step ?? []);
  const head = `${paint('bold', 'Validation')}  ${steps.map((step) => `step ${step}`).join(' → ')}`;
  const shown = rows.slice(0, most);
  const names = Math.max(...shown.map(({ name }) => labelOf(name).length));
  const lines = shown.map((row) => rowView(row, { names, width }));
  const rest = rows.length > most ? [`  and ${rows.length - most} more`] : [];
  return [head, ...lines, ...rest].join('\n');
}

/** In one line if it fits, else the change beside the name, and the scores below. */
function rowView(
  { name, before, after, change }: ScoreRow,
  { names, width }: { names: number; width: number },
): string {
  const label = labelOf(name);
  const scores = [before, after].flatMap((score) => (score ? scoreView(score) : [])).join(' → ');
  if (!change) return `  ${label.padEnd(names)}  ${scores}`;
  const { mean, isNoise } = change;
  const [sign, colour] = isNoise
    ? ([mean === 0 ? '=' : '≈', 'dim'] as const)
    : mean > 0
      ? (['▲', 'cyan'] as const)
      : (['▼', 'yellow'] as const);
  const text = `${sign} ${mean > 0 ? '+' : ''}${mean.toFixed(3)}`;
  const isShort = 2 + names + 2 + scores.length + 2 + text.length <= width;
  const painted = paint(colour, text);
  return isShort
    ? `  ${label.padEnd(names)}  ${scores}  ${painted}`
    : `  ${label}  ${painted}\n    ${scores}`;
}

function scoreView({ mean, interval, aborted }: ScoreRow['after']): string {
  const cut = abortText(aborted);
  return `${estimateText(mean, interval as Interval | undefined)}${cut && `, ${cut}`}`;
}

function labelOf(name: string): string {
  return safeLine(scoreLabel(name)).slice(0, 30);
}

/** Columns of a panel at least; as many panels as fit stand side by side. */
const panelWidth = 50;

/** What was run, and how it went. */
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
