/** What npm installs for a package besides it: its dependencies and theirs, from package-lock.json. */

/** The fields of an entry of package-lock.json that say what it needs. */
export interface LockedPackage {
  link?: boolean;
  resolved?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

/** `packages` of package-lock.json: by path, as `node_modules/ajv`. */
export type Lock = Readonly<Record<string, LockedPackage>>;

export interface Closure {
  /** Paths of packages that are always installed. Required peers count, because npm installs them. */
  required: string[];
  /** Paths of packages that are installed on some systems, as binaries for one platform. Optional peers are never installed. */
  optional: string[];
}

/** @param folder Path of the package, as `packages/core`. Packages of the workspace are followed, but not listed. */
export function closureOf(lock: Lock, folder: string): Closure {
  const required = new Set<string>();
  const optional = new Set<string>();
  follow(lock, folder, required, optional);
  for (const path of required) optional.delete(path);
  const listed = (paths: Set<string>) => [...paths].filter((path) => path.includes('node_modules/')).sort();
  return { required: listed(required), optional: listed(optional) };
}

function follow(lock: Lock, from: string, into: Set<string>, optional: Set<string>): void {
  const { dependencies, peerDependencies, optionalDependencies, peerDependenciesMeta } = lock[from]!;
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional);
  const may = Object.keys(optionalDependencies ?? {});
  const must = [...Object.keys(dependencies ?? {}), ...peers].filter((name) => !may.includes(name));
  for (const [names, group] of [
    [must, into],
    [may, optional],
  ] as const) {
    for (const name of names) {
      const path = resolve(lock, from, name);
      if (path === undefined && group === into)
        throw new Error(`package-lock.json lacks ${name} of ${from}.`);
      if (path === undefined || group.has(path)) continue;
      group.add(path);
      follow(lock, path, group, optional);
    }
  }
}

/** The path of the package that `name` means in the folder `from`, as Node looks for it. */
function resolve(lock: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.replace(/\/?[^/]+$/, '')) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    const found = lock[path];
    if (found) return found.link ? found.resolved! : path;
    if (folder === '') return undefined;
  }
}
