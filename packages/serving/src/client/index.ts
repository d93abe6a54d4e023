/** @toolenv/serving/client: requests to servers, with limits on the size of answers, and with retries. */

/** Bytes of an answer: enough for any reply of a protocol, and no burden for memory. */
export const maxAnswerSize: number = 64 * 2 ** 20;

/** An answer that is larger than its reader allows. The rest of it is not read. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';

  constructor(most: number) {
    super(`the answer has more than ${most} bytes`);
  }
}

/**
 * The chunks of a body, at most `most` bytes of them.
 * @throws AnswerTooLarge beyond. The body is then left, which ends its connection.
 */
export async function* bounded<Chunk extends Uint8Array>(
  body: AsyncIterable<Chunk> | null | undefined,
  most: number = maxAnswerSize,
): AsyncGenerator<Chunk, void, void> {
  const count = counter(most);
  for await (const chunk of body ?? []) {
    count(chunk);
    yield chunk;
  }
}

/** `fetch`, except that reading more than `most` bytes of the answer, after its decompression, rejects with {@link AnswerTooLarge}. */
export async function boundedFetch(
  input: string | URL,
  init?: RequestInit,
  most: number = maxAnswerSize,
): Promise<Response> {
  const response = await fetch(input, init);
  const count = counter(most);
  const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      count(chunk);
      controller.enqueue(chunk);
    },
  });
  return response.body ? new Response(response.body.pipeThrough(counted), response) : response;
}

/** Throws once the chunks have more than `most` bytes together. */
function counter(most: number): (chunk: Uint8Array) => void {
  let size = 0;
  return ({ length }) => {
    size += length;
    if (size > most) throw new AnswerTooLarge(most);
  };
}

/** Statuses that say "later": a timeout, a conflict, a server that starts, a rate limit, a fault of the server. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
}

/**
 * Milliseconds to wait after an attempt: `first`, and twice as long after each further attempt, up to `longest`. The wait
 * varies by half, so that many clients do not return at once.
 * @param attempt Attempts so far, from 1.
 */
export function backoff(
  attempt: number,
  { first = 500, longest = 30_000 }: { first?: number; longest?: number } = {},
): number {
  return Math.min(longest, first * 2 ** (attempt - 1)) * (0.75 + Math.random() / 2);
}

/** Milliseconds that the server asks for in `retry-after-ms` or `Retry-After` (RFC 9110, section 10.2.3). */
export function retryAfter(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  now: number = Date.now(),
): number | undefined {
  const milliseconds = numberOf(headers['retry-after-ms']);
  if (milliseconds !== undefined) return milliseconds;
  const seconds = numberOf(headers['retry-after']);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(String(headers['retry-after'] ?? ''));
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numberOf(header: string | string[] | undefined): number | undefined {
  const value = typeof header === 'string' && header.trim() !== '' ? Number(header) : Number.NaN;
  return value >= 0 ? value : undefined;
}
