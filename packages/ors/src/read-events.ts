/** readEvents: the events of a server-sent event stream (WHATWG HTML, §9.2.6). */

export interface ServerEvent {
  event: string;
  data: string;
}

/**
 * Yields each event with a name. Comments are skipped. One space after the colon is removed, and no other: ORS cuts JSON anywhere.
 * @param chunks The bytes of the stream as text, cut anywhere.
 */
export async function* readEvents(chunks: AsyncIterable<string>): AsyncGenerator<ServerEvent> {
  let event = '';
  let data: string[] = [];
  for await (const line of linesOf(chunks)) {
    if (line === '') {
      if (event !== '') yield { event, data: data.join('\n') };
      event = '';
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  }
}

/** Lines end with CR LF, LF or CR. What follows the last end is left out: its event was cut. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  /** Joined at the end of a line, so that a line of many chunks is not copied for each of them. */
  let parts: string[] = [];
  let endedWithCr = false;
  for await (const chunk of chunks) {
    let start = endedWithCr && chunk.startsWith('\n') ? 1 : 0;
    if (chunk !== '') endedWithCr = chunk.endsWith('\r');
    for (const { 0: end, index } of chunk.matchAll(/\r\n|\n|\r/g)) {
      if (index < start) continue;
      parts.push(chunk.slice(start, index));
      yield parts.join('');
      parts = [];
      start = index + end.length;
    }
    if (start < chunk.length) parts.push(chunk.slice(start));
  }
}
