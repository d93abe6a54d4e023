/**
 * What a reader asks of runs, and how far away the answer is. Each task is done as a newcomer would do it, from the first page, in at
 * most three clicks or one search.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { lockFolder } from '@toolenv/core/files';
import { encodeTrajectory } from '@toolenv/core/recording';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedPage, serveView } from '../src/index.ts';
import { episodeOf, makeRun } from './make-run.ts';
import { openBrowser, openPage } from './open-page.ts';

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await openBrowser();
  folder = await mkdtemp(join(tmpdir(), 'toolenv-ten-tasks-'));
});

afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true });
});

/** A reader who counts. */
class Reader {
  readonly page: Page;
  #clicks = 0;
  #searches = 0;

  constructor(page: Page) {
    this.page = page;
  }

  async click(target: Locator): Promise<void> {
    this.#clicks += 1;
    await target.click();
  }

  /** A list is opened by a click, and its value is another. */
  async choose(list: Locator, value: string): Promise<void> {
    this.#clicks += 2;
    await list.selectOption(value);
  }

  async search(words: string): Promise<void> {
    this.#searches += 1;
    await this.page.getByLabel('search', { exact: true }).fill(words);
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }

  link(name: string | RegExp): Locator {
    return this.page.getByRole('link', { name });
  }

  get effort(): { clicks: number; searches: number } {
    return { clicks: this.#clicks, searches: this.#searches };
  }
}

async function read(url: string, work: (reader: Reader) => Promise<void>): Promise<void> {
  const { page, close, expectQuiet } = await openPage(browser, url);
  await page.locator('.run-rows > .row').nth(1).waitFor();
  const reader = new Reader(page);
  await work(reader);
  const { clicks, searches } = reader.effort;
  expect(clicks + searches).toBeGreaterThan(0);
  expect(searches === 0 ? clicks <= 3 : searches === 1 && clicks === 0).toBe(true);
  expectQuiet();
  await close();
}

const jsonl = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

async function writeTraining(path: string, learningRate: number, seed: number, em: number): Promise<void> {
  await mkdir(path, { recursive: true });
  const config = {
    env: '@toolenv/envs-qa/bridge-v1',
    policy: 'tiny',
    trainer: '@toolenv/trainer-grpo/grpo-v1',
    trainerOptions: { steps: 4, learningRate, groupSize: 8 },
    seed,
  };
  const steps = [1, 2, 3, 4].flatMap((step) => [
    { type: 'rollout', step, metrics: { reward: em, 'rewards/em/mean': em } },
    { type: 'update', step, metrics: { step_time: 60 } },
  ]);
  const last = { type: 'evaluation', step: 4, metrics: { reward: em, 'rewards/em/mean': em } };
  await writeFile(join(path, 'config.json'), JSON.stringify(config));
  await writeFile(join(path, 'metrics.jsonl'), jsonl([...steps, last]));
  await writeFile(join(path, 'end.json'), JSON.stringify({ end: 'finished' }));
}

describe('of twelve training runs', () => {
  let view: ServedPage;
  let held: Awaited<ReturnType<typeof lockFolder>>;

  beforeAll(async () => {
    const runs = join(folder, 'trainings');
    for (const [place, learningRate] of [1e-4, 3e-5, 1e-5].entries())
      for (const seed of [1, 2, 3]) {
        const em = [0.6, 0.8, 0.5][place]! + seed / 100;
        await writeTraining(join(runs, `rate-${learningRate}-${seed}`), learningRate, seed, em);
      }
    await makeRun(join(runs, 'learns'), { steps: 12, seed: 1 });
    await writeFile(join(runs, 'learns', 'end.json'), JSON.stringify({ end: 'finished' }));
    // Its rewards are all the same, so that it cannot learn.
    const still = join(runs, 'still');
    await mkdir(still);
    await writeFile(
      join(still, 'config.json'),
      JSON.stringify({ env: 'e', trainer: 'grpo', trainerOptions: { steps: 12 } }),
    );
    const rewards = Array.from({ length: 12 }, (_, at) => [
      {
        type: 'rollout',
        step: at + 1,
        metrics: { reward: 0, 'rewards/em/mean': 0, frac_reward_zero_std: 1 },
      },
      { type: 'update', step: at + 1, metrics: { loss: 0, step_time: 60 } },
    ]);
    await writeFile(join(still, 'metrics.jsonl'), jsonl(rewards.flat()));
    await writeFile(join(still, 'end.json'), JSON.stringify({ end: 'finished' }));
    const live = join(runs, 'live');
    await writeTraining(live, 1e-4, 4, 0.1);
    await rm(join(live, 'end.json'));
    await writeFile(
      join(live, 'config.json'),
      JSON.stringify({ env: 'e', trainer: 'grpo', trainerOptions: { steps: 10 } }),
    );
    held = await lockFolder(live);
    view = await serveView({ runs: [runs] });
  });

  afterAll(async () => {
    await view.close();
    await held.release();
  });

  const row = (page: Page, name: string) => page.locator('.run-rows > .row', { hasText: name });

  it('1. which is best?', async () => {
    await read(view.url, async (reader) => {
      await reader.click(reader.button('score'));
      await reader.page.locator('.run-rows > .row').first().getByText('rate-0.00003-3').waitFor();
    });
  });

  it('2. which option made the difference?', async () => {
    await read(view.url, async (reader) => {
      await reader.click(reader.page.getByLabel('Compare rate-0.00003-1'));
      await reader.click(reader.page.getByLabel('Compare rate-0.00001-1'));
      await reader.click(reader.page.locator('.compare').getByRole('link', { name: 'options' }));
      await reader.page.getByRole('heading', { name: '1 option differs' }).waitFor();
      await reader.page.getByText('trainerOptions.learningRate').waitFor();
    });
  });

  it('3. is it the luck of a seed?', async () => {
    await read(view.url, async (reader) => {
      await reader.click(reader.page.getByLabel('seeds together'));
      await row(reader.page, 'rate-0.00003').getByText('0.820 ± 0.010').first().waitFor();
    });
  });

  it('4. what is wrong with this run, and what helps?', async () => {
    await read(view.url, async (reader) => {
      await row(reader.page, 'still').getByText(/▲/).waitFor();
      await reader.click(row(reader.page, 'still').getByRole('link'));
      await reader.page.getByRole('heading', { name: 'What is wrong' }).waitFor();
      await reader.link('What helps, in the documentation').first().waitFor();
    });
  });

  it('5. when did it learn this task?', async () => {
    await read(view.url, async (reader) => {
      await reader.click(row(reader.page, 'learns').getByRole('link'));
      await reader.click(reader.link('Tasks'));
      await reader.page
        .locator('.task .kind', { hasText: /learned \d/ })
        .first()
        .waitFor();
    });
  });

  it('6. how long will it still take?', async () => {
    await read(view.url, async (reader) => {
      await reader.search('status:running');
      await row(reader.page, 'live').waitFor();
      expect(await reader.page.locator('.run-rows > .row').count()).toBe(1);
      expect(await row(reader.page, 'live').textContent()).toMatch(/4 \/ 10/);
    });
    await read(view.url, async (reader) => {
      await reader.click(row(reader.page, 'live').getByRole('link'));
      // Six steps of a minute.
      await reader.page.locator('.facts', { hasText: 'time left6 min 0 s' }).waitFor();
    });
  });
});

/** An evaluation of twelve tasks of two levels, of which the first ones are right. */
async function writeEvaluation(path: string, right: number, tokens: number): Promise<void> {
  await mkdir(path, { recursive: true });
  const episodes = Array.from({ length: 12 }, (_, group) => {
    const { step: _step, ...episode } = episodeOf(1, 0);
    const isRight = group < right;
    const question = `Question ${group}?`;
    const steps = structuredClone(episode.steps);
    for (const { observation, action } of steps) {
      observation.messages[1]!.content = question;
      delete action.tokens;
    }
    steps[1]!.action.text = isRight ? 'Ada' : 'Bo';
    return {
      ...episode,
      steps,
      group,
      episodeId: `${group}`,
      task: { question, level: group < 6 ? 'easy' : 'hard' },
      rewards: { em: Number(isRight), retrieved: 0.5 },
      reward: Number(isRight) + 0.05,
    };
  });
  await writeFile(
    join(path, 'trajectories.jsonl'),
    episodes.map((each) => `${encodeTrajectory(each)}\n`).join(''),
  );
  const em = right / 12;
  const summary = {
    env: 'e',
    policy: path,
    episodes: 12,
    means: { em, retrieved: 0.5 },
    reward: em + 0.05,
    tokens,
  };
  await writeFile(join(path, 'summary.json'), JSON.stringify(summary));
}

describe('of three evaluations', () => {
  let view: ServedPage;

  beforeAll(async () => {
    const runs = join(folder, 'evaluations');
    await writeEvaluation(join(runs, 'a-small'), 3, 120);
    await writeEvaluation(join(runs, 'b-large'), 10, 1200);
    await writeEvaluation(join(runs, 'c-slow'), 9, 2400);
    view = await serveView({ runs: [runs] });
  });

  afterAll(() => view.close());

  it('7. is it better by more than chance?', async () => {
    await read(view.url, async (reader) => {
      await reader.click(reader.link('Scores'));
      const em = reader.page.getByRole('row', { name: /^em/ });
      await em.getByText(/▲ \+0\.583 \(\+0\.\d+ to \+\d\.\d+\)/).waitFor();
      expect(await em.locator('td').nth(2).textContent()).toMatch(/▲ \+0\.500/);
    });
  });

  it('8. show the episodes in which they differ', async () => {
    await read(view.url, async (reader) => {
      await reader.click(reader.link('Scores'));
      await reader.click(reader.link('a-small and b-large'));
      await reader.click(reader.page.locator('.compared').first());
      await reader.page.getByText('Bo', { exact: true }).waitFor();
      await reader.page.getByText('Ada', { exact: true }).waitFor();
    });
  });

  it('9. what does this model get wrong, and on which kind of task?', async () => {
    await read(view.url, async (reader) => {
      await reader.click(reader.link(/^b-large/));
      await reader.click(reader.link('Tasks'));
      await reader.page.getByText('10 of 12 tasks are right by em').waitFor();
      const kinds = reader.page.getByRole('region', { name: 'Scores by level' });
      expect(await kinds.locator('tbody tr').allTextContents()).toEqual(['easy61.000', 'hard60.667']);
      await reader.click(reader.page.locator('.compared', { hasText: '✗ wrong' }).first());
      await reader.page.locator('.message.user', { hasText: 'Question 10?' }).waitFor();
    });
  });

  it('10. which gives most for its tokens?', async () => {
    await read(view.url, async (reader) => {
      await reader.click(reader.link('Scores'));
      await reader.page
        .getByText('On the line, no other run scores as much for less: a-small, b-large.')
        .waitFor();
    });
  });

  it('11. send this to a colleague', async () => {
    await read(view.url, async (reader) => {
      await reader.click(reader.link('Scores'));
      await reader.page.locator('.difference').first().waitFor();
      const [download] = await Promise.all([
        reader.page.waitForEvent('download'),
        reader.click(reader.button('Save report')),
      ]);
      const file = join(folder, 'sent.html');
      await writeFile(file, await readFile((await download.path())!));
      // The file opens where the reader was, with the same numbers.
      const sent = await openPage(browser, pathToFileURL(file).href);
      await sent.page.locator('.difference').first().waitFor();
      const table = (page: Page) => page.locator('.compared-scores .scores').first().textContent();
      expect(await table(sent.page)).toBe(await table(reader.page));
      expect(await sent.page.getByRole('button', { name: 'Save report' }).count()).toBe(0);
      sent.expectQuiet();
      await sent.close();
    });
  });

  it('12. find the run of the paper again', async () => {
    const notes = { note: 'the run of the paper', tags: ['paper'] };
    await writeFile(join(folder, 'evaluations/c-slow/notes.json'), JSON.stringify(notes));
    await read(view.url, async (reader) => {
      await reader.search('tags:paper');
      await reader.page.locator('.count', { hasText: '1 of 3 runs' }).waitFor();
      await reader.page.locator('.run-rows', { hasText: 'c-slow' }).waitFor();
    });
  });
});
