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
  /** What it is: the first sentence of its source, or of package.json if the source begins without a comment. */
  summary: string;
}

interface Manifest {
  name: string;
  description: string;
  exports?: Record<string, string | { '@toolenv/source'?: string }>;
}

/** The entry points that the packages' `exports` list, without package.json. */
export function entryPoints(): EntryPoint[] {
  return readdirSync(join(repository, 'packages')).flatMap((folder) => {
    const json = readFileSync(join(repository, 'packages', folder, 'package.json'), 'utf8');
    const { name, description, exports = {} }: Manifest = JSON.parse(json);
    return Object.entries(exports).flatMap(([subpath, conditions]) => {
      const source = typeof conditions === 'object' ? conditions['@toolenv/source'] : undefined;
      if (source === undefined) return [];
      const [own, file] = [name + subpath.slice(1), `packages/${folder}/${source.slice(2)}`];
      const comment = headerOf(readFileSync(join(repository, file), 'utf8'), own) ?? description;
      return [{ name: own, folder, file, summary: firstSentence(comment) }];
    });
  });
}

/** The comment that a source begins with, without the name of the entry point; `undefined` if it begins otherwise. */
function headerOf(source: string, name: string): string | undefined {
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(source)?.[1];
  const text = comment?.replaceAll(/\n \* ?/g, '\n').trim();
  if (!text?.startsWith(`${name}: `)) return text;
  return text.slice(name.length + 2).replace(/^(?!npm )\w/, (letter) => letter.toUpperCase());
}

/** Ends with a full stop. A text of one sentence may lack it. */
function firstSentence(text: string): string {
  const sentence = /^[\s\S]+?[.?!](?=\s|$)/.exec(text)?.[0] ?? `${text}.`;
  return sentence.replaceAll(/\s+/g, ' ');
}
