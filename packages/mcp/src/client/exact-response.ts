/** exactResponse: an answer of a server over HTTP, whose size has a limit, and whose structured content the SDK would otherwise round. */
import { AnswerTooLarge, bounded, maxAnswerSize } from '@toolenv/serving/client';
import { exactText } from '../exact-message.ts';

/**
 * The same response, with messages as {@link exactText} gives them. Events arrive when they are complete, as for the SDK itself. Its body
 * fails with AnswerTooLarge beyond {@link maxAnswerSize}; a stream of events goes on for as long as it likes, and its events have that limit.
 */
export function exactResponse(response: Response): Response {
  const { body } = response;
  const type = response.headers.get('content-type') ?? '';
  const read = type.startsWith('text/event-stream')
    ? eventsOf
    : type.startsWith('application/json')
      ? wholeOf
      : bounded;
  return body ? new Response(ReadableStream.from(read(body)), response) : response;
}

const encoder = new TextEncoder();

async function* wholeOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of bounded(body)) text += decoder.decode(chunk, { stream: true });
  yield encoder.encode(exactText(text + decoder.decode()));
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let waiting = '';
  // Its last characters. To search in all of a long event for each chunk would take quadratic time.
  let last = '';
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    const end = endOfEvents(last + text) - last.length;
    if (end > 0) yield encoder.encode(exactEvents(waiting + text.slice(0, end)));
    waiting = end > 0 ? text.slice(end) : waiting + text;
    if (waiting.length > maxAnswerSize) throw new AnswerTooLarge(maxAnswerSize);
    last = end > 0 ? waiting.slice(-2) : (last + text).slice(-2);
  }
  yield encoder.encode(exactEvents(waiting + decoder.decode()));
}

/** Where the last complete event ends: after an empty line (HTML standard, 9.2.6). At most three characters show it. */
function endOfEvents(text: string): number {
  const ends = ['\n\n', '\n\r\n', '\r\r'].map((end) => {
    const at = text.lastIndexOf(end);
    return at < 0 ? 0 : at + end.length;
  });
  return Math.max(...ends);
}

/** The events; data with a long integer is one line of exact text. */
function exactEvents(events: string): string {
  return events.replace(/(?<![^\r\n])data:[^\r\n]*(?:(?:\r\n|\n|\r)data:[^\r\n]*)*/g, (data) => {
    const text = data
      .split(/\r\n|\n|\r/)
      .map((line) => line.slice('data:'.length))
      .join('\n');
    const exact = exactText(text);
    return exact === text ? data : `data: ${exact}`;
  });
}
