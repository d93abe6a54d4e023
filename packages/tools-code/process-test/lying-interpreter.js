/** Poses as the process of an interpreter, and answers a call with the bytes that its code names. */
import { frame, readFrames } from '../src/python/frames.js';

const good = frame(Buffer.from('{"text":"","ok":true,"truncated":false}'));
let hasBegun = false;
process.stdin.on('end', () => process.exit());
readFrames(
  process.stdin,
  2 ** 20,
  (bytes) => {
    const { code } = hasBegun ? JSON.parse(bytes.toString()) : {};
    hasBegun = true;
    process.stdout.write(code === undefined ? good : Buffer.from(code, 'base64'));
  },
  () => process.exit(),
);
