/** The code of the engine on disk. A process that begins later has the code of its time, which an update of the packages may have replaced. */
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Other files give another stamp. @param folders Default: those of the engine and of the programs that it runs. */
export function stampOfCode(
  folders: readonly string[] = [import.meta.url, import.meta.resolve('@toolenv/policy/runtime')].map((url) =>
    dirname(fileURLToPath(url)),
  ),
): string {
  return folders
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .map((file) => {
      // An installation may give files the times of their packing, but not the time of their change.
      const { ctimeMs, size } = statSync(file);
      return `${file} ${ctimeMs} ${size}`;
    })
    .join('\n');
}
