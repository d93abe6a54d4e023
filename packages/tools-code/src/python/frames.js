/** Frames on the pipes between this process and an interpreter: four bytes with the length, then as many bytes. */
import { Buffer } from 'node:buffer';

/** @param {Uint8Array} bytes */
export function frame(bytes) {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(bytes.length);
  return Buffer.concat([head, bytes]);
}

/**
 * Calls `take` with each frame, and `refuse` once if one is longer than `most` bytes, of which nothing is kept.
 * @param {import('node:stream').Readable} stream
 * @param {number} most
 * @param {(bytes: Buffer) => void} take
 * @param {() => void} refuse
 */
export function readFrames(stream, most, take, refuse) {
  let part = Buffer.alloc(4);
  let filled = 0;
  let isHead = true;
  stream.on('data', (/** @type {Buffer} */ chunk) => {
    let from = 0;
    while (from < chunk.length || filled === part.length) {
      const copied = chunk.copy(part, filled, from);
      from += copied;
      filled += copied;
      if (filled < part.length) return;
      const whole = part;
      const length = isHead ? whole.readUInt32LE() : 4;
      if (length > most) {
        stream.removeAllListeners('data').resume();
        return refuse();
      }
      part = Buffer.alloc(length);
      filled = 0;
      if (!isHead) take(whole);
      isHead = !isHead;
    }
  });
}
