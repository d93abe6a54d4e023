/** Reads the JSON body of a request, up to a size. The time that it may take is the server's `requestTimeout`. */
import type { IncomingMessage } from 'node:http';

/** The body of a request, or why it could not be read. */
export type Body = { json: unknown } | 'too_large' | 'not_json' | 'broken';

/** Reads a JSON body of at most `most` bytes. */
export function readBody(request: IncomingMessage, most: number): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > most) tooLarge();
    };
    const tooLarge = () => {
      // Let the rest arrive and drop it: a client that still sends would not read the answer.
      request.off('data', take).resume();
      chunks.length = 0;
      resolve('too_large');
    };
    request.once('error', () => resolve('broken'));
    request.once('close', () => resolve('broken'));
    if (Number(request.headers['content-length']) > most) return tooLarge();
    request.once('end', () => resolve(parse(Buffer.concat(chunks))));
    request.on('data', take);
  });
}

function parse(bytes: Buffer): Body {
  try {
    return { json: JSON.parse(bytes.toString('utf8')) };
  } catch {
    return 'not_json';
  }
}
