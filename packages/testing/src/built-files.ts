/** builtFiles: the JavaScript of a package that an entry imports, and what each file imports. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';

/** Static imports at the beginning of a line, as compilers write them. Comments, and code in strings, rarely begin like that. */
const imports = /^(?:import|export)\b(?:[^'"\n;]*\bfrom)?\s*['"]([^'"\n]+)['"]/gm;

/** Follows the relative imports of a file: path → what the file imports, as it is written there. */
export function builtFiles(entry: string): Map<string, string[]> {
  const files = new Set([entry]);
  const found = new Map<string, string[]>();
  for (const file of files) {
    if (!/^\.[cm]?js$/.test(extname(file)) || !existsSync(file)) continue;
    const imported = [...readFileSync(file, 'utf8').matchAll(imports)].map(([, name]) => name!);
    found.set(file, imported);
    for (const name of imported) if (name.startsWith('.')) files.add(resolve(dirname(file), name));
  }
  return found;
}
