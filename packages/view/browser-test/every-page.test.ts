/** Every page of the viewer, in every window: nothing is cut, axe finds nothing, and nothing is lost in forced colours. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedPage, serveView } from '../src/index.ts';
import { makeRun } from './make-run.ts';
import { expectAccessible, expectFits, openBrowser, openPage, widths, zoomedWidths } from './open-page.ts';

let browser: Browser;
let folder: string;
let view: ServedPage;

beforeAll(async () => {
  browser = await openBrowser();
  folder = await mkdtemp(join(tmpdir(), 'toolenv-every-page-'));
  const runs = join(folder, 'runs');
  await makeRun(join(runs, 'first'), { steps: 4, seed: 1 });
  await makeRun(join(runs, 'second'), { steps: 4, seed: 2 });
  for (const name of ['evaluation-1', 'evaluation-2']) {
    await makeRun(join(folder, name), { steps: 1, seed: 1 });
    const path = join(runs, name);
    await cp(join(folder, name, 'trajectories.jsonl'), join(path, 'trajectories.jsonl'));
    const summary = {
      env: 'e',
      episodes: 64,
      means: { em: 0.2 },
      intervals: { em: [0.1, 0.3] },
      reward: 0.25,
      tokens: 800,
    };
    await writeFile(join(path, 'summary.json'), JSON.stringify(summary));
  }
  view = await serveView({ runs: [runs] });
});

afterAll(async () => {
  await view.close();
  await browser.close();
  await rm(folder, { recursive: true });
});

/** Each page with what it has when it is whole. */
const pages: readonly (readonly [name: string, path: string, whole: string])[] = [
  ['the runs', 'runs', '.run-rows > .row .status'],
  ['an overview', 'overview?run=first', '.chart canvas'],
  ['the overview of an evaluation', 'overview?run=evaluation-1', '.newest li'],
  ['curves', 'curves?run=first', '.chart canvas'],
  ['episodes', 'episodes?run=first', '[role=row][aria-rowindex="3"] a'],
  ['an episode', 'episode?run=first&number=1', '.turns .message.assistant'],
  ['a group', 'group?run=first&step=1&group=1', '.columns article'],
  ['the tasks of a run', 'tasks?run=first', '.cell'],
  ['the tasks of an evaluation', 'tasks?run=evaluation-1', '.tasks .compared'],
  ['tasks beside each other', 'tasks?run=evaluation-1&with=evaluation-2&show=all', '.tasks .compared'],
  ['a pair', 'pair?run=evaluation-1&number=0&with=evaluation-2&other=0', '.message.assistant'],
  ['options', 'options?runs=first,second', '.options tbody tr'],
  ['scores', 'scores?runs=evaluation-1,evaluation-2', '.cost-chart svg'],
];

async function opened(path: string, whole: string) {
  const all = await openPage(browser, `${view.url}#/${path}`);
  await all.page.locator(whole).first().waitFor();
  return all;
}

it.each(pages)(
  '%s fits every window, also at twice the size, and axe finds nothing',
  async (_, path, whole) => {
    const { page, close, expectQuiet } = await opened(path, whole);
    for (const width of [...widths, ...zoomedWidths]) {
      await page.setViewportSize({ width, height: 800 });
      await expectFits(page);
    }
    await page.setViewportSize({ width: 1366, height: 800 });
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await page.reload();
      await page.locator(whole).first().waitFor();
      await expectAccessible(page);
    }
    expectQuiet();
    await close();
  },
);

/** What only a background shows, and the background on which it cannot be seen. */
async function lostIn(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const backgroundOf = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const colour = getComputedStyle(at).backgroundColor;
        if (!/rgba\\(.*, 0\\)$|transparent/.test(colour)) return colour;
      }
      return 'rgb(255, 255, 255)';
    };
    const isEmpty = (element) => element.textContent.trim() === '' || element.matches('.cell');
    const isSeen = (element) => element.checkVisibility() && element.clientWidth > 0 && element.clientHeight > 0;
    return [...document.querySelectorAll('[style*="background"], .progress span, .share span, .cost-bar span')]
      .filter((element) => isEmpty(element) && isSeen(element) && element.style.background !== 'none')
      .filter((element) => {
        const { borderTopWidth, borderTopStyle } = getComputedStyle(element);
        const hasBorder = borderTopStyle !== 'none' && borderTopWidth !== '0px';
        return !hasBorder && backgroundOf(element) === backgroundOf(element.parentElement);
      })
      .map((element) => element.tagName + '.' + element.className);
  })()`);
}

it.each(pages)('%s loses nothing in forced colours', async (_, path, whole) => {
  const { page, close, expectQuiet } = await opened(path, whole);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, forcedColors: 'active' });
    expect(await lostIn(page)).toEqual([]);
    // The current tab, and the state of each control, are told apart by more than a colour of ours.
    const tabs = page.locator('nav a');
    const looks = await tabs.evaluateAll((all) =>
      all.map((tab) => {
        const { backgroundColor, borderBottomStyle } = getComputedStyle(tab);
        return [tab.getAttribute('aria-current'), `${backgroundColor} ${borderBottomStyle}`];
      }),
    );
    const current = looks.filter(([is]) => is === 'page').map(([, look]) => look);
    expect(current).toHaveLength(1);
    expect(looks.filter(([, look]) => look === current[0])).toHaveLength(1);
    await expectFits(page);
  }
  expectQuiet();
  await close();
});

it('a page whose colours are all forced would be found', async () => {
  const { page, close } = await opened('scores?runs=evaluation-1,evaluation-2', '.cost-chart svg');
  await page.emulateMedia({ forcedColors: 'active' });
  await page.addStyleTag({
    content: '* { forced-color-adjust: auto !important; background-color: Canvas !important }',
  });
  expect(await lostIn(page)).toContain('SPAN.swatch');
  await close();
});

it.each(pages)(
  '%s prints whole: light, without controls, and not wider than paper',
  async (_, path, whole) => {
    const { page, close, expectQuiet } = await opened(path, whole);
    await page.emulateMedia({ colorScheme: 'dark', media: 'print' });
    // A4 in pixels, without its margins.
    await page.setViewportSize({ width: 720, height: 1000 });
    await page.locator('html[data-theme=light]').waitFor({ state: 'attached' });
    expect(await page.getByRole('button', { name: 'Keys' }).isVisible()).toBe(false);
    const wide = await page.evaluate<string[]>(`(() => {
    const isCut = (element) => element.getBoundingClientRect().right > innerWidth + 0.5;
    return [...document.querySelectorAll('main *')]
      .filter((element) => element.checkVisibility() && !element.closest('.unseen') && isCut(element))
      .map((element) => element.tagName + '.' + element.className);
  })()`);
    expect(wide).toEqual([]);
    await expectAccessible(page, ['color-contrast']);
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.table')].map((table) => table.scrollHeight - table.clientHeight)`,
    );
    for (const hidden of heights) expect(hidden).toBeLessThan(2);
    expect((await page.pdf()).length).toBeGreaterThan(5_000);
    expectQuiet();
    await close();
  },
);

it('prints all episodes of a list, not those in sight', async () => {
  const { page, close } = await opened('episodes?run=first', '[role=row][aria-rowindex="3"] a');
  const rows = () => page.locator('.episodes [role=rowgroup] [role=row]').count();
  expect(await rows()).toBeLessThan(100);
  await page.emulateMedia({ media: 'print' });
  await expect.poll(rows).toBe(4 * 64);
  await close();
});
