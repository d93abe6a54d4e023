/** Large runs in Chromium beside small ones: the first paint, and scrolling. A small run in the same minute says how fast the machine is. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveView } from '../src/index.ts';
import { episodesPerStep, makeRun } from './make-run.ts';
import { openBrowser, openPage } from './open-page.ts';

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await openBrowser();
  folder = await mkdtemp(join(tmpdir(), 'toolenv-view-large-'));
});

afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true });
});

async function makeRunOf(episodes: number): Promise<string> {
  const run = join(folder, String(episodes));
  await makeRun(run, { steps: Math.ceil(episodes / episodesPerStep), seed: 1 });
  return run;
}

/** Serves the run, and opens its page. */
async function view<T>(run: string, part: string, use: (page: Page) => Promise<T>): Promise<T> {
  const served = await serveView({ runs: [run] });
  try {
    const { page, expectQuiet } = await openPage(browser, `${served.url}#/${part}`);
    const result = await use(page);
    expectQuiet();
    await page.close();
    return result;
  } finally {
    await served.close();
  }
}

it('10,000 episodes: the first curve takes less than four times as long as in 500', async () => {
  const [few, many] = [await makeRunOf(500), await makeRunOf(10_000)];
  const firstCurve = async (run: string) => {
    const begun = performance.now();
    return view(run, 'curves', async (page) => {
      await page.locator('canvas').first().waitFor();
      return (performance.now() - begun) / 1000;
    });
  };
  // The first page of a browser is slow.
  await firstCurve(few);
  const [base, seconds] = [await firstCurve(few), await firstCurve(many)];
  process.stdout.write(
    `first curve after ${seconds.toFixed(2)} s, of 500 episodes after ${base.toFixed(2)} s\n`,
  );
  expect(seconds).toBeLessThan(4 * base);
  await view(many, 'episodes', (page) => page.locator('.count', { hasText: '10,048 episodes' }).waitFor());
});

it('100,000 episodes: no step of scrolling takes three times as long as in 1,000', {
  timeout: 300_000,
}, async () => {
  const base = await view(await makeRunOf(1_000), 'episodes', async (page) => {
    await page.locator('.count', { hasText: '1,024 episodes' }).waitFor();
    return longestStep(page);
  });
  await view(await makeRunOf(100_000), 'episodes', async (page) => {
    await page.locator('.count', { hasText: '100,032 episodes' }).waitFor({ timeout: 120_000 });
    const longest = await longestStep(page);
    process.stdout.write(`longest step ${longest.toFixed(0)} ms, in 1,000 episodes ${base.toFixed(0)} ms\n`);
    expect(longest).toBeLessThan(3 * base);
    const rows = await page.locator('[role=rowgroup] [role=row]').allTextContents();
    expect(rows.length).toBeGreaterThan(20);
    await page.keyboard.press('End');
    await page.locator('[role=row][aria-rowindex="100033"]', { hasText: 'answered' }).waitFor();
  });
});

/** Milliseconds of processor time of the page's thread in the longest of 240 steps: a frame waits for other programs too. */
async function longestStep(page: Page): Promise<number> {
  await page.waitForTimeout(1000);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * metrics.find(({ name }) => name === 'TaskDuration')!.value;
  };
  // By the wheel, and by jumps of the scroll bar.
  const scroll = async () => {
    const times: number[] = [];
    await page.evaluate(() => document.querySelector('.table')!.scrollTo(0, 0));
    let last = await busy();
    for (let step = 0; step < 240; step++) {
      await page.evaluate(
        async (isJump) => {
          const table = document.querySelector('.table')!;
          table.scrollTop += isJump ? table.scrollHeight / 7 : 400;
          for (let frame = 0; frame < 2; frame++)
            await new Promise((resolve) => requestAnimationFrame(resolve));
        },
        step % 40 === 39,
      );
      const now = await busy();
      times.push(now - last);
      last = now;
    }
    return times;
  };
  // Twice, because the engine collects garbage and compiles in any step: a step that is slow is slow both times.
  const first = await scroll();
  const times = (await scroll()).map((time, step) => Math.min(time, first[step]!));
  // The clock of the thread has run.
  expect(times.reduce((sum, time) => sum + time)).toBeGreaterThan(10);
  return Math.max(...times);
}
