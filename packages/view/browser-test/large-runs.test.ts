/** Large runs in Chromium: the first paint, and scrolling. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
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

it('10,000 episodes: the first paint comes within 2 s, with a curve', async () => {
  const run = join(folder, 'ten-thousand');
  await makeRun(run, { steps: Math.ceil(10_000 / episodesPerStep), seed: 1 });
  const begun = performance.now();
  const view = await serveView({ runs: [run] });
  try {
    const { page, expectQuiet } = await openPage(browser, `${view.url}#/curves`);
    await page.locator('canvas').first().waitFor();
    const seconds = (performance.now() - begun) / 1000;
    process.stdout.write(`first curve after ${seconds.toFixed(2)} s, the start of the server included\n`);
    expect(seconds).toBeLessThan(2);
    await page.getByRole('link', { name: 'Episodes' }).click();
    await page.locator('.count', { hasText: '10,048 episodes' }).waitFor();
    expectQuiet();
  } finally {
    await view.close();
  }
});

it('100,000 episodes: no step of scrolling takes 50 ms of the page’s thread', {
  timeout: 300_000,
}, async () => {
  const run = join(folder, 'hundred-thousand');
  await makeRun(run, { steps: Math.ceil(100_000 / episodesPerStep), seed: 1 });
  const view = await serveView({ runs: [run] });
  try {
    const { page, expectQuiet } = await openPage(browser, `${view.url}#/episodes`);
    await page.locator('.count', { hasText: '100,032 episodes' }).waitFor({ timeout: 120_000 });
    await page.waitForTimeout(1000);
    // The processor time of the page's thread, because a frame waits for other programs too.
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
    const total = times.reduce((sum, time) => sum + time);
    const longest = Math.max(...times);
    process.stdout.write(
      `longest of ${times.length} steps: ${longest.toFixed(0)} ms of ${total.toFixed(0)}, at first ${Math.max(...first).toFixed(0)}\n`,
    );
    // The clock of the thread has run.
    expect(total).toBeGreaterThan(10);
    expect(longest).toBeLessThanOrEqual(50);
    const rows = await page.locator('[role=rowgroup] [role=row]').allTextContents();
    expect(rows.length).toBeGreaterThan(20);
    await page.keyboard.press('End');
    await page.locator('[role=row][aria-rowindex="100033"]', { hasText: 'answered' }).waitFor();
    expectQuiet();
  } finally {
    await view.close();
  }
});
