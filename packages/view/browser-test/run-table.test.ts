/** The run table in Chromium: what a person asks of many runs, in three clicks at most, and a thousand runs. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveView } from '../src/index.ts';
import { expectAccessible, expectFits, openBrowser, openPage } from './open-page.ts';

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await openBrowser();
  folder = await mkdtemp(join(tmpdir(), 'toolenv-run-table-'));
});

afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true });
});

interface Made {
  trainer: string;
  learningRate: number;
  seed: number;
  em: number;
}

async function writeRun(path: string, { trainer, learningRate, seed, em }: Made): Promise<void> {
  await mkdir(path, { recursive: true });
  const config = {
    env: '@toolenv/envs-qa/bridge-v1',
    policy: 'tiny',
    trainer: `@toolenv/trainer-${trainer}/${trainer}-v1`,
    trainerOptions: { steps: 4, learningRate },
    seed,
    rewardSpec: { em: { kind: 'outcome', range: [0, 1], weight: 1 } },
  };
  const lines = [1, 2, 3, 4].flatMap((step) => {
    const score = (em * step) / 4;
    const metrics = { reward: score, 'rewards/em/mean': score };
    return [
      { type: 'rollout', step, metrics },
      { type: 'update', step, metrics: { step_time: 2 } },
    ];
  });
  const last = { type: 'evaluation', step: 4, metrics: { reward: em, 'rewards/em/mean': em } };
  await writeFile(join(path, 'config.json'), JSON.stringify(config));
  await writeFile(
    join(path, 'metrics.jsonl'),
    [...lines, last].map((line) => `${JSON.stringify(line)}\n`).join(''),
  );
  await writeFile(join(path, 'end.json'), JSON.stringify({ end: 'finished' }));
}

/** Twelve runs: two trainers, two learning rates, three seeds. */
async function twelve(): Promise<string> {
  const path = join(folder, 'twelve');
  for (const [t, trainer] of ['grpo', 'ppo'].entries())
    for (const [r, learningRate] of [1e-4, 3e-5].entries())
      for (const seed of [1, 2, 3]) {
        const em = 0.5 + 0.2 * t + 0.1 * r + 0.01 * seed;
        await writeRun(join(path, `${trainer}-${r}-${seed}`), { trainer, learningRate, seed, em });
      }
  return path;
}

const rows = (page: Page) => page.locator('.run-rows > .row');
const cells = async (page: Page, row: number) =>
  (await rows(page).nth(row).locator('[role=gridcell]').allTextContents()).map((text) => text.trim());

describe('twelve runs', () => {
  let view: Awaited<ReturnType<typeof serveView>>;
  beforeAll(async () => {
    view = await serveView({ runs: [await twelve()] });
  });
  afterAll(() => view.close());

  async function opened(part = '') {
    const all = await openPage(browser, view.url + part);
    await all.page.locator('.count', { hasText: 'run' }).waitFor();
    await rows(all.page).first().getByText('done').waitFor();
    return all;
  }

  it('the best comes first by a click, and the address keeps it', async () => {
    const { page, close, expectQuiet } = await opened();
    await page.getByRole('button', { name: 'score' }).click();
    expect((await cells(page, 0))[0]).toContain('ppo-1-3');
    expect((await cells(page, 0))[3]).toBe('em 0.830');
    expect(page.url()).toContain('sort=-score');
    const again = await opened(new URL(page.url()).hash);
    expect((await cells(again.page, 0))[0]).toContain('ppo-1-3');
    await again.close();
    await page.getByRole('button', { name: 'score' }).click();
    expect((await cells(page, 0))[0]).toContain('grpo-0-1');
    expectQuiet();
    await close();
  });

  it('seeds are together with mean and deviation, and their curves are a click away', async () => {
    const { page, close, expectQuiet } = await opened();
    await page.getByLabel('seeds together').click();
    await page.locator('.count', { hasText: '12 runs, 4 groups' }).waitFor();
    const [name, , , score] = await cells(page, 0);
    expect([name, score]).toEqual([expect.stringMatching(/^grpo-0-1and 2 other seeds/), '0.520 ± 0.010']);
    await rows(page).first().getByRole('link').click();
    await page.locator('canvas').first().waitFor();
    expect(await page.locator('.runs label').allTextContents()).toEqual(['grpo-0-1', 'grpo-0-2', 'grpo-0-3']);
    expectQuiet();
    await close();
  });

  it('an option becomes a column, and two runs are compared by it', async () => {
    const { page, close, expectQuiet } = await opened();
    await page.getByText('columns', { exact: true }).click();
    await page.getByLabel('learningRate', { exact: true }).check();
    await page.getByText('columns', { exact: true }).click();
    expect((await cells(page, 0)).at(-1)).toBe('1.0e-4');
    await page.getByLabel('search', { exact: true }).fill('seed=2 grpo');
    await page.locator('.count', { hasText: '2 of 12 runs' }).waitFor();
    for (const name of ['grpo-0-2', 'grpo-1-2']) await page.getByLabel(`Compare ${name}`).check();
    await page.locator('.compare').getByRole('link', { name: 'options' }).click();
    await page.getByRole('heading', { name: '1 option differs' }).waitFor();
    expect(await page.locator('table.options tbody tr').allTextContents()).toEqual([
      'trainerOptions.learningRate0.00010.00003',
    ]);
    expectQuiet();
    await close();
  });

  it('a tag and a note are kept beside the run, and find it', async () => {
    const { page, close, expectQuiet } = await opened();
    await rows(page).first().getByRole('link').click();
    await page.getByLabel('tags', { exact: true }).fill('best, of-paper');
    await page.getByLabel('note', { exact: true }).fill('the run of the paper');
    await page.getByLabel('tags', { exact: true }).focus();
    await page.getByText('kept in notes.json').waitFor();
    await page.goto(`${view.url}#/runs`);
    await page.reload();
    await page.getByLabel('search', { exact: true }).fill('tags:best paper');
    await page.locator('.count', { hasText: '1 of 12 runs' }).waitFor();
    expect((await cells(page, 0))[0]).toMatch(/^grpo-0-1.*#best #of-paper$/);
    expect(JSON.parse(await readFile(join(folder, 'twelve/grpo-0-1/notes.json'), 'utf8'))).toEqual({
      note: 'the run of the paper',
      tags: ['best', 'of-paper'],
    });
    expectQuiet();
    await close();
  });

  it('curves lie over time, and are saved with the numbers that they show', async () => {
    const { page, close, expectQuiet } = await opened();
    await page.getByLabel('seeds together').click();
    await rows(page).first().getByRole('link').click();
    await page.getByRole('combobox', { name: 'over' }).selectOption('minutes');
    const chart = page.locator('.chart').first();
    await chart.getByRole('img', { name: /over minutes\. Last values: grpo-0-1 and 2 more 0\.52/ }).waitFor();
    const saved = async (kind: string) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        chart.getByRole('button', { name: new RegExp(`as ${kind}$`) }).click(),
      ]);
      return readFile((await download.path())!);
    };
    const lines = (await saved('CSV')).toString().trim().split('\n');
    expect(lines[0]).toBe(
      'minutes,grpo-0-1 and 2 more,grpo-0-1 and 2 more (least),grpo-0-1 and 2 more (greatest)',
    );
    // Each of the four steps takes two seconds. In the end, the runs score 0.51, 0.52 and 0.53.
    const last = lines.at(-1)!.split(',').map(Number);
    for (const [place, value] of [8 / 60, 0.52, 0.51, 0.53].entries())
      expect(last[place]).toBeCloseTo(value, 10);
    expect((await saved('SVG')).toString()).toMatch(/^<svg .*>minutes<\/text>.*<polyline/s);
    expect((await saved('PNG')).subarray(1, 4).toString()).toBe('PNG');
    expect(page.url()).toMatch(/axis=time/);
    await page.getByLabel('log scale').check();
    await page.waitForURL(/scale=log/);
    expectQuiet();
    await close();
  });

  it.each([390, 820, 1366, 1920])('fits %i pixels, and axe finds nothing', async (width) => {
    const { page, close, expectQuiet } = await opened('#/runs?seeds=together');
    await page.setViewportSize({ width, height: 800 });
    await page.getByText('columns', { exact: true }).click();
    await expectFits(page);
    await expectAccessible(page);
    expectQuiet();
    await close();
  });
});

it('1,000 runs are painted and searched quickly', { timeout: 120_000 }, async () => {
  const path = join(folder, 'thousand');
  for (let number = 0; number < 1000; number++) {
    const made = {
      trainer: number % 2 ? 'grpo' : 'ppo',
      learningRate: 1e-5 * (1 + (number % 7)),
      seed: number,
      em: number / 1000,
    };
    await writeRun(join(path, `run-${number}`), made);
  }
  const { page, close } = await openPage(browser, 'about:blank');
  // A test that waits for an element looks for it every half second.
  await page.addInitScript(`new MutationObserver(() => {
    if (window.painted || !document.querySelector('.run-rows > .row')) return;
    requestAnimationFrame(() => requestAnimationFrame(() => { window.painted ??= performance.now(); }));
  }).observe(document, { childList: true, subtree: true })`);
  const begun = performance.now();
  const view = await serveView({ runs: [path] });
  const served = performance.now();
  await page.goto(view.url);
  await rows(page).first().waitFor();
  const painted = await page.waitForFunction<number>('window.painted').then((found) => found.jsonValue());
  const shown = performance.now();
  await page.locator('.count', { hasText: '1,000 runs' }).waitFor();
  await rows(page).first().locator('.status').waitFor();
  const filled = performance.now();
  await page.getByRole('button', { name: 'score' }).click();
  expect((await cells(page, 0))[0]).toContain('run-999');
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * metrics.find(({ name }) => name === 'TaskDuration')!.value;
  };
  const times: number[] = [];
  for (const text of ['grpo', 'grpo score>0.9', 'run-77', 'learningRate=0.00003 seed<500', '']) {
    const before = await busy();
    await page.getByLabel('search', { exact: true }).fill(text);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    times.push((await busy()) - before);
  }
  await page.locator('.count', { hasText: /^1,000 runs/ }).waitFor();
  const parts = {
    served: served - begun,
    painted,
    filled: filled - shown,
    search: Math.max(...times),
  };
  process.stdout.write(
    `${Object.entries(parts)
      .map(([name, ms]) => `${name} ${ms.toFixed(0)} ms`)
      .join(', ')}\n`,
  );
  // Milliseconds of the page's thread: a frame waits for other programs too.
  expect(parts.search).toBeLessThan(100);
  expect(times.reduce((sum, time) => sum + time)).toBeGreaterThan(1);
  await close();
  await view.close();
});
