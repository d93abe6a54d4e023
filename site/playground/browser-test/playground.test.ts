/** The playground in Chromium: it answers as the policy does in Node, a person takes over a turn, and the policy learns. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Action, openEnv, playTask } from '@toolenv/core';
import { goldTitles } from '@toolenv/envs-qa';
import bridge from '@toolenv/envs-qa/bridge-v1';
import { loadPolicy } from '@toolenv/policy';
import search from '@toolenv/tools-search/search-v1';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  expectAccessible,
  expectFits,
  openBrowser,
  openPage,
  widths,
} from '../../../packages/view/browser-test/open-page.ts';
import { environmentExample } from '../code-examples.ts';
import { servePlayground } from './serve-playground.ts';

const checkpoint = join(import.meta.dirname, '../../../packages/checkpoints/tiny');
let served: Awaited<ReturnType<typeof servePlayground>>;
let browser: Browser;

beforeAll(async () => {
  served = await servePlayground();
  browser = await openBrowser();
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await served?.close();
});

it('answers, is taken over, and learns, without a server', async () => {
  const { page, expectQuiet, close } = await openPage(browser, served.url);
  await page.getByText('897,920 parameters').waitFor();
  await page.getByRole('button', { name: 'Dark', exact: true }).click();
  await expectAccessible(page);

  // The policy plays greedily, and LanceDB searches for it in Node.
  const { task, written } = await playedInNode();
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.getByText(`The right answer is ${task.answer}.`).waitFor();
  expect(await writtenOn(page)).toEqual(written);
  await page.getByRole('heading', { name: /^The episode is over\. Reward 0\.050/ }).waitFor();

  // The policy searches, a person searches for what it missed and answers.
  await page.getByRole('button', { name: 'Ask again' }).press('Enter');
  await page.getByRole('button', { name: 'One turn' }).press('Enter');
  await page.locator('.message.tool').waitFor();
  expect(await writtenOn(page)).toEqual(written.slice(0, 1));
  await page.getByText('Take over this turn').press('Enter');
  await expectAccessible(page);
  await page.getByLabel('query').fill(goldTitles(task)[1]!);
  await page.getByLabel('query').press('Enter');
  await page.locator('.message.tool').nth(1).waitFor();
  await page.getByLabel('your answer').fill(`<answer>${task.answer}</answer>`);
  await page.getByLabel('your answer').press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^The episode is over\. Reward 1\.100/ }).waitFor();

  await page.getByRole('spinbutton', { name: 'steps' }).fill('8');
  await page.getByRole('spinbutton', { name: 'steps' }).press('Enter');
  const training = page.getByRole('region', { name: 'Training', exact: true });
  await training.getByText('8 steps trained').waitFor({ timeout: 240_000 });
  await training.getByRole('button', { name: 'Train', exact: true }).and(page.locator(':enabled')).waitFor();
  const found = /Reward (\S+) in the first step, (\S+) on average in the last 4\./.exec(
    await training.innerText(),
  );
  const [first, last] = [Number(found?.[1]), Number(found?.[2])];
  expect(last - first).toBeGreaterThan(0.3);
  const compared = page.getByRole('region', { name: 'Before and after', exact: true });
  await compared.getByRole('heading', { name: 'After 8 steps' }).waitFor();
  expect(await compared.getByRole('heading', { name: /^The episode is over/ }).count()).toBe(2);
  // Each answer is marked, and questions that no training saw are answered before and after.
  await compared.getByRole('heading', { name: /^After 0 steps\s+wrong/ }).waitFor();
  expect(await compared.locator('.verdict').count()).toBe(4);
  const heldOut = page.getByLabel('Held-out questions');
  const scores = (await heldOut.locator('dd').allTextContents()).map((text) => Number(text.split(' ')[0]));
  // WebAssembly computes the same numbers everywhere.
  expect(scores).toEqual([0.04, 0.75]);
  await heldOut.getByText('em on 24 questions that no training sees').waitFor();

  // A colleague opens the link, whose tab trains the same weights.
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const link = page.url();
  expect(link).toMatch(/#.*trained=8\.1/);
  const colleague = await openPage(browser, link);
  await colleague.page.getByText(/This tab trains the policy of the link: step \d of 8\./).waitFor();
  await colleague.page
    .getByText('This is the policy of the link: its weights are the same')
    .waitFor({ timeout: 240_000 });
  await colleague.page
    .getByLabel('Held-out questions')
    .locator('dd')
    .nth(1)
    .getByText(/^\d/)
    .waitFor({ timeout: 60_000 });
  expect(await colleague.page.getByLabel('Held-out questions').textContent()).toBe(
    await heldOut.textContent(),
  );
  colleague.expectQuiet();
  await colleague.close();
  const learned = page.getByRole('region', { name: 'What step 8 learned' });
  expect(await learned.locator('.token.above').count()).toBeGreaterThan(5);
  expect(await learned.locator('.token.below').count()).toBeGreaterThan(5);
  await page.getByRole('button', { name: 'Light', exact: true }).click();
  await expectAccessible(page);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await expectFits(page);
  }

  // A stopped training keeps its finished steps, and the first weights can be had again.
  await page.getByRole('spinbutton', { name: 'steps' }).press('Enter');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Reset weights' }).click();
  await training.getByText('0 steps trained').waitFor({ timeout: 60_000 });
  await page.getByRole('button', { name: 'Ask again' }).click();
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.getByText('The right answer is').waitFor();
  expect(await writtenOn(page)).toEqual(written);
  expectQuiet();
  await close();
}, 600_000);

it('runs the code of a link only when the reader says so, checks it, and stops it', async () => {
  const reward =
    'globalThis.ran = true;\nexport default ({ opened }: Record<string, number>): number => 2 * opened;\n';
  const hash = new URLSearchParams({
    question: '3',
    steps: '2',
    seed: '7',
    reward,
    environment: environmentExample,
  });
  const { page, expectQuiet, close } = await openPage(browser, `${served.url}#${hash}`);
  await page.getByText('If a link brought it, read it before you run it.').waitFor();
  expect(await page.getByRole('combobox', { name: 'question' }).inputValue()).toBe('3');
  expect(await page.getByRole('spinbutton', { name: 'steps' }).inputValue()).toBe('2');
  expect(await page.getByRole('spinbutton', { name: 'seed' }).inputValue()).toBe('7');
  const [worker] = page.workers();
  expect(await worker!.evaluate('globalThis.ran')).toBeUndefined();
  await page.getByRole('button', { name: 'Use this code' }).click();
  await page.getByText(/^\d+ rules hold\.$/).waitFor({ timeout: 120_000 });
  await page.getByText('If a link brought it').waitFor({ state: 'detached' });
  expect(await worker!.evaluate('globalThis.ran')).toBe(true);
  const code = page.getByRole('region', { name: 'Your code' });
  expect(await code.getByRole('listitem').count()).toBe(0);
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.getByText(/yours \d × 1/).waitFor();
  await page.getByText('1,027,840 parameters').waitFor();

  await page.getByLabel('Reward in TypeScript').fill('export default () => { for (;;); };');
  await page.getByRole('button', { name: 'Use this code' }).click();
  await page.getByText('The code below is not in use').waitFor({ state: 'detached', timeout: 120_000 });
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('The code did not stop').waitFor();
  await page.getByText('897,920 parameters').waitFor();
  // A mistake is named at its line while it is typed.
  await page.getByLabel('Reward in TypeScript').fill('// My reward\nexport default (;');
  await page.getByRole('button', { name: 'line 2: Unexpected token' }).click();
  expect(await page.locator('.gutter .mistaken').textContent()).toBe('▸2');
  const chosen = await page.getByLabel('Reward in TypeScript').evaluate((text) => {
    const { value, selectionStart, selectionEnd } = text as unknown as {
      value: string;
      selectionStart: number;
      selectionEnd: number;
    };
    return value.slice(selectionStart, selectionEnd);
  });
  expect(chosen).toBe('export default (;');
  await page.getByRole('button', { name: 'Use this code' }).click();
  await page.getByRole('alert').getByText('Unexpected token').waitFor();
  expectQuiet();
  await close();
}, 300_000);

/** As text, because Vitest would replace `import`. Returns the ways that worked. */
const waysOut = `async (other) => {
  const opened = (made) => new Promise((resolve, reject) => Object.assign(made, { onopen: resolve, onerror: reject }));
  const ways = {
    fetch: async () => fetch(other + '/fetch'),
    import: async () => import(other + '/import.js'),
    socket: async () => opened(new WebSocket(other.replace('http', 'ws') + '/socket')),
    events: async () => opened(new EventSource(other + '/events')),
    worker: async () => opened(new Worker(other + '/worker.js')),
  };
  const worked = [];
  for (const [name, attempt] of Object.entries(ways)) await attempt().then(() => worked.push(name), () => {});
  return worked;
}`;

it('lets code reach no other server', async () => {
  const requests: string[] = [];
  const stranger = createServer(({ url }, response) => {
    requests.push(url!);
    const type = url === '/events' ? 'text/event-stream' : 'text/javascript';
    response
      .writeHead(200, { 'access-control-allow-origin': '*', 'content-type': type })
      .end('export default 1;');
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  const { port } = stranger.address() as AddressInfo;
  const { page, close } = await openPage(browser, served.url);
  await page.getByText('897,920 parameters').waitFor();
  const [worker] = page.workers();
  const leaks = await worker!.evaluate(`(${waysOut})('http://127.0.0.1:${port}')`);
  expect(leaks).toEqual([]);
  expect(requests).toEqual([]);
  expect(
    await worker!.evaluate(() => fetch(new URL('/playground/', location.origin)).then(({ ok }) => ok)),
  ).toBe(true);
  await close();
  stranger.close();
}, 60_000);

it('says that a file cannot be loaded', async () => {
  const context = await browser.newContext();
  await context.route('**/*.safetensors', (route) => route.abort());
  const page = await context.newPage();
  await page.goto(served.url);
  await page
    .getByRole('alert')
    .getByText(/^model.safetensors cannot be loaded .+: load the page again\.$/)
    .waitFor();
  await context.close();
});

/** The first question of the test split, and what the policy writes in each turn. */
async function playedInNode() {
  await using env = await openEnv(bridge, { topK: 2 }, { seed: 1, tools: { search } });
  await using policy = await loadPolicy(checkpoint);
  const task = await env.tasks.test.get(0);
  const sampling = { maxTokens: 64, temperature: 0 };
  const { steps } = await playTask(env, task, policy, { sampling, seed: 1 });
  return { task, written: steps.map(({ action }) => lines(action)) };
}

function lines({ text, toolCalls }: Action): string[] {
  const calls = toolCalls.map((call) =>
    'parseFailure' in call ? call.text : `${call.name}(${JSON.stringify(call.arguments)})`,
  );
  return [text, ...calls].filter((line) => line !== '');
}

/** What the policy wrote in each turn, as the page shows it. */
function writtenOn(page: Page): Promise<string[][]> {
  return page
    .getByRole('region', { name: 'Conversation' })
    .locator('.message.assistant')
    .evaluateAll((turns) =>
      turns.map((turn) => [...turn.querySelectorAll('pre')].map((pre) => pre.textContent ?? '')),
    );
}
