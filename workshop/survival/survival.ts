/**
 * `npm run survival`: kills a run at 20 random moments and resumes it each time. The result must equal that of an
 * uninterrupted run.
 *
 * `npm run survival -- [--trainer ppo] [--seed 2]`: another trainer, and other moments.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { createRng } from '@toolenv/core';
import { fingerprint, train, trainers } from './killable-run.ts';

const kills = 20;
const { values } = parseArgs({
  options: { trainer: { type: 'string', default: 'grpo' }, seed: { type: 'string', default: '1' } },
});
const trainer = trainers.find((name) => name === values.trainer);
if (!trainer) throw new RangeError(`No trainer "${values.trainer}": ${trainers.join(' or ')}.`);
const rng = createRng(Number(values.seed), 'survival');
const folder = await mkdtemp(join(tmpdir(), 'toolenv-survival-'));
const [whole, killed] = [join(folder, 'whole'), join(folder, 'killed')];
try {
  const started = performance.now();
  if ((await train(whole, { trainer })) !== 0)
    throw new Error('The uninterrupted run failed: its error is above.');
  const duration = performance.now() - started;

  const expected = await fingerprint(whole);
  let [runs, kill, differing] = [0, 0, 0];
  while (kill < kills) {
    const killAfter = Math.round(rng.float() * duration);
    const code = await train(killed, { trainer, resume: true, killAfter });
    if (code === null) {
      kill += 1;
      console.log(`kill ${kill}/${kills} after ${killAfter} ms`);
    } else await ended(code);
  }
  await ended(await train(killed, { trainer, resume: true }));
  console.log(
    `${kills} kills in ${runs} runs; ${differing === 0 ? 'all results are equal' : `the results of ${differing} runs DIFFER`}`,
  );
  process.exitCode = differing === 0 ? 0 : 1;

  /** Compares a finished run with the uninterrupted run, and removes it, so that the next run starts anew. */
  async function ended(code: number | null): Promise<void> {
    if (code !== 0) throw new Error(`Resuming failed with exit code ${code}: its error is above.`);
    runs += 1;
    if (!isDeepStrictEqual(await fingerprint(killed), expected)) differing += 1;
    await rm(killed, { recursive: true });
  }
} finally {
  await rm(folder, { recursive: true });
}
