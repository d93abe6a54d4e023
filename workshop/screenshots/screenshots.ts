/**
 * `npm run screenshots` takes the pictures of the pages for docs/view, and the social card of the site, in Chromium: CHROMIUM names the program.
 * It first makes the runs that they show, unless they are in the folder of `--runs`. `--only group` takes one picture, and can be
 * repeated. Look at each picture before you commit it.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openEnv } from '@toolenv/core';
import { servePlay, serveView } from '@toolenv/view';
import { type Browser, chromium, type Page } from 'playwright-core';
import { knownEnv } from '../../packages/cli/src/commands/view-command.ts';
import { tokenTexts } from '../../packages/policy/src/checkpoint/token-texts.ts';
import buildPage from '../../packages/view/browser-test/build-page.ts';
import { servePlayground } from '../../site/playground/browser-test/serve-playground.ts';
import { closing } from '../closing.ts';
import { makeRuns, type Runs } from './runs.ts';

type Theme = 'light' | 'dark';

const { runs: folder, only } = parseArgs({
  options: {
    runs: { type: 'string', default: 'runs/screenshots' },
    only: { type: 'string', multiple: true },
  },
}).values;
const isWanted = (...names: string[]) => only === undefined || names.some((name) => only.includes(name));
const root = join(import.meta.dirname, '../..');
const out = join(root, 'docs/view');
await mkdir(out, { recursive: true });
const shown = [
  'runs',
  'overview',
  'curves',
  'episodes',
  'options',
  'episode',
  'group',
  'tasks',
  'pair',
  'scores',
];
const runs = isWanted(...shown) ? await makeRuns(folder) : undefined;
await buildPage();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  if (runs) await takeView(browser, runs);
  if (runs && isWanted('tasks')) await takeTasks(browser, runs);
  if (runs && isWanted('runs')) await takeRuns(browser, runs);
  if (runs && isWanted('pair', 'scores')) await takeEvaluations(browser, runs);
  if (isWanted('card')) await takeCard(browser);
  if (isWanted('play')) await takePlay(browser);
  if (isWanted('playground')) await takePlayground(browser);
} finally {
  await browser.close();
}

async function takeView(browser: Browser, { compared }: Runs): Promise<void> {
  const texts = await tokenTexts(join(compared[0], 'policy'));
  const shown = { runs: compared, tokenTexts: async () => ({ texts }), environment: knownEnv };
  await using view = closing(await serveView(shown));
  const light = await openPage(browser, view.url, 'light');
  await picture(light, '#/overview', 'overview');
  await picture(light, '#/curves', 'curves');
  await picture(light, '#/episodes', 'episodes');
  await picture(light, '#/options', 'options');
  const dark = await openPage(browser, view.url, 'dark');
  // The first group whose episodes earned differently: the list is sorted, and the row after the best episodes is another.
  const { rows } = (await (
    await fetch(`${view.url}api/episodes?run=${await firstName(view.url)}&step=4..&count=1000`)
  ).json()) as {
    rows: { step: number; group: number; number: number; reward: number; turns: number }[];
  };
  const right = rows.find(({ turns, reward }) => turns > 2 && reward > 1)!;
  await picture(light, `#/episode?number=${right.number}`, 'episode', 'probability');
  await picture(dark, `#/group?step=${right.step}&group=${right.group}`, 'group', 'advantage');
}

/** The table of all runs. */
async function takeRuns(browser: Browser, { compared, tasks, evaluations }: Runs): Promise<void> {
  await using view = closing(await serveView({ runs: [...compared, tasks, ...evaluations] }));
  await picture(await openPage(browser, view.url, 'light'), '#/runs', 'runs');
}

/** The heat map of a run, tasks that were learned last first. */
async function takeTasks(browser: Browser, { tasks }: Runs): Promise<void> {
  await using view = closing(await serveView({ runs: [tasks] }));
  await picture(await openPage(browser, view.url, 'light'), '#/tasks', 'tasks');
}

/** The scores, and the first task that flipped. */
async function takeEvaluations(browser: Browser, { compared, evaluations }: Runs): Promise<void> {
  const texts = await tokenTexts(join(compared[0], 'policy'));
  const shown = { runs: evaluations, tokenTexts: async () => ({ texts }), environment: knownEnv };
  await using view = closing(await serveView(shown));
  const light = await openPage(browser, view.url, 'light');
  await picture(light, '#/scores', 'scores');
  if (!isWanted('pair')) return;
  await light.getByRole('link', { name: 'Scores' }).click();
  await light.getByRole('link', { name: / and / }).click();
  await light.locator('.compared').first().click();
  await picture(light, undefined, 'pair');
}

async function takePlay(browser: Browser): Promise<void> {
  await using env = await openEnv('@toolenv/envs-classic/bank-v1');
  const { train } = env.tasks;
  await using served = closing(await servePlay({ env, task: (number) => train.get(number - 1), seed: 0 }));
  const page = await openPage(browser, served.url, 'light');
  await page.getByText('find_customer').first().click();
  await picture(page, undefined, 'play');
}

/** A question that the policy answers after ten steps of training. */
async function takePlayground(browser: Browser): Promise<void> {
  await using served = closing(await servePlayground());
  const page = await openPage(browser, served.url, 'light');
  await page.getByRole('button', { name: 'Train', exact: true }).click({ timeout: 120_000 });
  const after = page.getByLabel('Held-out questions').locator('dd').nth(1);
  await after.filter({ hasText: /^\d/ }).waitFor({ timeout: 600_000 });
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.getByText('The right answer is').waitFor();
  await page.evaluate('scrollTo(0, 0)');
  await picture(page, undefined, 'playground');
}

/** The name, the sentence, and the curves of the demo beside them, in the size that networks show. */
async function takeCard(browser: Browser): Promise<void> {
  const curves = await readFile(join(root, 'docs/demo/curves.svg'), 'utf8');
  const page = await browser.newPage({ viewport: { width: 1200, height: 630 } });
  await page.setContent(`<style>svg { flex: none; width: 760px; height: auto }</style>
    <body style="margin:0;padding:0 40px 0 56px;height:630px;display:flex;align-items:center;gap:24px;font-family:system-ui,sans-serif;background:#fff;color:#16191d">
    <div><div style="font-size:80px;font-weight:700;color:#0a6b5c">toolenv</div>
    <div style="font-size:40px;line-height:1.25;margin-top:12px">Train agents that use tools, in TypeScript</div></div>
    ${curves}</body>`);
  const path = join(root, 'site/public/card.png');
  await page.screenshot({ path });
  process.stdout.write(`${path}\n`);
}

async function openPage(browser: Browser, url: string, theme: Theme): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: theme });
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

/** @param hash Of the view; absent for the page as it is. @param colour What the tokens are coloured by. */
async function picture(page: Page, hash: string | undefined, name: string, colour?: string): Promise<void> {
  if (!isWanted(name)) return;
  if (hash !== undefined) await page.goto(new URL(hash, page.url()).href);
  if (colour !== undefined) await page.getByLabel('colour tokens by').selectOption(colour);
  // Rows and curves come after the page.
  await page.waitForTimeout(1500);
  await page.screenshot({ path: join(out, `${name}.png`) });
  process.stdout.write(`${join(out, name)}.png\n`);
}

async function firstName(url: string): Promise<string> {
  const [first] = (await (await fetch(`${url}api/runs`)).json()) as { name: string }[];
  return encodeURIComponent(first!.name);
}
