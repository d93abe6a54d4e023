/** Engines that hang or starve, and libraries that are none: how runs of the command end then. */
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRng } from '@toolenv/core';
import { brokenLibraries, libraryOf } from '../../../packages/libtorch/process-test/broken-libraries.ts';
import { limitMemory, lives } from '../../../packages/libtorch/process-test/engines.ts';
import { linesOf, TrainingRun } from '../../../packages/libtorch/process-test/training-run.ts';
import { checkNone, type Reporter } from '../part.ts';

/** Milliseconds. */
const limits = { first: 15_000, second: 2_000, gone: 5_000 };
/** More steps than a run gets to. */
const endless = { more: { steps: 400 } };

/** How a run ends whose engine is stopped. */
const ends = {
  'one Ctrl-C': async (run: TrainingRun) => {
    run.child.kill('SIGINT');
    return expectEnd(run, { within: limits.first, code: 130 });
  },
  'a second Ctrl-C': async (run: TrainingRun) => {
    run.child.kill('SIGINT');
    await sleep(500);
    run.child.kill('SIGINT');
    return expectEnd(run, { within: limits.second, code: 130 });
  },
  'a kill of the run': async (run: TrainingRun) => {
    run.child.kill('SIGKILL');
    return expectEnd(run, { within: limits.second, code: null });
  },
  'a kill of the stopped run': async (run: TrainingRun) => {
    run.child.kill('SIGSTOP');
    run.child.kill('SIGKILL');
    return expectEnd(run, { within: limits.second, code: null });
  },
};

export async function stopEngines(out: string, count: number, { report }: Reporter): Promise<void> {
  const wrong: string[] = [];
  for (let round = 0; round < count; round++) {
    for (const [name, end] of Object.entries(ends)) {
      const run = new TrainingRun(out, endless);
      const engine = (await run.engine())!;
      await run.hasCheckpoint();
      process.kill(engine, 'SIGSTOP');
      await sleep(500);
      const mistakes = await end(run);
      for (let waited = 0; lives(engine) && waited < limits.gone; waited += 50) await sleep(50);
      if (lives(engine)) {
        mistakes.push('its engine lives');
        process.kill(engine, 'SIGKILL');
      }
      wrong.push(...mistakes.map((mistake) => `${name}: ${mistake}`));
      await rm(out, { recursive: true, force: true });
    }
  }
  const detail = `${count * Object.keys(ends).length} stopped engines: one Ctrl-C ends the run within ${limits.first / 1000} s, a second within ${limits.second / 1000} s, and no engine outlives its run`;
  report(checkNone('engines that hang', wrong, detail));
}

async function expectEnd(
  run: TrainingRun,
  { within, code }: { within: number; code: number | null },
): Promise<string[]> {
  const ended = await Promise.race([run.finished, sleep(within, undefined)]);
  if (!ended) {
    run.child.kill('SIGKILL');
    return [`the run did not end within ${within / 1000} s`];
  }
  return ended.code === code ? [] : [`exit code ${ended.code}: ${ended.stderr}`];
}

/** Limits the addresses of engines, at random, to at most 128 MiB more than they have. A run goes on, or ends with one clear line. */
export async function starveEngines(
  out: string,
  { count, seed }: { count: number; seed: number },
  { report }: Reporter,
): Promise<void> {
  const rng = createRng(seed, 'starved engines');
  const wrong: string[] = [];
  let [repeated, failed] = [0, 0];
  for (let done = 0; done < count; done++) {
    const run = new TrainingRun(out, {}, { MALLOC_MMAP_THRESHOLD_: String(2 ** 16) });
    const engine = (await run.engine())!;
    await run.hasCheckpoint();
    if (!run.isOver) limitMemory(engine, Math.floor(rng.float() * 128) * 2 ** 20);
    const finished = await run.finished;
    const errors = linesOf(finished).filter((line) => line.startsWith('toolenv: '));
    const isClear = errors.length === 1 && /lacks memory|lack of memory|has ended/.test(errors[0]!);
    if (finished.stderr.includes('the step begins again')) repeated += 1;
    if (finished.code !== 0) failed += 1;
    if (finished.code !== 0 && (finished.code !== 1 || !isClear || /^ +at /m.test(finished.stderr)))
      wrong.push(`exit code ${finished.code}: ${finished.stderr}`);
    if (lives(engine)) wrong.push('its engine lives');
    await rm(out, { recursive: true, force: true });
  }
  const detail = `${count} limits: ${repeated} steps began again in smaller batches, ${failed} runs ended with one line, and the others went on`;
  report(checkNone('engines without memory', wrong, detail));
}

/** Other things in the place of the library. */
export async function replaceLibraries(folder: string, { report }: Reporter): Promise<void> {
  const wrong: string[] = [];
  for (const [index, { name, make, says }] of brokenLibraries.entries()) {
    const place = join(folder, String(index));
    await mkdir(place, { recursive: true });
    await make(libraryOf(place));
    const run = new TrainingRun(join(folder, 'run'), {}, { TOOLENV_LIBTORCH: place });
    const ended = await Promise.race([run.finished, sleep(30_000, undefined)]);
    await chmod(place, 0o700);
    if (!ended) {
      run.child.kill('SIGKILL');
      wrong.push(`${name}: the run hangs`);
      continue;
    }
    const lines = linesOf(ended);
    const isClear = lines.length === 1 && lines[0]!.startsWith('toolenv: ') && says.test(lines[0]!);
    if (ended.code !== 2 || !isClear) wrong.push(`${name}: exit code ${ended.code}: ${ended.stderr}`);
  }
  const detail = `${brokenLibraries.length} things in the place of the library: one line each, with exit code 2`;
  report(checkNone('libraries that are none', wrong, detail));
}
