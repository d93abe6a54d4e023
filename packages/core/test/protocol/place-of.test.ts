/** placeOf: the author's line, whatever called it. */
import { expect, test } from 'vitest';
import { atPlace, placeOf } from '../../src/protocol/place-of.ts';

const packages = new URL('../../..', import.meta.url);
const stack = (...frames: string[]) =>
  Object.assign(new Error('x'), {
    stack: ['Error: x', ...frames.map((frame) => `    at ${frame}`)].join('\n'),
  });

test('is the first frame that is not of Node, of a dependency or of toolenv', () => {
  const error = stack(
    'node:internal/timers:593:17',
    `run (${packages.href}core/src/env/tool-env.ts:1:2)`,
    `run (${packages.pathname}cli/dist/main.js:1:2)`,
    'check (/home/me/node_modules/ajv/dist/ajv.js:3:4)',
    'score (file:///home/me/my-env/src/env.ts?version=2:12:3)',
    'later (/home/me/my-env/src/tools.ts:5:6)',
  );
  expect(placeOf(error)).toBe('/home/me/my-env/src/env.ts:12:3');
  expect(atPlace(error)).toBe(', at /home/me/my-env/src/env.ts:12:3');
});

test('may be a test or an example beside the sources of toolenv', () => {
  const path = `${packages.pathname}cli/test/careless/env.ts`;
  expect(placeOf(stack(`Timeout.<anonymous> (${path}:14:13)`))).toBe(`${path}:14:13`);
});

test('is unknown where no frame is of an author, and of what is no error', () => {
  expect(placeOf(stack('run (/home/me/node_modules/plugin/env.js:1:2)'))).toBeUndefined();
  expect([placeOf('thrown'), placeOf(undefined), atPlace(null)]).toEqual([undefined, undefined, '']);
});
