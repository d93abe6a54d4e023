/** undeclaredImports: packages that a built file imports although its package.json does not name them. Elsewhere they may not be installed. */
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, extname, resolve } from 'node:path';

/** Static imports at the beginning of a line, as compilers write them. Comments, and code in strings, rarely begin like that. */
const imports = /^(?:import|export)\b(?:[^'"\n;]*\bfrom)?\s*['"]([^'"\n]+)['"]/gm;

/**
 * Follows the relative imports of a file.
 * @param json package.json.
 */
export function undeclaredImports(entry: string, json: object): string[] {
  const { name, dependencies, peerDependencies, optionalDependencies } = json as Record<
    string,
    object | undefined
  >;
  const known = new Set(
    [dependencies, peerDependencies, optionalDependencies].flatMap((of) => Object.keys(of ?? {})),
  );
  known.add(String(name));
  const files = new Set([entry]);
  const undeclared = new Set<string>();
  for (const file of files) {
    if (!/^\.[cm]?js$/.test(extname(file)) || !existsSync(file)) continue;
    for (const [, imported] of readFileSync(file, 'utf8').matchAll(imports)) {
      if (imported!.startsWith('.')) files.add(resolve(dirname(file), imported!));
      else if (!imported!.startsWith('#') && !isBuiltin(imported!) && !/^[a-z]+:/.test(imported!)) {
        const owner = imported!.split('/', imported!.startsWith('@') ? 2 : 1).join('/');
        if (!known.has(owner)) undeclared.add(owner);
      }
    }
  }
  return [...undeclared];
}
