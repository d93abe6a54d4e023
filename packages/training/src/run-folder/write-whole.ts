/** Writes a file that is never seen half-written. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { writing } from '@toolenv/core/recording';

/** @throws ToolEnvError `infrastructure.disk` on a full disk or in a read-only folder. An earlier file stays as it was. */
export async function writeWhole(file: string, content: string): Promise<void> {
  const partial = `${file}.partial`;
  await writing(file, async () => {
    try {
      await writeFile(partial, content);
      await rename(partial, file);
    } catch (error) {
      await rm(partial, { force: true }).catch(() => {});
      throw error;
    }
  });
}
