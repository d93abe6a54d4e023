/** The page of an episode and of a group in Chromium: what happened is seen at a glance, on every screen. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ToolCallRecord, ToolEnvError } from '@toolenv/core';
import { encodeTrajectory } from '@toolenv/core/recording';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeReport, type ServedPage, serveView } from '../src/index.ts';
import type { RecordedEpisode } from '../src/recorded/recorded-episode.ts';
import { episodeOf } from './make-run.ts';
import { expectAccessible, expectFits, openBrowser, openPage, widths } from './open-page.ts';

const evil = `</script><img src=x onerror="document.title=1"> '$(touch x)' ${'long'.repeat(60)}`;
let browser: Browser;
let folder: string;
let view: ServedPage;

const environment = async (ref: string) =>
  ref === '@toolenv/envs-qa/bridge-v1'
    ? {
        label: () => 'Ada',
        oracle: () => [[{ name: 'search', arguments: { query: 'founder of Selarel' } }], 'Ada'],
      }
    : undefined;

/** Four turns: the first two search, the third calls twice, of which one call fails, and the last answers. */
function longEpisode(sample: number, isRight: boolean): RecordedEpisode {
  const { steps, ...episode } = episodeOf(1, 0);
  const [search, answer] = steps as [(typeof steps)[0], (typeof steps)[0]];
  const called = (milliseconds: number, model: number, ...records: ToolCallRecord[]) => ({
    ...search,
    action: {
      ...search.action,
      usage: { requests: 1, inputTokens: 10, cachedTokens: 0, outputTokens: 5, milliseconds: model },
    },
    calls: [{ ...search.calls[0]!, milliseconds }, ...records],
  });
  const failed: ToolCallRecord = {
    call: { id: 'x', name: 'open_the_document_with_a_very_long_name', arguments: {} },
    text: 'No such document.',
    milliseconds: 250,
    result: { content: [{ type: 'text', text: 'No such document.' }], isError: true },
  };
  const em = isRight ? 1 : 0;
  return {
    ...episode,
    episodeId: `1-0-${sample}`,
    sample,
    steps: [
      called(40, 120),
      called(60, 80),
      { ...called(10, 50, failed), rewards: { em: null, retrieved: sample / 10 } },
      { ...answer, action: { ...answer.action, text: isRight ? 'Ada' : `Borek ${sample}` } },
    ],
    rewards: { em, retrieved: 0.5 },
    reward: em + 0.05,
    outcome: { kind: 'terminated', reason: 'answered' },
  };
}

/** Texts of others, wherever a file has texts. */
function hostileEpisode(): RecordedEpisode {
  const episode = longEpisode(2, false);
  const { steps } = episode;
  for (const step of steps)
    for (const record of step.calls) record.call = { id: evil, name: evil, arguments: { [evil]: evil } };
  steps[3]!.action.text = evil;
  return {
    ...episode,
    env: evil,
    task: { answer: evil },
    group: 1,
    rewardSpec: { [evil]: { kind: 'outcome', range: [0, 1], weight: 1 } },
    rewards: { [evil]: 0.5 },
    outcome: { kind: 'aborted', cause: new ToolEnvError('infrastructure.timeout', evil), retryable: true },
  };
}

beforeAll(async () => {
  browser = await openBrowser();
  folder = await mkdtemp(join(tmpdir(), 'toolenv inspector-'));
  const run = join(folder, 'run');
  await mkdir(run);
  const { env } = longEpisode(0, true);
  await writeFile(
    join(run, 'config.json'),
    JSON.stringify({ env, policy: 'tiny', seed: 1, tools: { search: 'own/search-v1' } }),
  );
  const group = [longEpisode(0, true), longEpisode(1, false), hostileEpisode()];
  await writeFile(
    join(run, 'trajectories.jsonl'),
    group.map((each) => `${encodeTrajectory(each)}\n`).join(''),
  );
  view = await serveView({ runs: [run], environment });
});

afterAll(async () => {
  await view.close();
  await browser.close();
  await rm(folder, { recursive: true });
});

const facts = (page: Page) => page.getByRole('complementary', { name: 'About this episode' });

it('says whether the episode was right, what was right, and what each turn and tool took', async () => {
  const { page, close, expectQuiet } = await openPage(browser, `${view.url}#/episode?number=1`);
  await facts(page).waitFor();
  const text = async (selector: string) =>
    (await facts(page).locator(selector).allTextContents()).map((each) => each.trim());
  expect(await text('.ending')).toEqual(['✘ wrong answered']);
  expect(await text('.answers')).toEqual(['right answerAda']);
  expect(await text('.rewards tr')).toEqual(['reward0.050weight', 'em 0× 1', 'retrieved process0.5× 0.1']);
  expect(await text('.outline li')).toEqual([
    '1 search160 ms',
    '2 search140 ms',
    '3 search, open_the_document_with_a_very_long_name✘300 ms',
    '4 Borek 1',
  ]);
  const bars = await facts(page)
    .locator('.latency span')
    .evaluateAll((spans) => spans.map((span) => (span as HTMLElement).style.width));
  expect(bars).toEqual(['40%', '13.3%', '26.7%', '20%', '16.7%', '83.3%', '0%', '0%']);
  expect(await text('.tools tbody tr')).toEqual([
    'search3037 ms60 ms',
    'open_the_document_with_a_very_long_name1✘ 1 (100 %)250 ms250 ms',
  ]);
  await facts(page).getByText('A solution').click();
  await facts(page).getByText('search({"query":"founder of Selarel"})').waitFor();
  expectQuiet();
  await close();
});

it('goes to a turn, and its address keeps the turn', async () => {
  const { page, close, expectQuiet } = await openPage(browser, `${view.url}#/episode?number=0`);
  await page.setViewportSize({ width: 1440, height: 250 });
  await facts(page)
    .getByRole('link', { name: /^3 search/ })
    .click();
  await page.waitForURL(/turn=3/);
  const top = () =>
    page
      .locator('.inspector > .turns > li')
      .nth(2)
      .evaluate((turn) => turn.getBoundingClientRect().top);
  expect(await top()).toBeLessThan(60);
  await page.reload();
  await facts(page).locator('[aria-current]', { hasText: '3 search' }).waitFor();
  expect(await top()).toBeLessThan(60);
  // The column stays in sight.
  expect(await facts(page).evaluate((column) => column.getBoundingClientRect().top)).toBeGreaterThanOrEqual(
    0,
  );
  expectQuiet();
  await close();
});

it('copies the episode as JSON, and the command that plays on from it', async () => {
  const { page, close, expectQuiet } = await openPage(browser, `${view.url}#/episode?number=1`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy as JSON' }).click();
  await page.getByText('✓ copied').waitFor();
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
  expect(JSON.parse(await copied())).toEqual(JSON.parse(encodeTrajectory(longEpisode(1, false))));
  await page.getByRole('button', { name: 'Replay in play' }).click();
  await page.getByText('✓ copied').nth(1).waitFor();
  expect(await copied()).toBe(
    `toolenv play @toolenv/envs-qa/bridge-v1 --episode '${join(folder, 'run')}:1' --tool search=own/search-v1`,
  );
  expectQuiet();
  await close();
});

it('shows the text where the browser does not let it be copied', async () => {
  const { page, close } = await openPage(browser, `${view.url}#/episode?number=1`);
  await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await page.getByRole('button', { name: 'Copy as JSON' }).click();
  const text = await page.getByRole('textbox', { name: 'Copy as JSON: the text' }).inputValue();
  expect(JSON.parse(text).sample).toBe(1);
  await close();
});

it('folds what the episodes of a group share', async () => {
  const { page, close, expectQuiet } = await openPage(browser, `${view.url}#/group?group=0`);
  const shared = page.locator('.shared-beginning');
  await shared.getByText('The same in all 2: 2 messages and 3 turns').click();
  expect(await shared.locator('.message').allTextContents()).toEqual([
    expect.stringContaining('systemAnswer'),
    expect.stringContaining('userWhere was'),
    ...[
      'turn 1',
      'search40 ms',
      'turn 2',
      'search60 ms',
      'turn 3',
      'search10 ms',
      'name✘ tool_error250 ms',
    ].map((text) => expect.stringContaining(text)),
  ]);
  const columns = page.locator('.columns article');
  expect(await columns.locator('h3').allTextContents()).toEqual([
    'sample 0 ✓ right answered 1.050',
    'sample 1 ✘ wrong answered 0.050',
  ]);
  expect(await columns.first().locator('.assistant h4').allTextContents()).toEqual([
    expect.stringMatching(/^turn 4/),
  ]);
  await page.getByText('Tools of these episodes').click();
  expect(await page.locator('.tools tbody tr').first().textContent()).toBe('search6037 ms60 ms');
  await expectAccessible(page);
  expectQuiet();
  await close();
});

const pages = ['episode?number=0', 'episode?number=2', 'group?group=0', 'group?group=1'];

async function openWhole(page: Page, hash: string): Promise<void> {
  await page.goto(`${view.url}#/${hash}`);
  await page.reload();
  await page.locator('.turns').last().waitFor();
  await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
}

it('fits every screen, with hostile texts too', async () => {
  const { page, close, expectQuiet } = await openPage(browser, view.url);
  for (const hash of pages) {
    await openWhole(page, hash);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await expectFits(page);
    }
  }
  expect(await page.locator('img').count()).toBe(0);
  expectQuiet();
  await close();
});

it.each(['light', 'dark'] as const)('axe finds nothing: %s', async (theme) => {
  const { page, close } = await openPage(browser, view.url);
  await page.emulateMedia({ colorScheme: theme });
  for (const hash of pages) {
    await page.setViewportSize({ width: hash.startsWith('group') ? 390 : 1440, height: 900 });
    await openWhole(page, hash);
    await expectAccessible(page);
  }
  await close();
});

it('offers the JSON in a report too, without the path of the run', async () => {
  const file = join(folder, 'report.html');
  await writeFile(file, await makeReport({ runs: [join(folder, 'run')], environment }));
  const { page, close, expectQuiet } = await openPage(
    browser,
    `${pathToFileURL(file).href}#/episode?number=1`,
  );
  await page.setViewportSize({ width: 390, height: 800 });
  await facts(page).getByText('✘ wrong').waitFor();
  await facts(page).getByText('Ada').first().waitFor();
  expect(await page.getByRole('button', { name: 'Replay in play' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Copy as JSON' }).count()).toBe(1);
  // A phone has the facts above the turns.
  const tops = await page.evaluate<number[]>(
    "['.episode-facts', '.turns'].map((each) => document.querySelector(each).getBoundingClientRect().top)",
  );
  expect(tops[0]).toBeLessThan(tops[1]!);
  await expectFits(page);
  expectQuiet();
  await close();
});
