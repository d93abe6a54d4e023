/** Messages over HTTP, however the network cuts them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactResponse } from '../../src/client/http-transport.ts';

const long = '{"result":{"structuredContent":{"id":2512292042121000001}}}';
const exact = '{"result":{"structuredContent":{"id":"2512292042121000001"}}}';

function cut(text: string, places: readonly number[]): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  const ends = [...new Set(places.map((place) => place % bytes.length))].sort((a, b) => a - b);
  const chunks = [0, ...ends].map((start, index) => bytes.slice(start, [...ends, bytes.length][index]));
  return ReadableStream.from(chunks.filter(({ length }) => length > 0));
}

test.each(['\n', '\r\n', '\r'])('events whose lines end with %j are the same in any chunks', (end) => {
  const events = (data: string) =>
    [
      ': ping ü',
      '',
      'id: 1',
      `data: ${data}`,
      '',
      '',
      'event: message',
      'data: {"text":"2512292042121000001 €"}',
      '',
      '',
    ].join(end);
  return fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 40 }), async (places) => {
      const headers = { 'content-type': 'text/event-stream' };
      const response = exactResponse(new Response(cut(events(long), places), { headers }));
      expect(await response.text()).toBe(events(exact));
    }),
  );
});

test('an event arrives before the next', async () => {
  let rest: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      rest = controller;
      controller.enqueue(new TextEncoder().encode(`data: ${long}\n\ndata: {"a`));
    },
  });
  const headers = { 'content-type': 'text/event-stream' };
  const reader = exactResponse(new Response(body, { headers })).body!.getReader();
  const next = async () => new TextDecoder().decode((await reader.read()).value);
  expect(await next()).toBe(`data: ${exact}\n\n`);
  rest!.enqueue(new TextEncoder().encode('":1}\n'));
  rest!.enqueue(new TextEncoder().encode('\n'));
  expect(await next()).toBe('data: {"a":1}\n\n');
  rest!.close();
});

// To search in all of the event for each chunk would outlast the test.
test('an event of 60 MB arrives whole from small chunks', async () => {
  const chunk = new TextEncoder().encode('x'.repeat(65_536));
  async function* chunks() {
    yield new TextEncoder().encode('data: "');
    for (let sent = 0; sent < 960; sent++) yield chunk;
    yield new TextEncoder().encode('"\n\n');
  }
  const headers = { 'content-type': 'text/event-stream' };
  const response = exactResponse(new Response(ReadableStream.from(chunks()), { headers }));
  expect((await response.arrayBuffer()).byteLength).toBe(960 * 65_536 + 10);
});
