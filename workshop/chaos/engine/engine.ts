/** The part `engine`: kills, stops and starves the process of libtorch, and puts other things in the place of its library. Skipped without PyTorch. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createRng } from '@toolenv/core';
import { lives } from '../../../packages/libtorch/process-test/engines.ts';
import { hasLibtorch } from '../../../packages/libtorch/process-test/has-libtorch.ts';
import { linesOf, TrainingRun } from '../../../packages/libtorch/process-test/training-run.ts';
import { scratchFolder } from '../../scratch-folder.ts';
import { fingerprint, shareLeft } from '../kills/killable-run.ts';
import { checkNone, type PartInput, type Reporter } from '../part.ts';
import { replaceLibraries, starveEngines, stopEngines } from './attacks.ts';

const kills = { full: 200, quick: 4 };
/** Runs at once, because a process uses one core while it starts. */
const lanes = 2;

export async function run({ quick, seed }: PartInput, reporter: Reporter): Promise<void> {
  if (!hasLibtorch) {
    reporter.report(checkNone('kills of the engine', [], 'skipped: this machine has no PyTorch'));
    return;
  }
  await using folder = await scratchFolder();
  const count = (quick ? kills.quick : kills.full) / lanes;
  const whole = join(folder.path, 'whole');
  const duration = await undisturbed(whole);
  const expected = await fingerprint(whole);
  const found = await Promise.all(
    Array.from({ length: lanes }, (_, lane) =>
      killEngines({
        ...reporter,
        ...{ count, duration, expected, out: join(folder.path, `lane-${lane}`) },
        rng: createRng(seed, 'engine', lane),
      }),
    ),
  );
  const sum = (of: (lane: Killed) => number) => found.reduce((total, lane) => total + of(lane), 0);
  const detail = `${sum(({ kills }) => kills)} kills in ${sum(({ runs }) => runs)} runs: each ended with exit code 1 and one line that says why, no process and no damaged checkpoint was left, and all results equal those of a run alone bit for bit`;
  reporter.report(
    checkNone(
      'kills of the engine',
      found.flatMap(({ wrong }) => wrong),
      detail,
    ),
  );
  await stopEngines(join(folder.path, 'stopped'), quick ? 1 : 5, reporter);
  await starveEngines(join(folder.path, 'starved'), { count: quick ? 2 : 20, seed }, reporter);
  await replaceLibraries(join(folder.path, 'libraries'), reporter);
}

/** @returns Milliseconds from the start of the engine to the end. */
async function undisturbed(out: string): Promise<number> {
  const run = new TrainingRun(out);
  await run.engine();
  const begun = performance.now();
  const { code, stderr } = await run.finished;
  if (code !== 0) throw new Error(`The undisturbed run failed: ${stderr}`);
  return performance.now() - begun;
}

interface Killed {
  kills: number;
  runs: number;
  wrong: string[];
}

interface Kills extends Reporter {
  count: number;
  duration: number;
  expected: Record<string, string>;
  out: string;
  rng: ReturnType<typeof createRng>;
}

/** Kills engines of one run after another. A run that ends before its engine is killed is compared, and the next one starts anew. */
async function killEngines({ count, duration, expected, out, rng, say }: Kills): Promise<Killed> {
  const killed: Killed = { kills: 0, runs: 0, wrong: [] };
  for (let isLast = false; !isLast; ) {
    isLast = killed.kills >= count;
    const run = new TrainingRun(out, { resume: true });
    const engine = await run.engine();
    // What is left of a resumed run takes less time.
    await Promise.race([
      run.finished,
      sleep(isLast ? 600_000 : rng.float() * duration * (await shareLeft(out))),
    ]);
    const isKilled = !run.isOver && kill(engine!);
    const finished = await run.finished;
    const mistakes = [
      ...(engine !== undefined && lives(engine) ? ['its engine lives'] : []),
      ...(/Damaged|resuming from step/.test(finished.stderr) ? ['it found a damaged file'] : []),
    ];
    if (finished.code !== 0) {
      if (!isKilled) mistakes.push(`it ended by itself with exit code ${finished.code}: ${finished.stderr}`);
      else mistakes.push(...mistakesOf(finished));
      killed.kills += 1;
      if (killed.kills % 10 === 0) say(`${killed.kills} of ${count} kills in ${out.at(-1)}`);
    } else {
      killed.runs += 1;
      const result = await fingerprint(out).catch((error: Error) => error.message);
      if (!isDeepStrictEqual(result, expected)) mistakes.push('its result differs');
      await rm(out, { recursive: true, force: true });
    }
    for (const mistake of mistakes) {
      say(`kill ${killed.kills}: ${mistake}`);
      killed.wrong.push(`kill ${killed.kills}: ${mistake}`);
    }
  }
  return killed;
}

const saysWhy =
  /^toolenv: The process of libtorch has ended \(SIGKILL\): most likely for lack of memory, so give a smaller token budget or model, and go on with --resume\.$/;

function mistakesOf(finished: Awaited<TrainingRun['finished']>): string[] {
  const errors = linesOf(finished).filter((line) => line.startsWith('toolenv: '));
  const isClear = errors.length === 1 && saysWhy.test(errors[0]!) && !/^ +at /m.test(finished.stderr);
  return [
    ...(finished.code === 1 ? [] : [`exit code ${finished.code}`]),
    ...(isClear ? [] : [`it wrote ${JSON.stringify(finished.stderr)}`]),
  ];
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
