/**
 * `npm run survival`: a run that is killed at 20 random moments and resumed each time ends as one that never was.
 *
 * `npm run survival -- [--trainer ppo] [--seed 2]`: another trainer, other moments.
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
    throw new Error('The run that is not killed failed: its error is above.');
  const duration = performance.now() - started;

  let finished = 0;
  for (let kill = 1; kill <= kills; kill++) {
    const killAfter = Math.round(rng.float() * duration);
    const code = await train(killed, { trainer, resume: true, killAfter });
    if (code === 0) finished += 1;
    else if (code !== null) throw new Error(`Resuming failed with exit code ${code}: its error is above.`);
    console.log(`kill ${kill}/${kills} after ${killAfter} ms${code === 0 ? ': the run had ended' : ''}`);
    // Of a run that has ended nothing more can be learned.
    if (code === 0) await rm(killed, { recursive: true });
  }
  if ((await train(killed, { trainer, resume: true })) !== 0)
    throw new Error('The last resume failed: its error is above.');
  const same = isDeepStrictEqual(await fingerprint(killed), await fingerprint(whole));
  console.log(
    `${kills} kills, ${finished} of them too late; ${same ? 'the weights are the same' : 'the weights DIFFER'}`,
  );
  process.exitCode = same ? 0 : 1;
} finally {
  await rm(folder, { recursive: true });
}
