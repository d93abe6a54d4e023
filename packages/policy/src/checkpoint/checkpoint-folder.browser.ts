/** The browser's version of checkpoint-folder.ts: the page has put the folder where it is. */

export async function checkpointFolder(
  folder: string,
): Promise<{ folder: string; name?: string; revision?: string }> {
  return { folder };
}
