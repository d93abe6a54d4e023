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
    const { page, expectQuiet } = await openPage(browser, view.url);
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

it('100,000 episodes: no frame of scrolling takes 100 ms', { timeout: 300_000 }, async () => {
  const run = join(folder, 'hundred-thousand');
  await makeRun(run, { steps: Math.ceil(100_000 / episodesPerStep), seed: 1 });
  const view = await serveView({ runs: [run] });
  try {
    const { page, expectQuiet } = await openPage(browser, `${view.url}#/episodes`);
    await page.locator('.count', { hasText: '100,032 episodes' }).waitFor({ timeout: 120_000 });
    await page.waitForTimeout(1000);
    const frames = await page.evaluate(async () => {
      const table = document.querySelector('.table')!;
      const times: number[] = [];
      const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
      let last = await frame();
      // By the wheel, and by jumps of the scroll bar.
      for (let step = 0; step < 240; step++) {
        table.scrollTop += step % 40 === 39 ? table.scrollHeight / 7 : 400;
        const now = await frame();
        times.push(now - last);
        last = now;
      }
      return times;
    });
    const longest = Math.max(...frames);
    process.stdout.write(`longest of ${frames.length} frames: ${longest.toFixed(0)} ms\n`);
    expect(longest).toBeLessThan(100);
    const rows = await page.locator('[role=rowgroup] [role=row]').allTextContents();
    expect(rows.length).toBeGreaterThan(20);
    await page.keyboard.press('End');
    await page.locator('[role=row][aria-rowindex="100033"]', { hasText: 'answered' }).waitFor();
    expectQuiet();
  } finally {
    await view.close();
  }
});
