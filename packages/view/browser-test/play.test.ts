/** The page of `toolenv play` in Chromium: a person opens a safe, by mouse and by keyboard. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnv } from '@toolenv/core';
import { readTrajectories } from '@toolenv/core/recording';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import safe from '../../../templates/env/src/safe-v1.ts';
import { servePlay } from '../src/index.ts';
import { expectAccessible, openBrowser, openPage } from './open-page.ts';

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await openBrowser();
  folder = await mkdtemp(join(tmpdir(), 'toolenv-play-'));
});

afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true });
});

it('an episode is played, scored and kept, and the next begins', async () => {
  const env = await openEnv(safe, {}, { seed: 1 });
  const out = join(folder, 'played.jsonl');
  const tasks = env.tasks.train;
  const { code } = await tasks.get(0);
  const served = await servePlay({
    env,
    task: (number) => tasks.get(number - 1),
    seed: 1,
    oracle: safe.oracle,
    out,
  });
  try {
    const { page, expectQuiet } = await openPage(browser, served.url);
    await page.getByText('The code of the safe is a number of three digits.').waitFor();
    await expectAccessible(page);
    const field = page.getByRole('spinbutton', { name: 'code' });
    await field.fill(String(code === 500 ? 501 : 500));
    await page.getByRole('button', { name: 'Call try_code' }).click();
    await page.locator('.message.tool', { hasText: code < 500 ? 'Lower.' : 'Higher.' }).waitFor();
    await page.getByText(/^rewarded 0\.\d+: narrowed 0\.\d+ × 0\.1$/).waitFor();
    // A person may make the mistakes of a policy.
    await field.fill('7');
    await field.press('Enter');
    await page.locator('.message.tool.failed', { hasText: '✘ invalid_arguments' }).waitFor();
    await field.fill(String(code));
    await field.press('Enter');
    await page.getByText('The safe opens.').waitFor();
    await page.getByLabel('your answer').fill(String(code));
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^The episode is over\. Reward 1\.1/ }).waitFor();
    const solution = page.getByRole('region', { name: 'How the task is won' });
    await solution.getByText(`try_code({"code":${code}})`).waitFor();
    await page.getByText(`1 kept in ${out}`).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Next episode' }).click();
    await page.getByText('safe-v1, episode 2').waitFor();
    expectQuiet();
  } finally {
    await served.close();
    await env.close();
  }
  const kept = [];
  for await (const trajectory of readTrajectories(out)) kept.push(trajectory);
  expect(kept).toHaveLength(1);
  expect(kept[0]).toMatchObject({
    env: 'safe-v1',
    policy: 'person',
    task: { code },
    outcome: { kind: 'terminated', reason: 'answered' },
    rewards: { opened: 1 },
  });
  expect(kept[0]!.steps.map(({ action }) => action.toolCalls.length)).toEqual([1, 1, 1, 0]);
});
