/** undeclaredImports: packages that a built file imports although its package.json does not name them. Elsewhere they may not be installed. */
import { isBuiltin } from 'node:module';
import { builtFiles } from './built-files.ts';

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
  const undeclared = new Set<string>();
  for (const imported of [...builtFiles(entry).values()].flat()) {
    if (/^[.#]|^[a-z]+:/.test(imported) || isBuiltin(imported)) continue;
    const owner = imported.split('/', imported.startsWith('@') ? 2 : 1).join('/');
    if (!known.has(owner)) undeclared.add(owner);
  }
  return [...undeclared];
}
