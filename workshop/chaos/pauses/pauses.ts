/** The part `pauses`: a second process begins in the folder of another that works, or that is held up in the middle of its work and goes on later. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createRng, type Rng } from '@toolenv/core';
import { scratchFolder } from '../../scratch-folder.ts';
import { checkNone, type PartInput, type Reporter } from '../part.ts';
import { canBeApart, claimsIn, type Job, jobs, removeClaims, resultOf, Working } from './paused-job.ts';

/** How often the claims of a process that is held up are removed at once, as a person may do it and as a successor does after half a minute. */
const pauses = { full: 25, quick: 3 };

export async function run({ quick, seed }: PartInput, reporter: Reporter): Promise<void> {
  await using root = await scratchFolder();
  if (canBeApart) await beginInAnotherContainer(join(root.path, 'containers'), reporter);
  await Promise.all(
    jobs.map((job, index) =>
      pauseJob(job, {
        count: quick ? pauses.quick : pauses.full,
        rng: createRng(seed, 'pauses', index),
        folder: join(root.path, job.name),
        ...reporter,
      }),
    ),
  );
}

/** Neither process sees the other. */
async function beginInAnotherContainer(out: string, { report }: Reporter): Promise<void> {
  const [job] = jobs as [Job];
  const first = new Working([...job.args(out), '--steps', '1000', '--pause', '500'], { isApart: true });
  try {
    await first.makes(join(out, job.begun));
    const { code, stderr } = await new Working([...job.args(out), '--resume']).ended;
    const wrong = [
      ...(code === 2 && /is in use by process 1:/.test(stderr) ? [] : [`exit code ${code}: ${stderr}`]),
      ...(first.isOver ? ['the first run ended'] : []),
    ];
    report(checkNone('a run in another container is refused', wrong, 'the first run continues'));
  } finally {
    if (!first.isOver) await first.signal('SIGKILL');
  }
}

interface Pauses extends Reporter {
  count: number;
  rng: Rng;
  folder: string;
}

async function pauseJob(job: Job, { count, rng, folder, say, report }: Pauses): Promise<void> {
  const whole = `${folder}-whole`;
  const undisturbed = new Working(job.args(whole));
  await undisturbed.makes(join(whole, job.begun));
  const begun = performance.now();
  const { code, stderr } = await undisturbed.ended;
  if (code !== 0) throw new Error(`The undisturbed ${job.name} failed: ${stderr}`);
  const duration = performance.now() - begun;
  const expected = await resultOf(whole);
  const attempt = { job, expected, duration, rng };
  // The wait for the silent heart of a process that nobody sees goes on beside the others.
  const waiting = canBeApart
    ? pauseOnce({ ...attempt, out: `${folder}-apart`, isApart: true })
    : Promise.resolve([]);
  const wrong: string[] = [];
  for (let pause = 1; pause <= count; ) {
    const found = await pauseOnce({ ...attempt, out: `${folder}-${pause}`, isApart: false });
    if (!found) continue;
    wrong.push(...found.map((each) => `pause ${pause}: ${each}`));
    say(`${job.name}: ${pause++} of ${count} pauses`);
  }
  wrong.push(
    ...((await waiting) ?? ['it ended before it was held up']).map((each) => `in a container: ${each}`),
  );
  const apart = canBeApart ? ', and one in a process namespace of its own' : '';
  const detail = `${count} processes were held up at random moments${apart}: each stopped with one line, and every result equals that of a run alone`;
  report(checkNone(`${job.name} that was held up`, wrong, detail));
}

interface Attempt {
  job: Job;
  out: string;
  expected: Record<string, unknown>;
  /** Milliseconds of the work of a run alone. */
  duration: number;
  rng: Rng;
  /** Whether the first process has process numbers of its own, so that the second waits for its heart. */
  isApart: boolean;
}

/** What is wrong; `undefined` if the first process was done before it was held up. */
async function pauseOnce({
  job,
  out,
  expected,
  duration,
  rng,
  isApart,
}: Attempt): Promise<string[] | undefined> {
  const moment = duration * rng.float();
  const [goesOnWhile, later] = [rng.float() < 0.5, 300 * rng.float()];
  const first = new Working(job.args(out), { isApart });
  try {
    await first.makes(join(out, job.begun));
    await sleep(isApart ? duration / 3 : moment);
    if (!first.isOver) await first.signal('SIGSTOP');
    if (first.isOver || existsSync(join(out, job.done))) return undefined;
    if (!isApart) await removeClaims(out);
    const before = await claimsIn(out);
    const second = new Working([...job.args(out), '--resume']);
    try {
      if (goesOnWhile) {
        while (!second.isOver && !isTakenOver(await claimsIn(out), before)) await sleep(10);
        await sleep(later);
      } else await second.ended;
      await first.signal('SIGCONT');
      return await mistakes(out, expected, { first, second });
    } finally {
      if (!second.isOver) await second.signal('SIGKILL');
    }
  } finally {
    if (!first.isOver) await first.signal('SIGKILL');
    await rm(out, { recursive: true, force: true });
  }
}

/** A second process that waits for the heart of the first makes a claim too, and withdraws it. */
function isTakenOver(claims: readonly string[], before: readonly string[]): boolean {
  return claims.length > 0 && !claims.some((name) => before.includes(name));
}

async function mistakes(
  out: string,
  expected: Record<string, unknown>,
  { first, second }: { first: Working; second: Working },
): Promise<string[]> {
  const [stopped, done] = await Promise.all([first.ended, second.ended]);
  // Beside the bar.
  const lines = stopped.stderr
    .split('\n')
    .filter((line) => line !== '' && !/^(step|episodes) [█░]/.test(line));
  const isClear = lines.length === 1 && /^toolenv: .*(was taken over by|is gone).* stops/.test(lines[0]!);
  const result = await resultOf(out);
  const differing = Object.keys(expected).filter((name) => !isDeepStrictEqual(result[name], expected[name]));
  return [
    ...(done.code === 0 ? [] : [`the second ended with exit code ${done.code}: ${done.stderr}`]),
    ...(stopped.code === 1 ? [] : [`the first ended with exit code ${stopped.code}`]),
    ...(isClear ? [] : [`the first wrote ${JSON.stringify(stopped.stderr)}`]),
    ...differing.map((name) => `${name} differs`),
  ];
}
