/** Small templates have the text that transformers gives them (golden/jinja/make-golden.py). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ChatTemplate } from '../../src/chat/chat-template.ts';

interface Case {
  template: string;
  text?: string;
  /** Why transformers refuses the template. */
  error?: string;
}

const file = join(import.meta.dirname, '../golden/jinja/golden.json');
const golden: { date: string; variables: Record<string, unknown>; cases: Case[] } = JSON.parse(
  readFileSync(file, 'utf8'),
);

const render = (template: string) =>
  new ChatTemplate(template, new Date(golden.date)).render(golden.variables);

test.each(
  golden.cases.filter(({ text }) => text !== undefined).map(({ template, text }) => [template, text]),
)('the text of %j', (template, text) => {
  expect(render(template!)).toBe(text);
});

test.each(
  golden.cases.filter(({ error }) => error !== undefined).map(({ template, error }) => [template, error]),
)('%j is refused', (template, error) => {
  expect(() => render(template!)).toThrow();
  // The template's own words.
  const own = /^TemplateError: (.*)/.exec(error!)?.[1];
  if (own) expect(() => render(template!)).toThrow(own);
});
