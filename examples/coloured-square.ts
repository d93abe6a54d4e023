/**
 * Images in observations: the policy sees a square and names its colour. A policy that reads no images only gets `[image/png]`:
 * `toolenv eval coloured-square.ts --policy openai:http://127.0.0.1:8000/v1#qwen3-vl --send-images`.
 */
import { crc32, deflateSync } from 'node:zlib';
import { defineToolEnv, type ImageBlock } from '@toolenv/core';

const colours = { red: [220, 30, 30], green: [30, 160, 60], blue: [40, 80, 220] } as const;
type Colour = keyof typeof colours;

/** A PNG of 32 × 32 pixels of one colour. */
function square(colour: Colour): ImageBlock {
  const size = 32;
  const row = Buffer.from([0, ...Array.from({ length: size }).flatMap(() => [...colours[colour]])]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 2], 8);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: size }, () => row)));
  const parts = [chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))];
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
  return { type: 'image', data: png.toString('base64'), mimeType: 'image/png' };
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

export default defineToolEnv({
  name: 'coloured-square-v1',
  description: 'Name the colour of a square.',
  limits: { maxTurns: 1 },
  tasks: { test: (Object.keys(colours) as Colour[]).map((colour) => ({ colour })) },
  rewards: {
    right: {
      kind: 'outcome',
      // Whoever names all colours has not looked.
      score: ({ answer = '', task }) =>
        Number(
          Object.keys(colours).every(
            (each) => answer.toLowerCase().includes(each) === (each === task.colour),
          ),
        ),
    },
  },
  episode: ({ task: { colour } }) => ({
    messages: [
      { role: 'user', content: 'Which colour is the square: red, green or blue?', images: [square(colour)] },
    ],
  }),
  oracle: ({ colour }) => [colour],
});
