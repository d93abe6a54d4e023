/** The tasks in Chromium: over the steps of a run, and between two evaluations. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeTrajectory } from '@toolenv/core/recording';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveView } from '../src/index.ts';
import { episodeOf, makeRun } from './make-run.ts';
import { expectAccessible, expectFits, openBrowser, openPage, widths } from './open-page.ts';

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await openBrowser();
  folder = await mkdtemp(join(tmpdir(), 'toolenv-tasks-'));
});

afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true });
});

/** An evaluation of three tasks, of which these are right. */
async function makeEvaluation(name: string, right: readonly boolean[]): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  const lines = right.map((isRight, group) => {
    const { step: _, ...episode } = episodeOf(1, 0);
    const question = `Question ${group}?`;
    const [em, reward] = isRight ? [1, 1.05] : [0, 0.05];
    const last = episode.steps[1]!;
    const sampled = last.action.tokens!.action.map((id, at) => (isRight && at === 2 ? 999 : id));
    const tokens = { ...last.action.tokens!, action: sampled };
    const asked = episode.steps.map((each) => ({
      ...each,
      observation: {
        ...each.observation,
        messages: each.observation.messages.map((message) =>
          message.role === 'user' ? { ...message, content: question } : message,
        ),
      },
    }));
    const steps = [
      asked[0]!,
      { ...asked[1]!, action: { ...last.action, text: isRight ? 'Ada' : 'Bo', tokens } },
    ];
    return {
      ...episode,
      episodeId: `1-${group}-0`,
      group,
      task: { question },
      steps,
      reward,
      rewards: { em, retrieved: 0.5 },
    };
  });
  await writeFile(
    join(path, 'trajectories.jsonl'),
    lines.map((each) => `${encodeTrajectory(each)}\n`).join(''),
  );
  const share = right.filter(Boolean).length / right.length;
  const summary = {
    env: 'e',
    policy: name,
    episodes: right.length,
    means: { em: share, retrieved: 0.5 },
    reward: share,
  };
  await writeFile(join(path, 'summary.json'), JSON.stringify(summary));
  return path;
}

it('a cell of the map opens its group, and the order is part of the address', async () => {
  const run = join(folder, 'run');
  await makeRun(run, { steps: 12, seed: 1 });
  const view = await serveView({ runs: [run] });
  const { page, close, expectQuiet } = await openPage(browser, `${view.url}#/tasks`);
  // Three questions, each asked in each step.
  await page.locator('.tasks > li').nth(2).waitFor();
  expect(await page.locator('.cell').count()).toBe(36);
  await page.getByLabel('first').selectOption('learned last');
  await page.waitForURL(/sort=learned/);
  await page.reload();
  await page.locator('.tasks > li').nth(2).waitFor();
  expect(await page.getByLabel('first').inputValue()).toBe('learned');
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.reload();
    await page.locator('.tasks > li').nth(2).waitFor();
    await expectAccessible(page);
  }
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await expectFits(page);
  }
  const cell = page.locator('.cell').nth(3);
  expect(await cell.getAttribute('title')).toMatch(/^step 4: mean reward \d\.\d{3} of (16|24) episodes$/);
  await cell.click();
  await page.getByRole('heading', { name: /^Group \d of step 4$/ }).waitFor();
  await page.locator('.columns article').nth(7).waitFor();
  expectQuiet();
  await close();
  await view.close();
});

it('two evaluations: the tasks that flipped, and the first token in which their episodes differ', async () => {
  const before = await makeEvaluation('before', [true, false, true]);
  const after = await makeEvaluation('after', [false, true, true]);
  const view = await serveView({ runs: [before, after] });
  const { page, close, expectQuiet } = await openPage(browser, `${view.url}#/tasks?run=before&with=after`);
  await page.locator('.count', { hasText: 'after lost 1 task and won 1 by em; 1 are the same.' }).waitFor();
  expect(await page.locator('.compared').allTextContents()).toEqual([
    '▼ lost1.00 → 0.00Question 0?',
    '▲ won0.00 → 1.00Question 1?',
  ]);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await expectFits(page);
  }
  await expectAccessible(page);
  await page.locator('.compared').first().click();
  await page.getByText('The first difference: token 3 of turn 2, "999 " and "102 ".').waitFor();
  expect(await page.locator('.token.marked').allTextContents()).toEqual(['999 ', '102 ']);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await expectFits(page);
  }
  await expectAccessible(page);
  expectQuiet();
  await close();
  await view.close();
});
