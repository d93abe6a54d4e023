/** The part `kills`: kills training at random moments and resumes it. Results must equal those of a run that nothing disturbs. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createRng } from '@toolenv/core';
import { scratchFolder } from '../../scratch-folder.ts';
import { checkNone, type PartInput, type Reporter } from '../part.ts';
import { fingerprint, shareLeft, train, trainers } from './killable-run.ts';

/** Kills of each trainer. */
const kills = { full: 67, quick: 2 };

export async function run({ quick, seed }: PartInput, reporter: Reporter): Promise<void> {
  await using folder = await scratchFolder();
  const count = quick ? kills.quick : kills.full;
  // All at once, because a process uses one core while it starts.
  await Promise.all(
    trainers.map((trainer) => killRuns(trainer, { count, seed, folder: folder.path, ...reporter })),
  );
}

interface Kills extends Reporter {
  count: number;
  seed: number;
  folder: string;
}

/** Kills runs of one trainer. A run that ends before it is killed again is compared, and the next one starts anew. */
async function killRuns(
  trainer: (typeof trainers)[number],
  { count, seed, folder, say, report }: Kills,
): Promise<void> {
  const [whole, killed] = [join(folder, `${trainer}-whole`), join(folder, `${trainer}-killed`)];
  const started = performance.now();
  const wrong: string[] = [];
  const compare = async (name: string, code: number | null) => {
    if (code !== 0) wrong.push(`${name} ended with exit code ${code}`);
    else if (!isDeepStrictEqual(await fingerprint(killed), expected)) wrong.push(`${name} differs`);
    await rm(killed, { recursive: true, force: true });
  };
  if ((await train(whole, { trainer })) !== 0) throw new Error(`The undisturbed run of ${trainer} failed.`);
  const duration = performance.now() - started;
  const expected = await fingerprint(whole);
  const rng = createRng(seed, 'kills', trainers.indexOf(trainer));
  let [runs, kill] = [0, 0];
  while (kill < count) {
    const code = await train(killed, {
      trainer,
      resume: true,
      // What is left of a resumed run takes less time.
      killAfter: Math.round(rng.float() * duration * (await shareLeft(killed))),
    });
    if (code !== null) await compare(`run ${++runs}`, code);
    else if (++kill % 10 === 0) say(`${trainer}: ${kill} of ${count} kills`);
  }
  await compare(`run ${++runs}`, await train(killed, { trainer, resume: true }));
  const detail = `${kill} kills in ${runs} runs, all results equal bit for bit`;
  report(checkNone(`${trainer}: results after kills`, wrong, detail));
}
