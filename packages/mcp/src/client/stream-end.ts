/** withEnd: notices the end of a stream of events. */

/** The same response. Calls `onEnd` after all of its body has been read, or after it breaks, with what broke it. */
export function withEnd(response: Response, onEnd: (error?: unknown) => void): Response {
  const { body } = response;
  if (!body) return response;
  async function* chunks() {
    let broken: unknown;
    try {
      yield* body!;
    } catch (error) {
      broken = error;
      throw error;
    } finally {
      // The SDK parses the last chunk within this turn of the event loop. A ping is answered in a later turn.
      setImmediate(() => onEnd(broken));
    }
  }
  return new Response(ReadableStream.from(chunks()), response);
}
