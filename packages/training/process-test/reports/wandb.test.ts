/** The pipe to the Python client. `npm run interop -- trackers` runs the client itself. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { wandb } from '../../src/reports/wandb.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wandb-'));
});
afterEach(() => rm(folder, { recursive: true }));

const { signal } = new AbortController();

/** A program in place of Python: it notes the lines that it reads, and answers each by `answer`. */
async function python(answer: string): Promise<string> {
  const program = join(folder, 'python');
  const noted = JSON.stringify(join(folder, 'noted.jsonl'));
  const source = `
    const { openSync, writeSync } = require('node:fs');
    // Opened once: a program that a test has left does not make the file again in a folder that the test removes.
    const noted = openSync(${noted}, 'a');
    const answer = ${answer};
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      writeSync(noted, process.argv[2].slice(-30) + ' ' + line + '\\n');
      const reply = answer(JSON.parse(line));
      if (reply) process.stdout.write(JSON.stringify(reply) + '\\n');
    });`;
  await writeFile(join(folder, 'stand-in.cjs'), source);
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${join(folder, 'stand-in.cjs')}" "$@"\n`);
  await chmod(program, 0o755);
  return program;
}

const noted = async () => (await readFile(join(folder, 'noted.jsonl'), 'utf8')).trim().split('\n');
const run = { name: 'grpo on ladder-v1, seed 1', folder: 'runs/mine', config: { seed: 1 } };

test('begins, logs and finishes, one request after another', async () => {
  const sink = wandb({ python: await python(`({ begin }) => (begin ? { id: 'abc' } : { ok: true })`) });
  expect(await sink.open(run, signal)).toBe('abc');
  await sink.write([{ step: 2, time: 5, metrics: { 'rollout/reward': 1 } }], signal);
  await sink.close('finished', signal);
  expect((await noted()).map((line) => line.replace(/^.*wandb_client.py /, ''))).toEqual([
    JSON.stringify({ begin: run }),
    JSON.stringify({ log: [{ step: 2, metrics: { 'rollout/reward': 1 } }] }),
    JSON.stringify({ finish: 'finished' }),
  ]);
});

test('a client that died is started again, and its run continued', async () => {
  const dies = `({ begin, log }) => {
    if (begin) return { id: begin.id ?? 'abc' };
    if (log?.[0].step === 1) process.exit(1);
    return { ok: true };
  }`;
  const sink = wandb({ python: await python(dies) });
  await sink.open(run, signal);
  const event = (step: number) => [{ step, time: 5, metrics: {} }];
  await expect(sink.write(event(1), signal)).rejects.toMatchObject({ code: 'infrastructure.report' });
  await sink.write(event(2), signal);
  await sink.close('finished', signal);
  expect((await noted()).filter((line) => line.includes('begin'))[1]).toContain('"id":"abc"');
});

test('a client that hangs is left when the signal aborts', async () => {
  const sink = wandb({ python: await python(`({ begin }) => (begin ? { id: 'abc' } : undefined)`) });
  await sink.open(run, signal);
  const stop = new AbortController();
  const stuck = sink.write([{ step: 1, time: 5, metrics: {} }], stop.signal);
  stop.abort();
  await expect(stuck).rejects.toThrow('did not answer');
});

test('no Python, no package and no API key are told with the remedy', async () => {
  const open = (program: string) => wandb({ python: program }).open(run, signal);
  await expect(open(join(folder, 'nothing'))).rejects.toMatchObject({
    code: 'usage.report',
    message: expect.stringContaining('pip install wandb'),
  });
  await expect(open(await python(`() => ({ missing: "No module named 'wandb'" })`))).rejects.toMatchObject({
    code: 'usage.report',
    message: expect.stringContaining('pip install wandb'),
  });
  await expect(open(await python(`() => ({ error: 'UsageError: no API key' })`))).rejects.toMatchObject({
    code: 'usage.report',
  });
  await expect(open(await python(`() => ({ error: 'CommError: away' })`))).rejects.toMatchObject({
    code: 'infrastructure.report',
  });
});
