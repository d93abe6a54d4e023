/** The page, the terminal and the JSON of the same run say the same numbers. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { MetricsLine } from '@toolenv/training';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chartSpecs } from '../page/curves/chart-specs.ts';
import { serveView } from '../src/index.ts';
import { openBrowser, openPage } from './open-page.ts';

const main = join(import.meta.dirname, '../../cli/src/main.ts');

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await openBrowser();
  folder = await mkdtemp(join(tmpdir(), 'toolenv-same-numbers-'));
});

afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true });
});

async function toolenv(...args: string[]): Promise<string> {
  const node = ['--import', 'tsx', '--conditions=@toolenv/source', main, ...args];
  // Wide enough for all columns.
  const env = { ...process.env, COLUMNS: '200' };
  const { stdout } = await promisify(execFile)(process.execPath, node, { env, maxBuffer: 2 ** 26 });
  return stdout;
}

/** The rows of the page's table, cell by cell. */
async function tableOf(page: Page): Promise<Record<string, string[]>> {
  const rows = await page.locator('.compared-scores .scores').first().locator('tbody tr').all();
  const read = rows.map(async (row) => {
    const [name, cells] = [row.locator('th'), row.locator('td')];
    return [
      (await name.textContent())!,
      await cells.evaluateAll((all) => all.map((cell) => (cell as { innerText: string }).innerText)),
    ] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

const plain = (text: string) => text.replaceAll('−', '-').replaceAll('(', '').replaceAll(')', '');
const numbers = (text: string) => plain(text).match(/-?\d+\.\d+/g) ?? [];

it('evaluations: means, intervals and paired differences', { timeout: 180_000 }, async () => {
  const out = join(folder, 'evaluations');
  const players = ['oracle', 'random', 'idle'].flatMap((name) => ['--policy', name]);
  const terminal = await toolenv(
    'eval',
    '@toolenv/envs-classic/bank-v1',
    ...players,
    '--count',
    '30',
    '--samples',
    '2',
    '--out',
    out,
  );
  const json = JSON.parse(await readFile(join(out, 'comparison.json'), 'utf8'));
  const view = await serveView({ runs: [out] });
  const { page, close, expectQuiet } = await openPage(browser, view.url);
  // The table of the runs, the tab, and the first policy as the baseline.
  await page.locator('.run-rows .row').nth(2).waitFor();
  const names = (await page.locator('.run-rows b').allTextContents()).sort();
  const ordered = ['oracle', 'random', 'idle'].map(
    (policy) => names.find((name) => name.startsWith(policy))!,
  );
  await page.getByRole('link', { name: 'Scores' }).click();
  await page.getByLabel('differences from').selectOption(ordered[0]!);
  const head = page.locator('.compared-scores thead').first().locator('a').first();
  await head.filter({ hasText: ordered[0]! }).waitFor();
  const heads = await page.locator('.compared-scores thead').first().locator('a').allTextContents();
  const shown = await tableOf(page);
  const columnOf = (policy: number) => heads.indexOf(ordered[policy]!);
  for (const score of ['reward', 'database', 'books', 'closed', 'asked', 'pass@1', 'pass@2']) {
    const line = terminal.split('\n').find((each) => each.trim().startsWith(`${score} `));
    for (const [policy, summary] of json.policies.entries()) {
      const cell = numbers(shown[score]![columnOf(policy)]!);
      const [mean, interval] = score.startsWith('pass@')
        ? [summary.pass.at[score.slice(5)].mean, summary.pass.at[score.slice(5)].interval]
        : score === 'reward'
          ? [summary.reward, summary.rewardInterval]
          : [summary.means[score], summary.intervals[score]];
      const inJson = [mean, ...interval].map((value: number) => plain(value.toFixed(3)));
      expect(cell.slice(0, 3)).toEqual(inJson);
      // The terminal writes pass@k for a single policy only.
      if (line) expect(numbers(line).slice(3 * policy, 3 * policy + 3)).toEqual(inJson);
      const difference = policy > 0 && json.differences[policy - 1];
      if (!difference || score.startsWith('pass@')) continue;
      const { mean: change, interval: ends } =
        score === 'reward' ? difference.reward : difference.means[score];
      const changed = [change, ...ends].map((value: number) => value.toFixed(3).replace('-0.000', '0.000'));
      expect(cell.slice(3).map((text) => text.replace('-0.000', '0.000'))).toEqual(changed);
      const inTerminal = numbers(line!)
        .slice(9 + 3 * (policy - 1))
        .slice(0, 3);
      expect(inTerminal.map((text) => text.replace('-0.000', '0.000'))).toEqual(changed);
    }
  }
  const episodes = shown.episodes!;
  expect(episodes).toEqual(['60', '60', '60']);
  const calls = terminal.split('\n').find((line) => line.trim().startsWith('tool calls'))!;
  for (const [policy, text] of numbers(calls).entries())
    expect(Number(shown['tool calls for each episode']![columnOf(policy)]!)).toBeCloseTo(Number(text), 1);

  // The picture, saved: a row for each run, with the numbers of the table.
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: /as CSV$/ }).click(),
  ]);
  const lines = (await readFile((await download.path())!, 'utf8')).trim().split('\n');
  expect(lines).toHaveLength(4);
  for (const [policy, summary] of json.policies.entries()) {
    const [, , score, low] = lines
      .find((line) => line.startsWith(ordered[policy]!))!
      .split(',')
      .map(Number);
    expect([score, low]).toEqual([summary.means.database, summary.intervals.database[0]]);
  }
  expectQuiet();
  await close();
  await view.close();
});

it('a training run: curves and validation scores', { timeout: 180_000 }, async () => {
  const out = join(folder, 'training');
  const policy = join(import.meta.dirname, '../../checkpoints/tiny');
  const sizes = ['--steps', '4', '--tasks-per-step', '4', '--group-size', '4'];
  const evaluation = ['--evaluate-first', '--evaluate-every', '4', '--evaluation-episodes', '12'];
  await toolenv(
    'train',
    '@toolenv/envs-qa/bridge-v1',
    '--policy',
    policy,
    ...sizes,
    ...evaluation,
    '--seed',
    '1',
    '--out',
    out,
  );
  const terminal = await toolenv('show', out, '--count', '0');
  const lines = (await readFile(join(out, 'metrics.jsonl'), 'utf8')).trim().split('\n');
  const metrics = lines.map((line) => JSON.parse(line) as MetricsLine);
  const view = await serveView({ runs: [out] });
  const { page, close, expectQuiet } = await openPage(browser, `${view.url}#/curves`);
  await page.locator('canvas').first().waitFor();
  // Title of the chart in the page and of the chart in the terminal, line of metrics.jsonl, and its metric.
  const charts = [
    ['Reward', 'reward', 'rollout', 'reward'],
    ['Gradient norm', 'gradient norm', 'update', 'grad_norm'],
    ['Entropy', 'entropy', 'update', 'entropy'],
  ] as const;
  for (const [title, inTerminal, type, metric] of charts) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: `Save ${title} as CSV` }).click(),
    ]);
    const [, ...rows] = (await readFile((await download.path())!, 'utf8')).trim().split('\n');
    const inJson = metrics
      .filter((line) => line.type === type)
      .flatMap(({ metrics }) => metrics[metric] ?? []);
    // A step in which all rewards are the same changes nothing.
    expect(inJson.length).toBeGreaterThan(1);
    expect(rows.map((row) => Number(row.split(',')[1]))).toEqual(inJson);
    // The greatest value is the highest mark of the terminal's axis.
    expect(axisTop(terminal, inTerminal)).toBeCloseTo(Math.max(...inJson), 2);
  }
  // Every chart of the page, whatever it shows: each curve has the numbers of its metric, step by step.
  const { rewardSpec } = JSON.parse(await readFile(join(out, 'config.json'), 'utf8'));
  const specs = chartSpecs(metrics, rewardSpec);
  expect(specs.length).toBeGreaterThan(10);
  // Chromium asks a person before the eleventh download.
  await page.evaluate(`{
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => make(window.saved = blob);
    HTMLAnchorElement.prototype.click = () => {};
  }`);
  for (const { title, curves } of specs) {
    await page.getByRole('button', { name: `Save ${title} as CSV`, exact: true }).click();
    const [head, ...rows] = (await page.evaluate<string>('window.saved.text()'))
      .trim()
      .split('\n')
      .map((line) => line.split(','));
    expect(head).toEqual(['steps', ...curves.map(({ label }) => label)]);
    for (const [column, { type, metric }] of curves.entries()) {
      const drawn = rows.flatMap(([step, ...cells]) =>
        cells[column] === '' ? [] : [[Number(step), Number(cells[column])]],
      );
      const inJson = metrics.flatMap((line) =>
        line.type === type && line.metrics[metric] !== undefined ? [[line.step, line.metrics[metric]]] : [],
      );
      expect(drawn).toEqual(inJson);
    }
  }
  const validation = metrics.filter(({ type }) => type === 'evaluation');
  expect(validation.length).toBeGreaterThan(1);
  await page.goto(`${view.url}#/overview`);
  const row = page.locator('.scores tbody tr', {
    has: page.getByRole('rowheader', { name: 'retrieved', exact: true }),
  });
  const shown = numbers((await row.locator('td').allTextContents()).join(' '));
  const [first, last] = [validation[0]!, validation.at(-1)!].map(({ metrics }) =>
    ['rewards/retrieved/mean', 'rewards/retrieved/ci_low', 'rewards/retrieved/ci_high'].map((name) =>
      metrics[name]!.toFixed(3),
    ),
  );
  expect(shown.slice(0, 6)).toEqual([...first!, ...last!]);
  expectQuiet();
  await close();
  await view.close();
});

/** The highest mark of the axis of a chart in the terminal, where two charts stand beside each other. */
function axisTop(terminal: string, title: string): number {
  const lines = terminal.split('\n');
  const at = lines.findIndex((line) => new RegExp(`(^|  )${title}( |$)`).test(line));
  const place = lines[at]!.indexOf(title);
  const marks = [...lines[at + 1]!.matchAll(/(-?[\d.]+) ┤/g)];
  return Number(marks.findLast(({ index }) => index <= place)![1]);
}
