/** A report in Chromium, opened as a file: it shows what the server's page shows, and asks nobody. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { encodeTrajectory } from '@toolenv/core/recording';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeReport, serveView } from '../src/index.ts';
import { episodeOf, episodesPerStep, makeRun } from './make-run.ts';
import { expectAccessible, expectFits, openBrowser, openPage } from './open-page.ts';

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await openBrowser();
  folder = await mkdtemp(join(tmpdir(), 'toolenv-report-'));
});

afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true });
});

async function reportOf(name: string, runs: string[]): Promise<string> {
  const file = join(folder, `${name}.html`);
  const tokenTexts = async () => ({ texts: (ids: Int32Array) => Array.from(ids, (id) => `t${id} `) });
  await writeFile(file, await makeReport({ runs, tokenTexts }));
  return pathToFileURL(file).href;
}

it('shows overview, curves, options, list and episodes, and every view has an address', async () => {
  await makeRun(join(folder, 'first'), { steps: 4, seed: 1 });
  await makeRun(join(folder, 'second'), { steps: 2, seed: 2 });
  const url = await reportOf('two', [join(folder, 'first'), join(folder, 'second')]);
  const { page, close, expectQuiet } = await openPage(browser, url);
  await page.locator('.run-rows > .row').nth(1).waitFor();
  expect(await page.locator('.run-rows').textContent()).toMatch(/first.*4 steps.*second.*2 steps/);
  await page.getByText('first', { exact: true }).click();
  await page.getByRole('img', { name: /^Reward over steps/ }).waitFor();
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await expectFits(page);
  }
  await expectAccessible(page);
  await page.goto(`${url}#/curves?smoothing=0.5&hide=second&metric=grad`);
  await page.reload();
  await page.getByRole('img', { name: /^Loss over steps.*loss/ }).waitFor();
  expect(await page.getByRole('slider').inputValue()).toBe('0.5');
  expect(await page.getByRole('checkbox', { name: /second/ }).isChecked()).toBe(false);
  await page.goto(`${url}#/options`);
  await page.getByText('trainerOptions.learningRate').waitFor();
  await page.goto(`${url}#/episodes?run=first&mistake=unknown_tool&sort=-step`);
  await page.reload();
  await page.locator('.count', { hasText: `16 of ${4 * episodesPerStep} episodes` }).waitFor();
  await page.locator('[role=row][aria-rowindex="2"]', { hasText: 'unknown_tool' }).click();
  await page.getByLabel('colour tokens by').selectOption('advantage');
  await page.waitForURL(/colour=advantage/);
  await page.reload();
  expect(await page.getByLabel('colour tokens by').inputValue()).toBe('advantage');
  expect(await page.locator('.token').first().textContent()).toBe('t100 ');
  await page.goto(`${url}#/episode?run=second&number=3`);
  await page
    .getByText('Episode 3 is only listed in this report')
    .or(page.locator('.turns'))
    .first()
    .waitFor();
  expectQuiet();
  await close();
});

it('is saved by the page of a folder of folders, and opens at the same run', async () => {
  for (const name of ['group/first', 'group/second'])
    await makeRun(join(folder, 'nested', name), { steps: 2, seed: 1 });
  const view = await serveView({ runs: [join(folder, 'nested')] });
  const { page, close, expectQuiet } = await openPage(
    browser,
    `${view.url}#/episodes?run=group/second&sort=-reward`,
  );
  await page.locator('.count', { hasText: `${2 * episodesPerStep} episodes` }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save report' }).click(),
  ]);
  const file = join(folder, 'saved.html');
  await writeFile(file, await readFile((await download.path())!));
  const saved = await openPage(browser, pathToFileURL(file).href);
  await saved.page.locator('.count', { hasText: `${2 * episodesPerStep} episodes` }).waitFor();
  expect(await saved.page.title()).toBe('group/second · Episodes · toolenv');
  expect(await saved.page.getByRole('alert').count()).toBe(0);
  saved.expectQuiet();
  await saved.close();
  expectQuiet();
  await close();
  await view.close();
});

it('shows hostile texts as texts', async () => {
  const path = join(folder, 'hostile');
  await mkdir(path);
  const evil =
    '</script><script>document.title="stolen"</script><img src=x onerror="document.title=1">\u2028`';
  const episode = episodeOf(1, 0);
  episode.steps[1]!.action.text = evil;
  episode.steps[0]!.observation.messages[1]!.content = evil;
  episode.steps[0]!.calls[0]!.text = evil;
  await writeFile(join(path, 'trajectories.jsonl'), `${encodeTrajectory(episode)}\n`);
  await writeFile(
    join(path, 'config.json'),
    JSON.stringify({ env: evil, policy: 'javascript:alert(1)', seed: 1 }),
  );
  const url = await reportOf('hostile', [path]);
  const { page, close, expectQuiet } = await openPage(browser, `${url}#/episode?number=0`);
  await page.locator('.message.assistant pre', { hasText: 'stolen' }).waitFor();
  expect(await page.locator('.message.assistant pre').last().textContent()).toBe(evil);
  await page.goto(`${url}#/overview`);
  await page.locator('.run-head p', { hasText: 'stolen' }).waitFor();
  expect(await page.title()).toBe('hostile · Overview · toolenv');
  expect(await page.locator('img').count()).toBe(0);
  expectQuiet();
  // Even a script that got into the page would not run.
  const ran = await page.evaluate(`(() => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.body.append(script);
    return window.ran === true;
  })()`);
  expect(ran).toBe(false);
  await close();
});

it('has a script of at most 200 KB, compressed', async () => {
  const names = (await readFile(join(import.meta.dirname, '../dist/page/index.html'), 'utf8')).matchAll(
    /"([^"]+\.js)"/g,
  );
  const served = await Promise.all(
    [...names].map(([, name]) => readFile(join(import.meta.dirname, '../dist/page', name!))),
  );
  const whole = await readFile(join(import.meta.dirname, '../dist/report-page/report.js'));
  for (const script of [Buffer.concat(served), whole]) {
    expect(script.length).toBeGreaterThan(50_000);
    expect(gzipSync(script).length).toBeLessThan(200_000);
  }
});
