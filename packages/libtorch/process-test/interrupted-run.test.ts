/** Runs of the command whose engine hangs, and two runs at once. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { fingerprint } from '../../../workshop/chaos/kills/killable-run.ts';
import { lives } from './engines.ts';
import { hasLibtorch } from './has-libtorch.ts';
import { linesOf, TrainingRun } from './training-run.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-libtorch-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** A run whose engine is stopped, after a step. */
async function stoppedRun(folder: string) {
  const run = new TrainingRun(join(folder, 'run'), { more: { steps: 400 } });
  const engine = await run.engine();
  await run.hasCheckpoint();
  process.kill(engine!, 'SIGSTOP');
  // It owes an answer.
  await sleep(1_000);
  return { run, engine: engine! };
}

test.runIf(hasLibtorch)('Ctrl-C ends a run within seconds whose engine hangs', async () => {
  const { run, engine } = await stoppedRun(await newFolder());
  const begun = performance.now();
  run.child.kill('SIGINT');
  const finished = await run.finished;
  expect(performance.now() - begun).toBeLessThan(20_000);
  expect(finished.code).toBe(130);
  expect(linesOf(finished).slice(-5)).toEqual([
    expect.stringMatching(/^Stopping…/),
    expect.stringMatching(
      /HungEngine: The process of libtorch owes an answer and has used no CPU time for 5 s: it is killed/,
    ),
    expect.stringMatching(/trace-warnings/),
    expect.stringMatching(/^Stopped; \d+ steps? (is|are) kept: continue with$/),
    expect.stringMatching(/^ {2}toolenv train .* --resume$/),
  ]);
  expect(lives(engine)).toBe(false);
});

test.runIf(hasLibtorch)('a second Ctrl-C ends a run at once whose engine hangs', async () => {
  const { run, engine } = await stoppedRun(await newFolder());
  run.child.kill('SIGINT');
  await sleep(500);
  const begun = performance.now();
  run.child.kill('SIGINT');
  const { code } = await run.finished;
  expect(performance.now() - begun).toBeLessThan(2_000);
  expect(code).toBe(130);
  await expect.poll(() => lives(engine), { timeout: 2_000 }).toBe(false);
});

test.runIf(hasLibtorch)('two runs at once end as one alone', async () => {
  const folder = await newFolder();
  const outs = ['alone', 'one', 'other'].map((name) => join(folder, name)) as [string, string, string];
  const train = async (out: string) => {
    const { code, stderr } = await new TrainingRun(out).finished;
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  };
  await train(outs[0]);
  await Promise.all(outs.slice(1).map(train));
  const [alone, ...both] = await Promise.all(outs.map(fingerprint));
  expect(both).toEqual([alone, alone]);
});
