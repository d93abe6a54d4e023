/** Damages and uses a range of files, in a process that can be ended. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRng } from '@toolenv/core';
import type { Reporter } from '../part.ts';
import { adapters } from './adapters.ts';
import { checkpoints } from './checkpoints.ts';
import { manifests } from './manifests.ts';
import { notes } from './notes.ts';
import { type Subject, wrongError } from './subject.ts';
import { trajectories } from './trajectories.ts';

const subjects = { checkpoints, adapters, trajectories, manifests, notes };

export interface FileRange {
  kind: keyof typeof subjects;
  seed: number;
  from: number;
  to: number;
  /** Folder for the damaged files. */
  root: string;
}

export interface FileCounts {
  /** The file that is used now, or was used last. */
  number: number;
  damage: string;
  accepted: number;
  refused: number;
  wrong: string[];
  /** Largest resident memory of the process in megabytes. */
  memory: number;
}

/** Says the counts so far as JSON before each file is used. */
export async function run({ kind, seed, from, to, root }: FileRange, { say }: Reporter): Promise<FileCounts> {
  const subject: Subject = subjects[kind];
  const counts: FileCounts = {
    number: from,
    damage: 'nothing',
    accepted: 0,
    refused: 0,
    wrong: [],
    memory: 0,
  };
  for (let number = from; number < to; number++) {
    const folder = await mkdtemp(join(root, 'file-'));
    try {
      const damage = await subject.damage(createRng(seed, 'files', kind, number), folder);
      // Kilobytes.
      const memory = process.resourceUsage().maxRSS / 1024;
      say(JSON.stringify(Object.assign(counts, { number, damage, memory })));
      // Lets the message leave before the file is used, which may hang.
      await new Promise((resolve) => setTimeout(resolve, 1));
      try {
        await subject.use(folder);
        counts.accepted += 1;
      } catch (error) {
        counts.refused += 1;
        const wrong = wrongError(error);
        if (wrong) counts.wrong.push(`number ${number} (${damage}): ${wrong.replaceAll(folder, '')}`);
      }
    } finally {
      process.chdir(tmpdir());
      await rm(folder, { recursive: true, force: true });
    }
  }
  return counts;
}
