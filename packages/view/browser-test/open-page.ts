/** A page of the viewer in Chromium, and what it must never do. */
import axe, { type AxeResults } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

export interface OpenPage {
  page: Page;
  close(): Promise<void>;
  /** Fails if the page wrote an error, or asked another host. */
  expectQuiet(): void;
}

export function openBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

export async function openPage(browser: Browser, url: string): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const errors: string[] = [];
  const elsewhere: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  const { origin } = new URL(url);
  page.on('request', (request) => {
    const asked = request.url();
    if (!asked.startsWith(origin) && !asked.startsWith('data:')) elsewhere.push(asked);
  });
  await page.goto(url);
  return {
    page,
    close: () => context.close(),
    expectQuiet() {
      expect(errors).toEqual([]);
      expect(elsewhere).toEqual([]);
    },
  };
}

/** Fails on serious and critical violations of WCAG that axe finds. `rules` are the names of axe's rules; all by default. */
export async function expectAccessible(page: Page, rules?: readonly string[]): Promise<void> {
  // Evaluating is not loading a script, which the page's policy forbids.
  await page.evaluate(axe.source);
  const options = JSON.stringify(rules === undefined ? {} : { runOnly: rules });
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${options})`);
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
}
