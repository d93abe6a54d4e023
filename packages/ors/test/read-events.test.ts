import { expect, test } from 'vitest';
import { chunksOf } from '../src/ors-routes.ts';
import { readEvents } from '../src/ors-server.ts';

async function eventsOf(...chunks: string[]): Promise<string[][]> {
  async function* bytes() {
    yield* chunks;
  }
  const events: string[][] = [];
  for await (const { event, data } of readEvents(bytes())) events.push([event, data]);
  return events;
}

test('one space is removed, comments are skipped, and an event without an end is none', async () => {
  const text =
    'event: a\ndata:   two spaces \n\n: ping\n\nevent:b\rdata:x\rdata: y\r\revent: c\r\ndata\r\n\r\nevent: d\ndata: cut';
  const events = [
    ['a', '  two spaces '],
    ['b', 'x\ny'],
    ['c', ''],
  ];
  expect(await eventsOf(text)).toEqual(events);
  expect(await eventsOf(...text)).toEqual(events);
});

test('JSON in chunks stays what it is, though a client removes all white space where a chunk begins', () => {
  const texts = [
    ' '.repeat(200_000),
    `${'x'.repeat(4_086)}${' \u00a0\u2028\u0085\u3000'.repeat(10_000)}`,
    Array.from({ length: 40_000 }, (_, i) => `é${i}`).join(' '),
    '😀'.repeat(20_000),
    `${'\\'.repeat(9_999)} ${'"'.repeat(9_999)} `,
  ];
  for (const text of texts) {
    const chunks = chunksOf(JSON.stringify({ text }));
    for (const chunk of chunks) expect(chunk.length).toBeLessThan(4_110);
    // Python: value.lstrip(), of UTF-8.
    const read = chunks.map((chunk) => Buffer.from(chunk.replace(/^[\s\x85]+/, '')).toString()).join('');
    expect(JSON.parse(read).text === text).toBe(true);
  }
});
