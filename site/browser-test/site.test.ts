/** The built site in Chromium. `npm run docs` builds it; a site that is missing is built first. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { type PreviewServer, preview } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  expectAccessible,
  expectFits,
  openBrowser,
  openPage,
  widths,
  zoomedWidths,
} from '../../packages/view/browser-test/open-page.ts';
import { repository } from '../pages.ts';

let browser: Browser;
let server: PreviewServer;
let url: string;

beforeAll(async () => {
  const site = join(repository, 'site');
  if (!existsSync(join(site, 'dist/index.html')))
    execFileSync('npm', ['run', 'docs'], { cwd: repository, stdio: 'inherit' });
  server = await preview({
    root: site,
    configFile: false,
    appType: 'mpa',
    logLevel: 'warn',
    preview: { host: '127.0.0.1', port: 0 },
  });
  url = server.resolvedUrls!.local[0]!;
  browser = await openBrowser();
}, 300_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const views: readonly (readonly [name: string, path: string, heading: string])[] = [
  ['the home page', '', 'Train agents that use tools'],
  ['a guide', 'guides/tool.html', 'Write a tool'],
  ['the spec', 'spec/v1.html', 'toolenv spec, version 1'],
  ['an entry point', 'api/@toolenv/core/wrappers/', '@toolenv/core/wrappers'],
  ['a name', 'api/@toolenv/core/functions/openEnv.html', 'openEnv()'],
  ['the options of a plugin', 'reference/trainer-grpo/grpo-v1.html', 'grpo-v1'],
  ['the flags of a command', 'reference/toolenv-train.html', 'toolenv train'],
  ['the gallery', 'environments/', 'Environments'],
  ['a benchmark', 'benchmarks/trl.html', 'Compared with TRL'],
];

it.each(views)(
  '%s loads without an error, asks no other host, fits every window and is accessible, dark and light',
  async (_, path, heading) => {
    const { page, close, expectQuiet } = await openPage(browser, url + path);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await expectPictures(page);
    await expectAccessible(page);
    // Sidebars slide.
    await page.addStyleTag({ content: '* { transition: none !important }' });
    for (const width of [...widths, ...zoomedWidths]) {
      await page.setViewportSize({ width, height: 900 });
      await expectFits(page);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('switch', { name: 'Switch to dark theme' }).click();
    await page.locator('html.dark').waitFor();
    // Colours change by a transition.
    await page.waitForTimeout(600);
    await expectAccessible(page, ['color-contrast']);
    await page.emulateMedia({ forcedColors: 'active' });
    await expectFits(page);
    expectQuiet();
    await close();
  },
);

it('the gallery is filtered, and its address keeps the filters', async () => {
  const { page, close, expectQuiet } = await openPage(browser, `${url}environments/`);
  const rows = page.locator('.vp-doc table tbody tr:visible');
  const headings = page.locator('.vp-doc h3:visible');
  const all = await rows.count();
  expect([all, await headings.count()]).toEqual([all, all]);
  expect(all).toBeGreaterThan(20);
  await page.getByLabel('tasks').selectOption('made by a generator');
  await page.getByLabel('turns').selectOption('four and more');
  await page.getByLabel('tools').selectOption('with tools');
  expect(await rows.locator('td:first-child').allTextContents()).toEqual([
    'files-v1',
    'claims-v1',
    'comparison-v1',
    'compose-v1',
  ]);
  expect(await headings.count()).toBe(4);
  // Packages without one are gone, with the line below them.
  expect(await page.locator('.vp-doc h2:visible').count()).toBe(2);
  expect(await page.getByText('Its README').locator('visible=true').count()).toBe(2);
  await page
    .getByRole('status')
    .filter({ hasText: `4 of ${all} environments` })
    .waitFor();
  await expectAccessible(page);
  await page.reload();
  await page
    .getByRole('status')
    .filter({ hasText: `4 of ${all} environments` })
    .waitFor();
  expect(await page.getByLabel('turns').inputValue()).toBe('four and more');
  await page.goto(`${url}environments/?trained=SmolLM2-135M`);
  await page
    .getByRole('status')
    .filter({ hasText: `4 of ${all} environments` })
    .waitFor();
  await page.goto(`${url}guides/tool.html`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await page.locator('.gallery-filter').count()).toBe(0);
  // The filters hide nothing of another page, also of one that is opened within the site.
  expect(await page.locator('.vp-doc [hidden]').count()).toBe(0);
  expectQuiet();
  await close();
});

it.each([1280, 1440, 1520, 1600, 1920])('the sidebar is whole in a window of %i pixels', async (width) => {
  const { page, close } = await openPage(browser, `${url}guides/tool.html`);
  await page.setViewportSize({ width, height: 900 });
  const sidebar = (await page.locator('.VPSidebar').boundingBox())!;
  const links = await page.locator('.VPSidebar .text').evaluateAll((all) =>
    all.map((link) => {
      const { left, right } = link.getBoundingClientRect();
      return [left, right];
    }),
  );
  expect(links.length).toBeGreaterThan(5);
  for (const [left, right] of links) {
    expect(left).toBeGreaterThanOrEqual(sidebar.x);
    expect(right).toBeLessThanOrEqual(sidebar.x + sidebar.width);
  }
  // VitePress's own width.
  expect(sidebar.width).toBeGreaterThanOrEqual(272);
  expect((await page.locator('.vp-doc').boundingBox())!.x).toBeGreaterThanOrEqual(sidebar.x + sidebar.width);
  await close();
});

/** Every picture of a page has loaded. */
async function expectPictures(page: Page): Promise<void> {
  const empty = await page.evaluate<string[]>(
    '[...document.images].filter(({ naturalWidth, loading }) => naturalWidth === 0 && loading !== "lazy").map(({ src }) => src)',
  );
  expect(empty).toEqual([]);
}

it('the home page loads the playground only for a reader who asks for it', async () => {
  const { page, close, expectQuiet } = await openPage(browser, url);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.getByRole('button', { name: 'Copy', exact: true }).waitFor();
  expect(await page.locator('iframe').count()).toBe(0);
  // An episode of the demo before training and after it.
  const sides = page.locator('.played-episode .side');
  expect(await sides.locator('.answer').allTextContents()).toEqual([
    expect.stringMatching(/^✗ /),
    expect.stringMatching(/^✓ /),
  ]);
  expect(await sides.last().locator('.call').count()).toBeGreaterThan(
    await sides.first().locator('.call').count(),
  );
  const ofPlayground = () => asked.filter((path) => path.startsWith('/playground/'));
  expect(ofPlayground()).toEqual([]);
  await page.getByRole('button', { name: 'Train it in this tab' }).click();
  const playground = page.frameLocator('iframe');
  await playground.getByText('897,920 parameters').waitFor({ timeout: 120_000 });
  expect(await playground.getByRole('link', { name: 'Documentation' }).count()).toBe(0);
  expect(ofPlayground().length).toBeGreaterThan(1);
  expectQuiet();
  await close();
}, 180_000);

it('a reader chooses a package manager once, and follows the pages from the start to the reference', async () => {
  const { page, close, expectQuiet } = await openPage(browser, `${url}start.html`);
  const first = page.locator('.vp-code-group').first();
  await first.locator('label', { hasText: 'pnpm' }).click();
  const shown = (group: Locator) => group.locator('code:visible');
  await expect.poll(() => shown(first).innerText()).toContain('pnpm create toolenv first --template env');
  expect(await shown(page.locator('.vp-code-group').last()).innerText()).toContain('pnpm exec toolenv');
  await page.locator('.VPDocFooter .next').click();
  await page.getByRole('heading', { level: 1, name: 'Concepts' }).waitFor();
  await page.goto(`${url}recipes/self-play.html`);
  await page.locator('.VPDocFooter .next').click();
  await page.getByRole('heading', { level: 1, name: 'toolenv spec, version 1' }).waitFor();
  const edit = page.getByRole('link', { name: 'Edit this page' });
  expect(await edit.getAttribute('href')).toMatch(/\/edit\/main\/packages\/core\/spec\/v1\.md$/);
  expectQuiet();
  await close();
});

it('a page says what it is where its address is shared', async () => {
  const html = await (await fetch(`${url}api/@toolenv/core/functions/defineTool.html`)).text();
  expect(html).toContain('<meta property="og:title" content="defineTool()">');
  expect(html).toContain('<meta property="og:description" content="Declares a tool.">');
  const picture = /<meta property="og:image" content="([^"]+)">/.exec(html)![1]!;
  const bytes = new Uint8Array(await (await fetch(new URL(picture, url))).arrayBuffer());
  // Width and height of a PNG.
  expect([...bytes.slice(16, 24)]).toEqual([0, 0, 4, 176, 0, 0, 2, 118]);
});

it('the keyboard opens the search, which finds GRPO', async () => {
  const { page, close, expectQuiet } = await openPage(browser, url);
  const input = page.getByRole('searchbox');
  // The page listens to its keys once its script has run.
  await expect
    .poll(async () => {
      if (!(await input.isVisible())) await page.keyboard.press('/');
      return input.isVisible();
    })
    .toBe(true);
  await input.fill('GRPO');
  const results = page.locator('.VPLocalSearchBox .results [role=option]');
  await results.first().waitFor();
  const titles = await results.allTextContents();
  expect(titles.filter((title) => /grpo/i.test(title)).length).toBeGreaterThan(2);
  expect(titles.join('\n')).toContain('Compared with TRL');
  expect(titles.join('\n')).not.toContain('.jsonl');
  await page.keyboard.press('Enter');
  await page.waitForURL(({ pathname }) => pathname !== '/');
  expect(await page.locator('main').textContent()).toMatch(/GRPO/i);
  expectQuiet();
  await close();
});

it('the sidebar leads from a guide to the next one, and a link in a page to its file', async () => {
  const { page, close, expectQuiet } = await openPage(browser, `${url}examples/`);
  await page.locator('.VPSidebar').getByRole('link', { name: 'Write a tool' }).click();
  await page.getByRole('heading', { level: 1, name: 'Write a tool' }).waitFor();
  await page.locator('.VPDocFooter .next').click();
  await page.getByRole('heading', { level: 1, name: 'Wrap an MCP server' }).waitFor();
  await page.goto(`${url}project/readme.html`);
  await page.locator('main').getByRole('link', { name: 'A dialogue' }).click();
  await page.getByRole('heading', { level: 1, name: 'examples/wordle.ts' }).waitFor();
  expect(await page.locator('main pre').textContent()).toContain("name: 'wordle-v1'");
  expectQuiet();
  await close();
});
