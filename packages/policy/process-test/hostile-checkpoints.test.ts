/** A malicious chat template or tokenizer gives a one-line error in seconds. It neither blocks nor ends the process. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Chat } from '../src/chat/chat.ts';
import { hostileTemplates } from '../test/chat/hostile-templates.ts';
import { wordCheckpoint } from '../test/word-checkpoint.ts';

interface Result {
  name: string;
  milliseconds: number;
  error: string;
}

/** In a process of its own, with less memory than most, because a template that escapes its bounds would end this one. */
test('every hostile template is refused in bounded time and memory', { timeout: 300_000 }, async () => {
  const program = join(import.meta.dirname, '../test/chat/render-hostile-templates.ts');
  const node = ['--max-old-space-size=512', '--import', 'tsx', '--conditions=@toolenv/source', program];
  const { stdout } = await promisify(execFile)(process.execPath, node, { timeout: 240_000 });
  const results = stdout
    .trim()
    .split('\n')
    .map((line): Result => JSON.parse(line));
  expect(results.map(({ name }) => name)).toEqual(Object.keys(hostileTemplates));
  for (const { name, milliseconds, error } of results) {
    expect(error, name).toMatch(/^usage\.(chat_template|checkpoint_unsupported): [^\n]{1,600}$/);
    expect(milliseconds, name).toBeLessThan(30_000);
  }
});

function chatWith(chat_template: string): Chat {
  const checkpoint = wordCheckpoint();
  return new Chat({ ...checkpoint, tokenizerConfig: { ...checkpoint.tokenizerConfig, chat_template } });
}

test('a template that behaves at first is stopped when it does not', () => {
  const chat = chatWith(hostileTemplates['a range that waits for a longer conversation']!);
  const messages = [{ role: 'user', content: 'hello' } as const];
  expect(chat.render({ messages, tools: [] })).toBe('hello');
  messages.push({ role: 'user', content: 'again' } as never);
  expect(() => chat.render({ messages, tools: [] })).toThrow(
    'The chat template refuses the conversation: it takes more work than a conversation needs: correct chat_template.jinja or use another checkpoint.',
  );
});

test('a template cannot reach the process or a prototype', () => {
  const messages = [{ role: 'user', content: 'hello' } as const];
  for (const template of [
    "{{ ''.constructor.constructor('return process.exit(7)')() }}",
    '{% set x = messages.__proto__ %}{{ x.constructor.constructor }}',
    '{% for message in messages %}{{ message.content',
  ]) {
    // It is refused in one line, or renders as nothing.
    let shown = '';
    try {
      shown = chatWith(template).render({ messages, tools: [] });
    } catch (error) {
      expect(error).toMatchObject({
        code: expect.stringMatching(/^usage\./),
        message: expect.stringMatching(/^[^\n]{1,600}$/),
      });
    }
    expect(shown).not.toMatch(/function|native/);
  }
});

test('an operand is evaluated once, and lazily', () => {
  const counted =
    '{% set n = namespace(x=0) %}{% macro f() %}{% set n.x = n.x + 1 %}a{% endmacro %}' +
    '{{ f() | upper }}{{ f() ~ f() }}{{ (f() + "b").replace(f(), "c") }}{{ [f()] | join(f()) }}{% for x in [f()] %}{{ x }}{% endfor %}' +
    '{{ true or f() }}{{ false and f() }}{{ n.x }}';
  expect(chatWith(counted).render({ messages: [], tools: [] })).toBe('AaacbaaTrueFalse8');
});

test('work and output may grow with the conversation', () => {
  const messages = Array.from(
    { length: 2000 },
    (_, i) => ({ role: 'user', content: `${i} `.repeat(300) }) as const,
  );
  const chat = chatWith(
    '{% for m in messages %}{% if m.content is string %}{{ m.content | replace("1", "one") | trim }}{% endif %}{% endfor %}',
  );
  const expected = messages.map(({ content }) => content.replaceAll('1', 'one').trim()).join('');
  expect(chat.render({ messages, tools: [] })).toBe(expected);
});

test("a template's own message becomes one short line", () => {
  const chat = chatWith('{{ raise_exception("no\\n\u001b[2J" ~ messages[0].content) }}');
  let message = '';
  try {
    chat.render({ messages: [{ role: 'user', content: 'x'.repeat(10_000) }], tools: [] });
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toMatch(/^The chat template refuses the conversation: no \[2Jx+…$/);
  expect(message.length).toBeLessThan(400);
});

test('a tokenizer whose pattern takes exponential time does not block the process', {
  timeout: 60_000,
}, () => {
  const checkpoint = wordCheckpoint();
  const pattern = { Regex: '^(a+)+$' };
  const pre_tokenizer = { type: 'Split', pattern, behavior: 'Isolated', invert: false };
  const slow = new Chat({ ...checkpoint, tokenizer: { ...checkpoint.tokenizer, pre_tokenizer } });
  expect(slow.encode('ab').length).toBeGreaterThan(0);
  expect(() => slow.encode(`${'a'.repeat(60)}b`)).toThrow(
    'words: tokenizer.json takes more than 5061 ms for 61 characters: use a tokenizer that takes linear time.',
  );
});
