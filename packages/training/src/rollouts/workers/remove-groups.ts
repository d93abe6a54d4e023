/** Removes from a folder the files of groups that are over. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** @param names What the names of the files look like, with the number of the group. */
export async function removeGroups(
  folder: string,
  isOver: (group: number) => boolean,
  names: RegExp = /^(\d+)\./,
): Promise<void> {
  for (const name of await readdir(folder)) {
    const group = names.exec(name)?.[1];
    if (group !== undefined && isOver(Number(group))) await rm(join(folder, name), { force: true });
  }
}
