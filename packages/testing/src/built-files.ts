/** builtFiles: the JavaScript of a package that an entry imports, and what each file imports. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, extname, join, relative, resolve, sep } from 'node:path';

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

/**
 * Packages that a built file imports although its package.json does not name them: elsewhere they may not be installed.
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

/** Milliseconds by which a source must be newer: git and npm write the files of a package one after another. */
const apart = 2_000;

/**
 * The path of a source in `folder` that is newer than the whole build. A compiler may leave a file as it is if nothing in it has changed, so the
 * newest file that it has written counts.
 * @param entries The built files of the entries, as paths in the package.
 * @param folder Where the package was built.
 */
export function staleSource(entries: readonly string[], folder: string): string | undefined {
  const built = [...new Set(entries.flatMap((entry) => [...builtFiles(join(folder, entry)).keys()]))]
    .map((file) => ({ file, sources: sourcesOf(file, folder).filter((source) => source !== file) }))
    .filter(({ sources }) => sources.length > 0);
  const written = [...built.map(({ file }) => file), ...buildInfos(folder)];
  const newest = Math.max(...written.map(changedAt));
  const stale = built.flatMap(({ sources }) => sources).find((source) => changedAt(source) > newest + apart);
  return stale && relative(folder, stale).split(sep).join('/');
}

function changedAt(file: string): number {
  return statSync(file).mtimeMs;
}

/** Of TypeScript, which writes them although no other file has changed. */
function buildInfos(folder: string): string[] {
  return [folder, join(folder, 'dist')]
    .filter(existsSync)
    .flatMap((place) => readdirSync(place).map((name) => join(place, name)))
    .filter((file) => file.endsWith('.tsbuildinfo'));
}

/** The sources that the source map names, or else the file of the same name among the sources. */
function sourcesOf(file: string, folder: string): string[] {
  const mapped = mappedSources(`${file}.map`);
  const isOwn = (source: string) => !/^\.\.|(^|[\\/])node_modules[\\/]/.test(relative(folder, source));
  if (mapped) return mapped.filter((source) => isOwn(source) && existsSync(source));
  const [, ...path] = relative(folder, file).split(sep);
  const stem = join(...path).replace(/\.([cm]?)js$/, '');
  const places = [join(folder, 'src', stem), join(folder, stem)];
  const candidates = places.flatMap((place) => ['.ts', '.tsx', '.mts', '.cts'].map((end) => place + end));
  return path.length === 0 ? [] : candidates.filter(existsSync).slice(0, 1);
}

function mappedSources(map: string): string[] | undefined {
  try {
    const { sources, sourceRoot = '' } = JSON.parse(readFileSync(map, 'utf8')) as {
      sources: string[];
      sourceRoot?: string;
    };
    return sources.map((source) => resolve(dirname(map), sourceRoot, source));
  } catch {
    return undefined;
  }
}
