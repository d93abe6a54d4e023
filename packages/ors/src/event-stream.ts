/** Writes the event streams of ORS: JSON in chunks. */
import type { ServerResponse } from 'node:http';

/** Characters of a chunk, as ORS's own server has them. */
const chunkSize = 4_096;
/** Milliseconds between comments, which keep a stream that waits open. */
const pingInterval = 10_000;

export function beginEvents(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    // Proxies pass each event on at once.
    'x-accel-buffering': 'no',
  });
}

export function writeEvent(response: ServerResponse, event: string, data: string): void {
  // A line break would end the data.
  const lines = data.split(/\r\n|\n|\r/).map((line) => `data: ${line}\r\n`);
  response.write(`event: ${event}\r\n${lines.join('')}\r\n`);
}

/** The result of `work`. Meanwhile, the stream gets comments. */
export async function withKeepAlive<T>(response: ServerResponse, work: Promise<T>): Promise<T> {
  const pings = setInterval(() => response.write(': ping\r\n\r\n'), pingInterval);
  try {
    return await work;
  } finally {
    clearInterval(pings);
  }
}

/**
 * Cuts JSON into chunks, none of which begins with a white space: Python's client removes all white space there. A white space at the
 * border is always in a string of the JSON, so that its escape means the same.
 */
export function chunksOf(json: string): string[] {
  const chunks: string[] = [];
  for (let start = 0; start < json.length; ) {
    let end = start + chunkSize;
    // Half a character cannot be sent.
    if (/[\udc00-\udfff]/.test(json[end] ?? '')) end += 1;
    const chunk = json.slice(start, end);
    chunks.push(/^[\s\x85]/.test(chunk) ? escaped(chunk[0]!) + chunk.slice(1) : chunk);
    start = end;
  }
  return chunks;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
