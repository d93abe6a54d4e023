/** A run whose folder another process has taken over: it stops, and nothing in the folder changes any more. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder, partialOf, removePartials, writeAtomic, writeFolder } from '@toolenv/core/files';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { saveCheckpoint } from '../../src/run-folder/checkpoints.ts';
import { banditRun } from '../bandit-run.ts';

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'lost-folder-'));
});
afterEach(() => rm(out, { recursive: true }));

const lost = { code: 'infrastructure.folder_lost' };

async function removeClaims(): Promise<void> {
  for (const name of await readdir(out)) if (name.startsWith('lock-')) await rm(join(out, name));
}

/** Every file of a folder with its content. */
async function contents(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(file, 'latin1')])),
  );
}

test.each(['rollout 3', 'update 3', 'evaluation 2', 'checkpoint 4', 'update 6'])(
  'stops after %s at the latest',
  async (moment) => {
    const left: { files?: Record<string, string> } = {};
    const options = { steps: 6, checkpointEvery: 2, keepCheckpoints: 1, evaluateEvery: 2, tensorboard: true };
    const run = banditRun(out, {
      ...options,
      // Called while the run goes on.
      async onEvent(kind) {
        if (kind !== moment) return;
        await removeClaims();
        left.files = await contents(out);
      },
    });
    await expect(run).rejects.toMatchObject(lost);
    expect(await contents(out)).toEqual(left.files);
  },
);

test('a checkpoint that was begun before is not published, and an older one is not removed', async () => {
  const learner = (during: () => Promise<void>) => ({
    async save(folder: string) {
      await writeFile(join(folder, 'weights'), '1');
      await during();
    },
  });
  const lock = await lockFolder(out);
  await saveCheckpoint(
    out,
    learner(async () => {}),
    { step: 1, seed: 1 },
    { keep: 1 },
  );
  const save = saveCheckpoint(out, learner(removeClaims), { step: 2, seed: 1 }, { keep: 1 });
  await expect(save).rejects.toMatchObject(lost);
  expect(await readdir(join(out, 'checkpoints'))).toEqual(['step-1']);
  await lock.release();
});

test('what is half-written keeps the earlier file and the earlier folder', async () => {
  await writeFolder(join(out, 'policy'), (partial) => writeFile(join(partial, 'weights'), '1'));
  await writeAtomic(join(out, 'curves.svg'), '1');
  const lock = await lockFolder(out);
  const folder = writeFolder(join(out, 'policy'), async (partial) => {
    await writeFile(join(partial, 'weights'), '2');
    await removeClaims();
    // As the successor does.
    await rm(partial, { recursive: true });
  });
  await expect(folder).rejects.toMatchObject(lost);
  await expect(writeAtomic(join(out, 'curves.svg'), '2')).rejects.toMatchObject(lost);
  expect(Object.values(await contents(out))).toEqual(['1', '1']);
  await lock.release();
});

test('a successor removes what another process was writing, and not its own', async () => {
  const names = [
    'metrics.jsonl.0123abcd.partial',
    partialOf('curves.svg'),
    'passages.partial',
    'metrics.jsonl',
  ];
  for (const name of names) await writeFile(join(out, name), '');
  await removePartials(out);
  expect((await readdir(out)).sort()).toEqual(names.slice(1).sort());
});
