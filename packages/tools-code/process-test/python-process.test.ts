/** The process of an interpreter: what it gets of this one, and what this one believes of it. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { frame } from '../src/python/frames.js';
import { openSnapshot, PythonProcess, type PythonResult } from '../src/python/python-process.ts';

const limits = { memory: 128, timeout: 5_000, output: 100 };
const crash: PythonResult = { text: '', ok: false, truncated: true, killed: 'crash' };
const json = (value: unknown) => frame(Buffer.from(JSON.stringify(value)));
const text = (length: number) => json({ text: 'x'.repeat(length), ok: true });

const answers: [what: string, bytes: Uint8Array, result: PythonResult][] = [
  ['a text', text(100), { text: 'x'.repeat(100), ok: true, truncated: false }],
  [
    'what only looks true',
    json({ text: '', ok: 'yes', truncated: 1 }),
    { text: '', ok: false, truncated: false },
  ],
  ['more fields', json({ text: 'x', ok: true, episode: 1 }), { text: 'x', ok: true, truncated: false }],
  ['a longer text than a program may write', text(102), crash],
  ['no text', json({ text: { length: 1 }, ok: true }), crash],
  ['no object', json(null), crash],
  ['another reason', json({ killed: 'time' }), crash],
  ['no JSON', frame(Buffer.from('{"text":')), crash],
  ['a frame of four gigabytes', Buffer.from([255, 255, 255, 255, 1, 2, 3]), crash],
  ['a frame that is longer than any answer', frame(Buffer.alloc(701)), crash],
  ['bytes without end', Buffer.alloc(10 ** 6, 'x'), crash],
];

async function lying(): Promise<PythonProcess> {
  const file = join(import.meta.dirname, 'lying-interpreter.js');
  const process = new PythonProcess(limits, new Uint8Array(), file);
  await process.begin(1);
  return process;
}

test.each(answers)(
  '%s from the process is a result, or the process has crashed',
  async (_, bytes, result) => {
    const process = await lying();
    expect(await process.run(Buffer.from(bytes).toString('base64'))).toEqual(result);
    if (result === crash) expect(await process.run('')).toEqual(crash);
    await process.end();
  },
);

test('an answer out of turn is never taken for that of another call', async () => {
  const process = await lying();
  const twice = Buffer.concat([text(1), text(2)]).toString('base64');
  expect(await process.run(twice)).toMatchObject({ text: 'x' });
  expect(await process.run(text(3).toString('base64'))).toEqual(crash);
  await process.end();
});

test.skipIf(!existsSync('/proc/self'))(
  'the process has no variable, file or folder of this one, and no signal of its terminal',
  async () => {
    const children = () =>
      readdirSync('/proc/self/task').flatMap((task) =>
        readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
      );
    const snapshot = await openSnapshot(limits.memory);
    // The interpreters of other tests, of which some begin and read their files.
    const others = children();
    const python = new PythonProcess(limits, snapshot);
    await python.begin(1);
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const interpreters = children().filter((pid) => !others.includes(pid));
    expect(interpreters).toHaveLength(1);
    for (const pid of interpreters) {
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toBe(`TZ=${timeZone}\0`);
      expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/proc');
      const files = readdirSync(`/proc/${pid}/fd`).map((name) => readlinkSync(`/proc/${pid}/fd/${name}`));
      expect(files.filter((name) => name.startsWith('socket:'))).toHaveLength(2);
      // ONNX Runtime leaves a log of its own open in each program that a process starts.
      const named = files.filter((name) => name.startsWith('/') && !/\/mat-debug-\d+\.log$/.test(name));
      expect(new Set(named)).toEqual(new Set(['/dev/null']));
      const [, , group] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
      expect(group).toBe(pid);
    }
    await python.end();
  },
  60_000,
);
