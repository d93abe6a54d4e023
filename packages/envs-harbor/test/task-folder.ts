/** Writes task folders for tests. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The smallest task that can be played. */
export const smallest: Readonly<Record<string, string>> = {
  'task.toml': 'artifacts = ["/work/out.txt"]\n[environment]\ndocker_image = "busybox"\n',
  'instruction.md': 'Write 42 into /work/out.txt.\n',
  'tests/test.sh': '#!/bin/sh\n',
};

/** A new folder, and how it is removed. */
export async function newFolder(): Promise<{ folder: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-harbor-'));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** Writes files by their path below the folder. `undefined` leaves a file out. */
export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    if (content === undefined) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}
