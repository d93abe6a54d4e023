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
  // A file has no origin.
  const origin = url.startsWith('file:') ? url.split('#')[0]! : new URL(url).origin;
  page.on('request', (request) => {
    const asked = request.url();
    if (!/^(blob:|data:)/.test(asked) && !asked.startsWith(origin)) elsewhere.push(asked);
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

/** Widths in pixels at which the pages must fit: a phone, a tablet, laptops and a desktop. */
export const widths = [390, 820, 1024, 1280, 1366, 1536, 1920] as const;

/** The same windows at 200 %, in which a page has half as many of its pixels. */
export const zoomedWidths: readonly number[] = widths
  .filter((width) => width > 640)
  .map((width) => Math.round(width / 2));

/** Fails if the page scrolls sideways, or if a text is cut that has no list's ellipsis. */
export async function expectFits(page: Page): Promise<void> {
  // A chart takes its new width in the frame after a change of the window.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  const found = await page.evaluate<string[]>(`(() => {
    const isScrolled = (element) =>
      element !== null && element !== document.body && (/auto|scroll/.test(getComputedStyle(element).overflowX) || isScrolled(element.parentElement));
    const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
    const name = (element) => element.tagName + '.' + element.className + ' ' + element.textContent.slice(0, 40);
    const texts = [...document.body.querySelectorAll('*')].filter((element) => hasText(element) && element.checkVisibility({ opacityProperty: true, visibilityProperty: true }));
    const cut = texts.filter((element) => {
      // Letters below each other.
      if (element.clientHeight > 4 * 24 && element.clientWidth < 24) return true;
      if (element.closest('[role=gridcell], option, .u-legend, .unseen, .visually-hidden') || isScrolled(element)) return false;
      const { right, left } = element.getBoundingClientRect();
      const hides = getComputedStyle(element).overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1;
      return hides || right > innerWidth + 0.5 || left < -0.5;
    });
    const sideways = document.documentElement.scrollWidth > innerWidth ? ['the page scrolls sideways'] : [];
    const spilling = [...document.querySelectorAll('.panel')].filter((panel) => panel.scrollWidth > panel.clientWidth + 1);
    return [...sideways, ...spilling.map(name), ...cut.map(name)];
  })()`);
  expect(found).toEqual([]);
}

/** Fails on serious and critical violations of WCAG that axe finds. `rules` are the names of axe's rules; all by default. */
export async function expectAccessible(page: Page, rules?: readonly string[]): Promise<void> {
  // Evaluating is not loading a script, which the page's policy forbids.
  await page.evaluate(axe.source);
  // Letters that fade in have their contrast at the end.
  await page.evaluate(
    'document.getAnimations().filter((animation) => animation.effect.getComputedTiming().endTime !== Infinity).forEach((animation) => animation.finish())',
  );
  const options = JSON.stringify(rules === undefined ? {} : { runOnly: rules });
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${options})`);
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
}
