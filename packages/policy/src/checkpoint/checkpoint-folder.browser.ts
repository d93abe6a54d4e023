/** The browser's version of checkpoint-folder.ts: the page has put the folder where it is. */
import type { CheckpointFolder } from './checkpoint-folder.ts';

export async function checkpointFolder(folder: string): Promise<CheckpointFolder> {
  return { folder };
}
