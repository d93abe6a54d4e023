/** `toolenv view` in Chromium: what a person does with mouse and keyboard, on a finished run and on a live one. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeTrajectory } from '@toolenv/core/recording';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedPage, serveView } from '../src/index.ts';
import { appendSteps, episodeOf, episodesPerStep, makeRun } from './make-run.ts';
import { expectAccessible, openBrowser, openPage } from './open-page.ts';

let browser: Browser;
let folder: string;
let view: ServedPage;
const steps = 12;
const episodes = steps * episodesPerStep;

beforeAll(async () => {
  browser = await openBrowser();
  folder = await mkdtemp(join(tmpdir(), 'toolenv-view-'));
  await makeRun(join(folder, 'first'), { steps, seed: 1 });
  await makeRun(join(folder, 'second'), { steps: 3, seed: 2 });
  view = await serveView({ runs: [join(folder, 'first'), join(folder, 'second')] });
});

afterAll(async () => {
  await view.close();
  await browser.close();
  await rm(folder, { recursive: true });
});

/** What the line above the list says. */
function countOf(page: Page, text: string): Promise<void> {
  return page.locator('.count', { hasText: text }).waitFor();
}

/** Texts of the cells of a column, for the rows in sight. */
async function cells(page: Page, column: number): Promise<string[]> {
  return page.locator(`[role=rowgroup] [role=row] > :nth-child(${column})`).allTextContents();
}

describe('a finished run', () => {
  it('has a curve for each run, named and with its last value', async () => {
    const { page, close, expectQuiet } = await openPage(browser, `${view.url}#/curves`);
    const chart = page.getByRole('img', { name: /^Loss over steps/ });
    await chart.waitFor();
    const label = await chart.getAttribute('aria-label');
    expect(label).toMatch(/^Loss over steps\. Last values: first -0\.\d+, second -0\.\d+$/);
    await page.getByRole('checkbox', { name: /second/ }).uncheck();
    // One run: the curves of a chart are its rewards.
    await page.getByRole('img', { name: /^Reward over steps.* reward .*, em / }).waitFor();
    await page.getByPlaceholder('such as ratio or critic').fill('grad');
    expect(await page.locator('canvas').count()).toBeGreaterThan(4);
    await expectAccessible(page);
    expectQuiet();
    await close();
  });

  it.each(['episodes', 'episode', 'group', 'curves'])(
    'that a link misnames is not another run: %s',
    async (name) => {
      const { page, close, expectQuiet } = await openPage(
        browser,
        `${view.url}#/${name}?run=third&number=0&step=1&group=0`,
      );
      const alert = page.getByRole('alert');
      await alert.waitFor();
      expect(await alert.textContent()).toBe('There is no run "third" here, only first, second.');
      expect(await page.locator('[role=grid], article, .turns').count()).toBe(0);
      expectQuiet();
      await close();
    },
  );

  it('shows the options that differ', async () => {
    const { page, close, expectQuiet } = await openPage(browser, `${view.url}#/options`);
    await page.getByRole('heading', { name: '2 options differ' }).waitFor();
    const rows = await page.locator('tbody tr').allTextContents();
    expect(rows.sort()).toEqual(['seed12', 'trainerOptions.learningRate0.00010.0002']);
    await expectAccessible(page);
    expectQuiet();
    await close();
  });

  it('says that one option differs, and that one episode was played', async () => {
    const { seed: _, ...config } = JSON.parse(await readFile(join(folder, 'first/config.json'), 'utf8'));
    for (const [name, learningRate] of [
      ['one', 0.1],
      ['two', 0.2],
    ] as const) {
      await mkdir(join(folder, name));
      const own = { ...config, trainerOptions: { learningRate } };
      await writeFile(join(folder, name, 'config.json'), JSON.stringify(own));
    }
    const [line] = (await readFile(join(folder, 'first/trajectories.jsonl'), 'utf8')).split('\n');
    await writeFile(join(folder, 'one/trajectories.jsonl'), `${line}\n`);
    // As supervised fine-tuning leaves it.
    const update = { type: 'update', step: 1, metrics: { loss: 1 } };
    await writeFile(join(folder, 'two/metrics.jsonl'), `${JSON.stringify(update)}\n`);
    const own = await serveView({ runs: [join(folder, 'one'), join(folder, 'two')] });
    const { page, close, expectQuiet } = await openPage(browser, `${own.url}#/options`);
    await page.getByRole('heading', { name: '1 option differs' }).waitFor();
    await page.locator('.runs', { hasText: /one1 episode(?!s)/ }).waitFor();
    await page.goto(`${own.url}#/episodes?run=one`);
    await page.locator('.count', { hasText: /^1 episode$/ }).waitFor();
    await page.goto(`${own.url}#/episodes?run=two`);
    await page.getByText('The run has steps but no episodes: its trainer learns from data').waitFor();
    expectQuiet();
    await close();
    await own.close();
  });

  it('is filtered by mouse, and the address keeps the conditions', async () => {
    const { page, close, expectQuiet } = await openPage(browser, `${view.url}#/episodes`);
    await countOf(page, `${episodes} episodes`);
    await page.getByLabel('mistake').selectOption({ label: `unknown_tool (${episodes / 16})` });
    await countOf(page, `${episodes / 16} of ${episodes} episodes`);
    expect(new Set(await cells(page, 7))).toEqual(new Set(['unknown_tool']));
    await page.getByLabel('step', { exact: true }).fill('3..4');
    await countOf(page, '8 of 768 episodes');
    await page.reload();
    await countOf(page, '8 of 768 episodes');
    await page.getByRole('button', { name: 'Clear' }).click();
    await countOf(page, `${episodes} episodes`);
    await page.getByRole('searchbox', { name: 'text' }).fill('DOCUMENT 7 of step 11');
    await countOf(page, '1 of 768 episodes');
    expectQuiet();
    await close();
  });

  it('says what is wrong with a condition', async () => {
    const { page, close } = await openPage(browser, `${view.url}#/episodes?reward=1..0..`);
    expect(await page.getByRole('alert').textContent()).toBe(
      "reward 1..0..: give a number or a range, such as 0.5, 0..0.5, '>0' or '<=1'.",
    );
    await close();
  });

  it('is sorted by its columns', async () => {
    const { page, close, expectQuiet } = await openPage(browser, `${view.url}#/episodes`);
    await countOf(page, `${episodes} episodes`);
    await page.getByRole('button', { name: 'reward' }).click();
    await page.getByRole('columnheader', { name: 'reward ▼' }).waitFor();
    await page.locator('[role=row][aria-rowindex="2"]', { hasText: '1.050' }).waitFor();
    await page.getByRole('button', { name: 'reward' }).click();
    await page.locator('[role=row][aria-rowindex="2"]', { hasText: '0.050' }).waitFor();
    await expectAccessible(page);
    expectQuiet();
    await close();
  });

  it('is read by keyboard: choose, open, colour, compare, and back', async () => {
    const { page, close, expectQuiet } = await openPage(browser, view.url);
    await page.locator('.run-rows', { hasText: 'second' }).waitFor();
    await page.keyboard.press('3');
    await countOf(page, `${episodes} episodes`);
    await page.locator('[role=row][aria-rowindex="2"]', { hasText: 'answered' }).waitFor();
    for (const key of ['j', 'j', 'ArrowDown', 'k', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('heading', { name: /sample 2.*1-0-2/ }).waitFor();
    const names: string[] = [];
    for (let press = 0; press < 6; press++) {
      await page.keyboard.press('c');
      names.push(await page.getByLabel('colour tokens by').inputValue());
    }
    expect(names).toEqual(['mask', 'probability', 'reward', 'advantage', 'entropy', '']);
    await page.keyboard.press('n');
    await page.getByRole('heading', { name: /1-0-3/ }).waitFor();
    await page.keyboard.press('g');
    await page.getByRole('heading', { name: 'Group 0 of step 1' }).waitFor();
    await page.locator('.columns article').nth(7).waitFor();
    expect(await page.locator('.columns article h3 a').allTextContents()).toEqual(
      Array.from({ length: 8 }, (_, sample) => `sample ${sample}`),
    );
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: /1-0-3/ }).waitFor();
    await page.keyboard.press('t');
    await page.getByRole('heading', { name: /^Task \d over the steps/ }).waitFor();
    await page.locator('.columns article').nth(11).waitFor();
    const shown = (await page.locator('.columns article h3 a').allTextContents()).map((text) =>
      Number(text.slice(5)),
    );
    expect(shown).toEqual([...shown].sort((a, b) => a - b));
    expect([shown[0], shown.at(-1)]).toEqual([1, steps]);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    expectQuiet();
    await close();
  });

  it('marks raised and lowered tokens, and colours rewards by their size', async () => {
    const { page, close } = await openPage(browser, `${view.url}#/episode?number=5`);
    await page.getByLabel('colour tokens by').selectOption('advantage');
    const tokens = page.locator('.token');
    await tokens.first().waitFor();
    const lines = await tokens.evaluateAll((all) =>
      all.map((token) => [
        Number(/-?[\d.e-]+$/.exec((token as HTMLElement).title)![0]),
        getComputedStyle(token).textDecorationLine,
      ]),
    );
    expect(lines.some(([value]) => value !== 0)).toBe(true);
    for (const [value, line] of lines)
      expect(line).toBe(Number(value) > 0 ? 'overline' : Number(value) < 0 ? 'underline' : 'none');
    await page.goto(`${view.url}#/episodes?sort=-reward`);
    const colourOfReward = (text: string) =>
      page
        .locator('[role=rowgroup] span', { hasText: text })
        .first()
        .evaluate((span) => getComputedStyle(span).color);
    const large = await colourOfReward('1.050');
    await page.goto(`${view.url}#/episodes?sort=reward`);
    expect(await colourOfReward('0.050')).not.toBe(large);
    await close();
  });

  it('colours the tokens that were sampled, and says their values', async () => {
    const { page, close, expectQuiet } = await openPage(browser, `${view.url}#/episode?number=5`);
    for (const colour of ['mask', 'probability', 'reward', 'advantage', 'entropy']) {
      await page.getByLabel('colour tokens by').selectOption(colour);
      await page.locator('.legend').waitFor();
      const tokens = page.locator('.token');
      expect(await tokens.count()).toBe(13);
      expect(await tokens.first().getAttribute('title')).toMatch(new RegExp(` ${colour} -?[\\d.e-]+$`));
    }
    expect(await page.locator('.message.failed').textContent()).toContain('✘ unknown_tool');
    await expectAccessible(page);
    await page.keyboard.press('d');
    await expectAccessible(page);
    expectQuiet();
    await close();
  });
});

it('follows a run that is still training', async () => {
  const live = join(folder, 'live');
  await makeRun(live, { steps: 1, seed: 3 });
  const own = await serveView({ runs: [live] });
  try {
    const { page, close, expectQuiet } = await openPage(browser, `${own.url}#/curves`);
    await page.getByRole('img', { name: /^Entropy over steps.*entropy 1$/ }).waitFor();
    await appendSteps(live, 2, 4);
    await page.getByRole('img', { name: /^Entropy over steps.*entropy 0\.25$/ }).waitFor();
    await page.getByRole('link', { name: 'Episodes' }).click();
    await countOf(page, `${4 * episodesPerStep} episodes`);
    await appendSteps(live, 5, 5);
    await countOf(page, `${5 * episodesPerStep} episodes`);
    // A resumed run may begin its files anew.
    await rm(live, { recursive: true });
    await makeRun(live, { steps: 2, seed: 3 });
    await countOf(page, `${2 * episodesPerStep} episodes`);
    expectQuiet();
    await close();
  } finally {
    await own.close();
  }
});

describe('an episode of several conversations', () => {
  /** The main conversation, a helper of which one answer reached nobody, and the main conversation again. */
  function conversations() {
    const { steps, ...episode } = episodeOf(1, 0);
    const [first, last] = steps as [(typeof steps)[0], (typeof steps)[0]];
    const helped = (content: string) => ({
      ...last,
      observation: {
        conversation: '5e0e7d4c9a1b',
        messages: [
          { role: 'system' as const, content: 'Help to answer.' },
          { role: 'user' as const, content },
        ],
        tools: [],
      },
      rewards: {},
    });
    const lost = { ...helped('Who founded it?'), learn: false };
    return { ...episode, steps: [first, lost, { ...helped('Who founded it?'), action: last.action }, last] };
  }

  it.each([1280, 390])(
    'marks where each begins, and what is not learned from, at %i pixels',
    async (width) => {
      const run = join(folder, `conversations-${width}`);
      await mkdir(run);
      await writeFile(join(run, 'config.json'), await readFile(join(folder, 'first/config.json')));
      await writeFile(join(run, 'trajectories.jsonl'), `${encodeTrajectory(conversations())}\n`);
      const own = await serveView({ runs: [run] });
      const { page, close, expectQuiet } = await openPage(browser, `${own.url}#/episode?number=0`);
      await page.setViewportSize({ width, height: 900 });
      await page.locator('.turns').waitFor();
      const marks = await page
        .locator('.turns > li')
        .evaluateAll((turns) =>
          turns.map((turn) => [
            ...[...turn.querySelectorAll('.note')].map(({ textContent }) => textContent),
            ...[...turn.querySelectorAll('.assistant h4 small')].map(({ textContent }) => textContent),
          ]),
        );
      const name = 'conversation 5e0e7d4c9a1b';
      expect(marks).toEqual([
        ['8 tokens'],
        ['Another conversation begins.', name, 'not learned from', '5 tokens'],
        [name, '5 tokens'],
        ['Back in the first conversation.', '5 tokens'],
      ]);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(overflow).toBeLessThanOrEqual(0);
      await expectAccessible(page);
      expectQuiet();
      await close();
      await own.close();
    },
  );
});
