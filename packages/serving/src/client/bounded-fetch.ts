/** boundedFetch: fetch, whose answers have a limit: a server may send without end. */

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
