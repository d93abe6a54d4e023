/** What `toolenv train` shows while it trains and at its end, at each width. */
import type { TrainEvent } from '@toolenv/core/plugins';
import { trainingCurves } from '@toolenv/training';
import { type ScoreRow, validationScores } from '@toolenv/view/recorded';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TrainingProgress } from '../../src/display/training-progress.ts';
import { trainingChart, validationTable } from '../../src/display/training-summary.ts';

const widths = [60, 80, 120, 200];
const { isTTY: wasErr, columns: errColumns } = process.stderr;
const { isTTY: wasOut, columns: outColumns } = process.stdout;
let written: string[];
let now: number;

beforeEach(() => {
  written = [];
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
});
afterEach(() => {
  Object.assign(process.stderr, { isTTY: wasErr, columns: errColumns });
  Object.assign(process.stdout, { isTTY: wasOut, columns: outColumns });
});

function terminal(columns: number | undefined): void {
  const isTTY = columns !== undefined;
  Object.assign(process.stderr, { isTTY, columns });
  Object.assign(process.stdout, { isTTY, columns });
}

const events: TrainEvent[] = [
  {
    type: 'evaluation',
    step: 0,
    metrics: { reward: 0.3, 'rewards/em/mean': 0.25 },
  },
  {
    type: 'rollout',
    step: 1,
    trajectories: [],
    metrics: {
      reward: 0.412,
      'rewards/em/mean': 0.385,
      'completions/clipped_ratio': 0.12,
      generated_tokens: 12_340,
      'time/generation': 10,
    },
  },
  { type: 'update', step: 1, metrics: { entropy: 1.2, kl: 0.0123, loss: 0.1, step_time: 72 } },
];

/** The bar and the kept lines of the events, each a minute after the one before. */
function shown(columns: number | undefined): { bar: string; lines: string[] } {
  terminal(columns);
  const lines: string[] = [];
  const progress = new TrainingProgress(200, 0, { onLine: (line) => lines.push(line) });
  for (const event of events) {
    now += 24_000;
    progress.show(event);
  }
  written = [];
  progress.stop();
  const bar = written.find((text) => text.startsWith('step ')) ?? '';
  return { bar: bar.trimEnd(), lines };
}

const whole =
  'step ░░░░░░░░░░░░░░░░ 1/200  reward 0.41  EM 0.39  validation EM 0.25  entropy 1.20  72.0 s/step  cut 12 %  KL 0.012  1,234 tokens/s  3:58:48 left';

describe('the bar', () => {
  it.each([
    [60, 'step ░░░░░░ 1/200  reward 0.41  EM 0.39  3:58:48 left'],
    [80, 'step ░░░░░░ 1/200  reward 0.41  EM 0.39  validation EM 0.25  3:58:48 left'],
    [
      120,
      'step ░░░░░░ 1/200  reward 0.41  EM 0.39  validation EM 0.25  entropy 1.20  72.0 s/step  cut 12 %  3:58:48 left',
    ],
    [200, whole],
    [undefined, whole],
  ])('in %s columns', (columns, expected) => {
    expect(shown(columns).bar).toBe(expected);
    if (columns === undefined) expect(written.join('')).not.toContain('\u001b');
  });
});

it.each([
  [50, 'step ░░░░░░ 0/200  reading 41 %  –:–– left'],
  [120, 'step ░░░░░░░░░░░░░░░░ 0/200  reading 41 %  of train.jsonl  –:–– left'],
])('the bar says which file is read, in %i columns', (columns, expected) => {
  terminal(columns);
  const progress = new TrainingProgress(200);
  progress.showData({ file: 'data/train.jsonl', share: 0.419 });
  progress.stop();
  expect(
    written
      .filter((text) => text.startsWith('step '))
      .at(-1)
      ?.trimEnd(),
  ).toBe(expected);
});

describe('the kept lines', () => {
  it.each([
    [60, 'step 1/200  reward 0.41  EM 0.39  validation EM 0.25'],
    [80, 'step 1/200  reward 0.41  EM 0.39  validation EM 0.25  entropy 1.20  72.0 s/step'],
    [
      120,
      'step 1/200  reward 0.41  EM 0.39  validation EM 0.25  entropy 1.20  72.0 s/step  cut 12 %  KL 0.012  1,234 tokens/s',
    ],
    [undefined, whole.replace('░░░░░░░░░░░░░░░░ ', '').replace('  3:58:48 left', '')],
  ])('in %s columns', (columns, expected) => {
    expect(shown(columns).lines).toEqual(['step 0  validation EM 0.25', expected]);
  });
});

const lines = [0, 40].map((step) => ({
  type: 'evaluation' as const,
  step,
  metrics: Object.fromEntries(
    ['em', 'a_component_with_a_long_name', 'c', 'd', 'e', 'f'].flatMap((name, index) => [
      [`rewards/${name}/mean`, 0.25 + step / 160 - index / 100],
      [`rewards/${name}/ci_low`, 0.15 + step / 160],
      [`rewards/${name}/ci_high`, 0.35 + step / 160],
    ]),
  ),
}));

describe('the validation before and after', () => {
  const rows = validationScores(lines);

  it.each(widths)('has its intervals in %i columns', (width) => {
    const table = validationTable(rows, width);
    const rowsOfTable = table.split('\n');
    expect(Math.max(...rowsOfTable.map((line) => line.length))).toBeLessThanOrEqual(width);
    expect(rowsOfTable[0]).toBe('Validation  step 0 → step 40');
    expect(table.replaceAll(/\s+/g, ' ')).toMatch(
      /EM .*0\.250 \(0\.150 to 0\.350\) → 0\.500 \(0\.400 to 0\.600\)/,
    );
    expect(table).toContain('▲ +0.250');
    expect(rowsOfTable.at(-1)).toBe('  and 1 more');
  });

  it('is one line for each score where it fits, else two', () => {
    expect(validationTable(rows.slice(0, 1), 80)).toBe(
      'Validation  step 0 → step 40\n  EM  0.250 (0.150 to 0.350) → 0.500 (0.400 to 0.600)  ▲ +0.250',
    );
    expect(validationTable(rows.slice(0, 1), 60)).toBe(
      'Validation  step 0 → step 40\n  EM  ▲ +0.250\n    0.250 (0.150 to 0.350) → 0.500 (0.400 to 0.600)',
    );
  });

  it('says how a score fell, stayed, or was evaluated once', () => {
    const score = (step: number, mean: number): ScoreRow['after'] => ({ step, mean });
    const table = validationTable(
      [
        { name: 'em', before: score(0, 0.5), after: score(4, 0.25), change: { mean: -0.25, isNoise: false } },
        { name: 'f1', before: score(0, 0.5), after: score(4, 0.5), change: { mean: 0, isNoise: true } },
        { name: 'won', before: score(0, 0.5), after: score(4, 0.6), change: { mean: 0.1, isNoise: true } },
        {
          name: 'cut',
          after: { ...score(4, 0.5), aborted: { 'infrastructure.timeout': 0.05, 'usage.x': 0.001 } },
        },
        { name: 'hostile\u001b[2J\nname', after: score(4, 0.5) },
      ],
      120,
    ).split('\n');
    expect(table.slice(1).map((line) => line.trim().replaceAll(/ +/g, ' '))).toEqual([
      'EM 0.500 → 0.250 ▼ -0.250',
      'F1 0.500 → 0.500 = 0.000',
      'won 0.500 → 0.600 ≈ +0.100',
      'cut 0.500, 5 % aborted (timeout 5 %, usage.x < 1 %)',
      'hostile\\u001b[2J name 0.500',
    ]);
    expect(validationTable([], 80)).toBe('');
  });
});

it.each(widths)('the chart fits %i columns', (width) => {
  const steps = Array.from({ length: 30 }, (_, index) => ({
    type: 'rollout' as const,
    step: index + 1,
    metrics: { reward: index / 30, 'rewards/em/mean': index / 40 },
  }));
  const chart = trainingChart(trainingCurves(steps), width);
  const rows = chart.split('\n');
  expect(Math.max(...rows.map((line) => line.length))).toBeLessThanOrEqual(Math.min(width, 160));
  // Side by side where both fit.
  expect(rows.some((line) => line.includes('reward') && line.includes('EM'))).toBe(width >= 100);
});
