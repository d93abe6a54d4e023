/** A run that is killed at any moment, again and again, ends as a run that was left alone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withoutTimes } from '../../training/test/timeless.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-killed-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const script = join(import.meta.dirname, 'killed-run.ts');

/** Runs the script. Kills it as it says its `killAt`-th line; returns how many lines it said. */
async function run(out: string, more: string[], killAt = Number.POSITIVE_INFINITY): Promise<number> {
  const args = ['--conditions=@toolenv/source', '--import', 'tsx', script, out, ...more];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let lines = 0;
  createInterface(child.stdout).on('line', () => {
    lines += 1;
    if (lines === killAt) child.kill('SIGKILL');
  });
  const [code] = await once(child, 'close');
  if (killAt === Number.POSITIVE_INFINITY) expect(code).toBe(0);
  return lines;
}

/** The files that must be equal, without how long things took. */
async function results(out: string): Promise<string[]> {
  const names = ['prompts.json', 'metrics.jsonl', 'trajectories.jsonl', 'reflections.jsonl'];
  const contents = await Promise.all(names.map((name) => readFile(join(out, name), 'utf8')));
  return contents.map(withoutTimes);
}

test('kill -9 at eight moments of a run', async () => {
  const through = join(folder, 'through');
  const lines = await run(through, []);
  const expected = await results(through);
  expect(expected[0]).toContain('Call check before submit.');
  const killed = join(folder, 'killed');
  let kills = 0;
  // Each part of the run is killed a little later than its first checkpoint, so that every part gets on.
  for (const share of [0.02, 0.2, 0.35, 0.5, 0.3, 0.4, 0.25, 0.3]) {
    const isBegun = existsSync(join(killed, 'config.json'));
    await run(killed, isBegun ? ['--resume'] : [], Math.max(1, Math.round(lines * share)));
    kills += 1;
    if (existsSync(join(killed, 'prompts.json'))) break;
  }
  expect(kills).toBeGreaterThanOrEqual(3);
  await run(killed, ['--resume']);
  expect(await results(killed)).toEqual(expected);
});

test('kill -9 once, at each of five moments', async () => {
  const through = join(folder, 'once');
  const lines = await run(through, []);
  const expected = await results(through);
  for (let n = 1; n <= 5; n++) {
    const out = join(folder, `once-${n}`);
    await run(out, [], Math.round((lines * n) / 6));
    await run(out, existsSync(join(out, 'config.json')) ? ['--resume'] : []);
    expect(await results(out), `killed at ${n} of 6`).toEqual(expected);
  }
});
