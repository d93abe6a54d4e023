/** The READMEs of the library have the baselines that `npm run baselines` prints. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { meanRewards, tableRow } from '../baselines/mean-rewards.ts';
import { randomPlayers } from '../baselines/random-players.ts';

const root = join(import.meta.dirname, '../..');

test.each(Object.keys(randomPlayers))(
  '%s',
  async (ref) => {
    const [, folder] = /^@toolenv\/([^/]+)/.exec(ref)!;
    const readme = await readFile(join(root, 'packages', folder!, 'README.md'), 'utf8');
    expect(readme).toContain(tableRow(ref, await meanRewards(ref)));
  },
  300_000,
);
