/** The entry points of the packages: what programs can import. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './pages.ts';

export interface EntryPoint {
  /** As programs import it: `@toolenv/core/wrappers`. */
  name: string;
  /** Folder of its package: `cli` for `toolenv`. */
  folder: string;
  /** Its source, from the root of the repository. */
  file: string;
}

type Exports = Record<string, string | { '@toolenv/source'?: string }>;

/** The entry points that the packages' `exports` list, without package.json. */
export function entryPoints(): EntryPoint[] {
  return readdirSync(join(repository, 'packages')).flatMap((folder) => {
    const json = readFileSync(join(repository, 'packages', folder, 'package.json'), 'utf8');
    const { name, exports = {} }: { name: string; exports?: Exports } = JSON.parse(json);
    return Object.entries(exports).flatMap(([subpath, conditions]) => {
      const source = typeof conditions === 'object' ? conditions['@toolenv/source'] : undefined;
      if (source === undefined) return [];
      return [{ name: name + subpath.slice(1), folder, file: `packages/${folder}/${source.slice(2)}` }];
    });
  });
}
