/** staleSource: a source that was changed after its package was built, so that a check sees the old code. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { builtFiles } from './built-files.ts';

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
