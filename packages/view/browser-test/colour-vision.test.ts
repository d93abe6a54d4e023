/** The pages as people with other colour vision see them, as Chromium emulates it: no meaning is only a colour. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedPage, serveView } from '../src/index.ts';
import { makeRun } from './make-run.ts';
import { openBrowser, openPage } from './open-page.ts';

const deficiencies = ['protanopia', 'deuteranopia', 'tritanopia', 'achromatopsia'] as const;
let browser: Browser;
let folder: string;
let view: ServedPage;

beforeAll(async () => {
  browser = await openBrowser();
  folder = await mkdtemp(join(tmpdir(), 'toolenv-colours-'));
  await makeRun(join(folder, 'run'), { steps: 4, seed: 1 });
  view = await serveView({ runs: [join(folder, 'run')] });
});

afterAll(async () => {
  await view.close();
  await browser.close();
  await rm(folder, { recursive: true });
});

/** Grey values of an element as it is seen, from 0 to 255, and the size of its picture. */
async function seen(page: Page, element: Locator): Promise<{ greys: number[]; width: number }> {
  const picture = (await element.screenshot()).toString('base64');
  // The page's policy allows data as images.
  return page.evaluate(
    `(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${picture}';
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
      canvas.drawImage(image, 0, 0);
      const { data } = canvas.getImageData(0, 0, image.width, image.height);
      const greys = [];
      for (let at = 0; at < data.length; at += 4) greys.push(0.299 * data[at] + 0.587 * data[at + 1] + 0.114 * data[at + 2]);
      return { greys, width: image.width };
    })()`,
  );
}

/** Share of the pixels that differ by more than an eighth of the range, in the area that both have. */
function difference(one: readonly number[], other: readonly number[]): number {
  const count = Math.min(one.length, other.length);
  let differing = 0;
  for (let at = 0; at < count; at++) if (Math.abs(one[at]! - other[at]!) > 32) differing += 1;
  return differing / count;
}

/** Calls `look` as people with each deficiency see the page. */
async function asSeen(page: Page, look: (deficiency: string) => Promise<void>): Promise<void> {
  const session = await page.context().newCDPSession(page);
  for (const type of deficiencies) {
    await session.send('Emulation.setEmulatedVisionDeficiency', { type });
    await look(type);
  }
}

describe.each(['light', 'dark'] as const)('%s', (theme) => {
  it('right and wrong differ in shape and word', async () => {
    const { page, close } = await openPage(browser, `${view.url}#/group?step=4&group=1`);
    await page.emulateMedia({ colorScheme: theme });
    await page.reload();
    const verdicts = page.locator('.columns .verdict');
    await verdicts.nth(7).waitFor();
    const texts = (await verdicts.allTextContents()).map((text) => text.trim());
    expect(new Set(texts)).toEqual(new Set(['✓ right', '✘ wrong']));
    const signs = page.locator('.columns .verdict > span');
    await asSeen(page, async (deficiency) => {
      const right = await seen(page, signs.nth(texts.indexOf('✓ right')));
      const wrong = await seen(page, signs.nth(texts.indexOf('✘ wrong')));
      expect(difference(right.greys, wrong.greys), deficiency).toBeGreaterThan(0.05);
    });
    await close();
  });

  it('raised and lowered tokens differ by their lines', async () => {
    const answer = await fetch(`${view.url}api/episodes?run=run&step=1&count=64`);
    const { rows } = (await answer.json()) as { rows: { number: number; reward: number }[] };
    rows.sort((a, b) => a.reward - b.reward);
    const { page, close } = await openPage(browser, view.url);
    await page.emulateMedia({ colorScheme: theme });
    const lines: string[] = [];
    for (const { number } of [rows[0]!, rows.at(-1)!]) {
      await page.goto(`${view.url}#/episode?number=${number}&colour=advantage`);
      await page.reload();
      const token = page.locator('.token').first();
      await token.waitFor();
      lines.push(await token.evaluate((each) => getComputedStyle(each).textDecorationLine));
    }
    // A line is a shape, whatever the colours are.
    expect(lines).toEqual(['underline', 'overline']);
    await close();
  });
});

it('the heat map goes from light to dark', async () => {
  const { page, close } = await openPage(browser, `${view.url}#/tasks`);
  const bar = page.locator('.scale-bar');
  await bar.waitFor();
  await asSeen(page, async (deficiency) => {
    const { greys, width } = await seen(page, bar);
    const row = greys.slice(width * Math.floor(greys.length / width / 2)).slice(3, width - 3);
    expect(row[0]! - row.at(-1)!, deficiency).toBeGreaterThan(100);
    // Never back: a shade stands for one value.
    for (let at = 5; at < row.length; at++) expect(row[at]!).toBeLessThanOrEqual(row[at - 5]! + 1);
  });
  await close();
});
