/** Redaction: no planted secret is in any byte that is written, and other text stays. */
import { type Redaction, redactSecrets } from '@toolenv/dataset';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allTasks, type Line, made, talk } from './recorded.ts';

const base = fc.string({
  unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFGH0123456789'),
  minLength: 24,
  maxLength: 36,
});

/** Secrets in the forms that are obvious: what is written, and which part of it is the secret. */
const secrets = fc.oneof(
  base.map((key) => [`sk-${key}`, `sk-${key}`]),
  base.map((key) => [`ghp_${key}`, `ghp_${key}`]),
  base.map((key) => [`hf_${key}`, `hf_${key}`]),
  base.map((key) => [`xoxb-${key}`, `xoxb-${key}`]),
  base.map((key) => [`AKIA${key.toUpperCase().slice(0, 16)}`, `AKIA${key.toUpperCase().slice(0, 16)}`]),
  base.map((key) => [`Authorization: Bearer ${key}`, key]),
  base.map((key) => [`bearer ${key}`, key]),
  base.map((key) => [`password=${key}`, key]),
  base.map((key) => [`{"api_key": "${key}"}`, key]),
  base.map((key) => [`https://me:${key}@host.example/x`, key]),
  base.map((key) => [`eyJ${key}.${key}.${key}`, key]),
  base.map((name) => [`${name}@mail.example.org`, name]),
  base.map((key) => [`-----BEGIN RSA PRIVATE KEY-----\n${key}\n-----END RSA PRIVATE KEY-----`, key]),
) as fc.Arbitrary<[written: string, secret: string]>;

/** A conversation with a text in every field, those of the prototype and unknown fields among them. */
function everywhere(text: string): Line {
  const call = {
    id: text,
    type: 'function',
    [text]: text,
    function: { name: text, arguments: JSON.stringify({ [text]: text }), [text]: text },
  };
  const schema = JSON.parse(
    JSON.stringify({
      type: 'object',
      properties: { [text]: { description: text, enum: [text] } },
      required: [text],
    }),
  );
  Object.defineProperty(schema, '__proto__', { value: { [text]: text }, enumerable: true });
  return {
    messages: [
      { role: 'system', content: `Use ${text}`, name: text },
      { role: 'user', content: `(${text})`, [text]: text },
      { role: 'assistant', content: text, tool_calls: [call] },
      { role: 'tool', content: text, tool_call_id: text },
      { role: 'assistant', content: `It is ${text} .`, refusal: text },
    ],
    tools: [
      { type: 'function', function: { name: text, description: text, parameters: schema }, [text]: [[text]] },
    ],
    user: text,
    time: '2026-01-01T00:00:00Z',
    metadata: { [text]: text },
    [text]: text,
  };
}

test('a secret in every field is in no byte that is written, and not in what a judge reads', async () => {
  await fc.assert(
    fc.asyncProperty(secrets, fc.constantFrom('task', 'user', 'time'), async ([written, secret], splitBy) => {
      const read: unknown[] = [];
      const result = await made([everywhere(written)], {
        splitBy,
        redact: [redactSecrets],
        score: (conversation) => {
          read.push(conversation);
          return 1;
        },
        nearDuplicates: 0.9,
      });
      const all = result.bytes + JSON.stringify([read, result.summary]);
      expect(all).not.toContain(secret);
      expect(allTasks(result)[0]).toMatchObject({
        scores: [1],
        reference: expect.stringContaining('[redacted]'),
      });
    }),
    { numRuns: 80 },
  );
});

test('no secret of a line is in an error', async () => {
  const line = everywhere('sk-0123456789abcdefghijkl');
  const cut = JSON.stringify(line).slice(0, -9);
  const wrong = [`${cut}\n`, JSON.stringify({ ...line, user: { name: 'sk-0123456789abcdefghijkl' } })];
  for (const text of wrong) {
    const failed = await made(text, { redact: [redactSecrets] }).catch((error: Error) => error.message);
    expect(failed).toMatch(/line 1: (it|user) must be/);
    expect(failed).not.toContain('sk-0');
  }
});

test('ordinary text stays as it is', () => {
  const texts = [
    'How do I reset my password? The secret: practice.',
    'At 12:30, see https://example.org/a?b=c and ratio 3:4@5.',
    'basic knowledge, bearer of news, class sk-learn, x@y, npm install, hf transformers',
    'def f(token: str) -> int: return 1',
  ];
  for (const text of texts) expect(redactSecrets(text)).toBe(text);
});

test('functions are applied in order, may drop a conversation, and see texts before anything else does', async () => {
  const seen: string[] = [];
  const upper: Redaction = async (text) => text.toUpperCase();
  const drop: Redaction = (text) => {
    seen.push(text);
    return text.includes('PRIVATE') ? null : text;
  };
  const lines = [talk('Hello Ada'), talk('hello ADA'), talk('private', {}, 'x')];
  const result = await made(lines, { redact: [upper, drop] });
  expect(allTasks(result).map(({ messages }) => messages[0]!.content)).toEqual(['HELLO ADA']);
  expect(result.summary).toMatchObject({ duplicates: 1, dropped: { byRedaction: 1 } });
  expect(seen).toEqual(['HELLO ADA', 'YES.', 'HELLO ADA', 'YES.', 'PRIVATE']);
});
