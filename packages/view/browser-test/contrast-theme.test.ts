/** What the pages keep in a contrast theme of Windows, their titles, and text that would turn other text around. */
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeTrajectory } from '@toolenv/core/recording';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedPage, serveView } from '../src/index.ts';
import { episodeOf, episodesPerStep, makeRun } from './make-run.ts';
import { openBrowser, openPage } from './open-page.ts';

const steps = 4;
let browser: Browser;
let folder: string;
let view: ServedPage;

beforeAll(async () => {
  browser = await openBrowser();
  folder = await mkdtemp(join(tmpdir(), 'toolenv-contrast-'));
  await makeRun(join(folder, 'run'), { steps, seed: 1 });
  const episode = episodeOf(steps, 7);
  const [first, last] = episode.steps as [(typeof episode.steps)[0], (typeof episode.steps)[0]];
  const evil = { ...last, action: { ...last.action, text: 'Ada \u202egnorw' } };
  await appendFile(
    join(folder, 'run/trajectories.jsonl'),
    `${encodeTrajectory({ ...episode, steps: [first, evil] })}\n`,
  );
  view = await serveView({ runs: [join(folder, 'run')] });
});

afterAll(async () => {
  await view.close();
  await browser.close();
  await rm(folder, { recursive: true });
});

function backgroundOf(element: Locator): Promise<string> {
  return element.evaluate((node) => getComputedStyle(node).backgroundColor);
}

it('the heat map, the bars and the current tab stay in forced colours', async () => {
  const { page, close } = await openPage(browser, `${view.url}#/tasks`);
  await page.emulateMedia({ forcedColors: 'active' });
  const cells = page.locator('.cell');
  await cells.nth(8).waitFor();
  const shades = await cells.evaluateAll((all) => all.map((cell) => getComputedStyle(cell).backgroundColor));
  expect(new Set(shades).size).toBeGreaterThan(3);
  const tab = (name: string) => backgroundOf(page.getByRole('link', { name, exact: true }));
  expect(await tab('Tasks')).not.toBe(await tab('Curves'));
  await page.goto(`${view.url}#/overview`);
  const bar = page.locator('.ends .share span').first();
  await bar.waitFor();
  expect(await backgroundOf(bar)).not.toBe(await backgroundOf(page.locator('body')));
  await close();
});

it('each page has a title of its own', async () => {
  const { page, close } = await openPage(browser, `${view.url}#/overview`);
  for (const [name, title] of [
    ['overview', 'run · Overview · toolenv'],
    ['curves', 'Curves · toolenv'],
    ['episode?number=1', 'run · Episodes · toolenv'],
    ['tasks', 'run · Tasks · toolenv'],
  ]) {
    await page.goto(`${view.url}#/${name}`);
    await page.waitForFunction((wanted) => document.title === wanted, title);
  }
  await close();
});

it('a row of the list is a link, which opens in another tab', async () => {
  const { page, close } = await openPage(browser, `${view.url}#/episodes`);
  const row = page.locator('[role=row][aria-rowindex="3"]');
  await row.locator('a').waitFor();
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    row.click({ modifiers: ['ControlOrMeta'], position: { x: 100, y: 10 } }),
  ]);
  await tab.waitForURL(`${view.url}#/episode?run=run&number=1`);
  expect(page.url()).toBe(`${view.url}#/episodes`);
  await row.click();
  await page.waitForURL(`${view.url}#/episode?run=run&number=1`);
  await page.goBack();
  expect(page.url()).toBe(`${view.url}#/episodes`);
  await close();
});

it('characters that turn text around are shown as escapes', async () => {
  const { page, close, expectQuiet } = await openPage(
    browser,
    `${view.url}#/episode?number=${steps * episodesPerStep}`,
  );
  await page.getByText('Ada \\u202egnorw').first().waitFor();
  expect(await page.locator('body').textContent()).not.toContain('\u202e');
  expectQuiet();
  await close();
});

it('a run whose folder turns text around has a name that does not, and opens', async () => {
  const named = join(folder, 'ab\u202edc');
  await makeRun(named, { steps: 1, seed: 1 });
  const own = await serveView({ runs: [named] });
  const { page, close, expectQuiet } = await openPage(browser, own.url);
  await page.getByRole('heading', { name: 'ab\\u202edc', exact: true }).waitFor();
  expect(await page.content()).not.toContain('\u202e');
  expect(await page.title()).not.toContain('\u202e');
  expectQuiet();
  await close();
  await own.close();
});

it('a run without a step says so, and an evaluation that has ended does not', async () => {
  const begun = join(folder, 'begun');
  await makeRun(begun, { steps: 0, seed: 1 });
  const evaluation = join(folder, 'evaluation');
  await makeRun(evaluation, { steps: 1, seed: 1 });
  const episodes = join(evaluation, 'trajectories.jsonl');
  const own = await serveView({ runs: [begun, episodes] });
  const { page, close, expectQuiet } = await openPage(browser, `${own.url}#/overview?run=begun`);
  await page.locator('.healthy', { hasText: 'No step is done yet.' }).waitFor();
  await page.goto(`${own.url}#/curves?run=begun`);
  await page.getByText('No step is done yet. The curves appear with the first.').waitFor();
  await page.goto(`${own.url}#/overview?run=trajectories.jsonl`);
  await page.getByRole('heading', { name: 'trajectories.jsonl', exact: true }).waitFor();
  expect(await page.locator('main').textContent()).not.toContain('No step is done yet');
  expectQuiet();
  await close();
  await own.close();
});
