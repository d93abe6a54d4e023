/** Playwright's and Chrome DevTools' servers drive Chromium: by hand with `connectMcp`, and in an environment that a script plays. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { playTask, type Script } from '@toolenv/core';
import { connectMcp, defineMcpEnv } from '@toolenv/mcp';
import { closing } from '../../closing.ts';
import { scratchFolder } from '../../scratch-folder.ts';
import type { Browser } from './browsers.ts';
import { expect, namesOf, read } from './model-view.ts';

const buttons = ['apple', 'pear'].map(
  (item) =>
    `<button onclick="buy('${item}').then(() => this.replaceWith('Sold ${item}'))">Buy ${item}</button>`,
);
const html = `<!doctype html><title>Shop</title><link rel="icon" href="data:,"><h1>Shop</h1>${buttons.join('')}
<script>const buy = (item) => fetch(location, { method: 'POST', body: item })</script>`;

interface ShopPage {
  url: string;
  /** What a customer has bought. */
  bought(customer: string): string[];
  close(): void;
}

async function openShopPage(): Promise<ShopPage> {
  const sales: { customer: string; item: string }[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      const item = (await request.toArray()).join('');
      sales.push({ customer: request.url!.slice(1), item });
    }
    response.setHeader('content-type', 'text/html').end(html);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    bought: (customer) => sales.filter((sale) => sale.customer === customer).map(({ item }) => item),
    close: () => void server.close().closeAllConnections(),
  };
}

export async function checkBrowsers(browsers: readonly Browser[]): Promise<void> {
  await using scratch = await scratchFolder();
  await using page = closing(await openShopPage());
  for (const browser of browsers) {
    await checkBrowser(browser, page, scratch.path);
    await checkEnv(browser, page, scratch.path);
  }
}

async function checkBrowser(browser: Browser, page: ShopPage, scratch: string): Promise<void> {
  const { title } = browser;
  const connection = await connectMcp(browser.server(scratch, scratch));
  try {
    expect(`${title}: lists its tools`, namesOf(connection), browser.tools);
    const texts: string[] = [];
    for (const asked of [
      () => browser.open(page.url),
      () => browser.look,
      () => browser.click('Buy pear', texts[1]!),
      () => browser.look,
    ])
      texts.push(await read(connection, ...asked()));
    for (const [index, text] of browser.reads(page.url).entries())
      expect(`${title}: reads page, step ${index + 1}`, texts[index], text);
  } finally {
    await connection.close();
  }
  expect(`${title}: closing ends the browser`, await processesOf(scratch), []);
}

/** Two episodes with one task, the second of which buys another item. */
async function checkEnv(browser: Browser, page: ShopPage, scratch: string): Promise<void> {
  let customer = '';
  const env = defineMcpEnv({
    name: 'purchase-v1',
    server: ({ folder }) => browser.server(folder, scratch),
    tasks: [{ item: 'pear' }],
    episode: ({ task }) => {
      customer = randomUUID();
      return { messages: `Buy one ${task.item}: ${page.url}${customer}` };
    },
    rewards: {
      bought: {
        kind: 'outcome',
        score: ({ task }) => Number(page.bought(customer).join() === task.item),
      },
    },
  });
  for (const item of ['pear', 'apple']) {
    const { reward } = await playTask(env, { item: 'pear' }, buyer(browser, item));
    const scored = { reward, bought: page.bought(customer) };
    const title = `${browser.title}: an episode that buys one ${item} for a pear`;
    expect(title, scored, { reward: item === 'pear' ? 1 : 0, bought: [item] });
  }
  expect(`${browser.title}: the environment ends its browsers`, await processesOf(scratch), []);
}

/** Opens the page that the first message names, and clicks on the button of an item. */
function buyer(browser: Browser, item: string): Script {
  return ({ messages }, turn) => {
    const last = messages.at(-1)!.content;
    const calls = [
      () => browser.open(/http:\S+/.exec(last)![0]),
      () => browser.look,
      () => browser.click(`Buy ${item}`, last),
    ];
    const next = calls[turn]?.();
    return next ? [{ name: next[0], arguments: next[1] }] : 'Done.';
  };
}

/** The command lines of processes that name a folder, once they have had time to end. */
async function processesOf(folder: string): Promise<string[]> {
  for (let wait = 0; ; wait++) {
    const { stdout } = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8', maxBuffer: 2 ** 28 });
    const found = stdout.split('\n').filter((line) => line.includes(folder));
    if (found.length === 0 || wait === 50) return found;
    await sleep(100);
  }
}
