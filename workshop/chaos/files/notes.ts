/** Notes of a run that somebody else damaged, that are a pipe, a folder or a link, and that several pages write at once. */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Rng } from '@toolenv/core';
import { ViewedRun } from '../../../packages/view/src/view/viewed-run.ts';
import { mutateBytes, mutateJson } from './mutate.ts';
import type { Subject } from './subject.ts';

const sound = JSON.stringify({ note: 'the run of the paper', tags: ['best', 'paper'] });
const config = JSON.stringify({ env: '@toolenv/envs-qa/bridge-v1', trainer: 'grpo', seed: 1 });
/** Pages that write at once. */
const writers = 4;

const ways: Readonly<Record<string, (rng: Rng, file: string) => Promise<void>>> = {
  bytes: (rng, file) => writeFile(file, mutateBytes(rng, Buffer.from(sound))),
  fields: (rng, file) => writeFile(file, mutateJson(rng, sound)),
  'a pipe': async (_, file) => void execFileSync('mkfifo', [file]),
  'a folder': async (_, file) => void (await mkdir(file)),
  'a link to another file': (_, file) => symlink('config.json', file),
  'a link to itself': (_, file) => symlink('notes.json', file),
};

export const notes: Subject = {
  async damage(rng, folder) {
    const name = rng.pick(Object.keys(ways));
    await writeFile(join(folder, 'config.json'), config);
    await ways[name]!(rng, join(folder, 'notes.json'));
    return name;
  },
  async use(folder) {
    const head = await new ViewedRun(folder, 'run').head();
    if (head.notes && !head.notes.tags.every((tag) => /^[^\s,]{1,40}$/.test(tag)))
      throw new Error(`shows ${JSON.stringify(head.notes).slice(0, 200)}`);
    const written = Array.from({ length: writers }, (_, number) => ({
      note: `note ${number}`,
      tags: [`tag-${number}`],
    }));
    const ends = await Promise.allSettled(
      written.map((each) => new ViewedRun(folder, 'run').writeNotes(each)),
    );
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    const kept = (await new ViewedRun(folder, 'run').head()).notes;
    // The notes of one page, whole.
    if (!written.some((each) => JSON.stringify(each) === JSON.stringify(kept)))
      throw new Error(`keeps ${JSON.stringify(kept)}`);
    if ((await readFile(join(folder, 'config.json'), 'utf8')) !== config) throw new Error('changes a record');
  },
};
