/** Training the tiny policy gives the same bits even if the process is killed several times. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fingerprint, train } from '../chaos/kills/killable-run.ts';

test('a run killed three times and resumed equals an uninterrupted run bit for bit', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-kill-'));
  try {
    const [whole, killed] = [join(folder, 'whole'), join(folder, 'killed')];
    expect(await train(whole)).toBe(0);
    for (const killAfter of [1900, 2600, 3300]) await train(killed, { resume: true, killAfter });
    expect(await train(killed, { resume: true })).toBe(0);
    expect(await fingerprint(killed)).toEqual(await fingerprint(whole));
  } finally {
    await rm(folder, { recursive: true });
  }
}, 180_000);
