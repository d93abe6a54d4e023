/** The versions of toolenv's own packages that are installed together. They are released, and tested, in one version. */
import { allPackages, findPackage, type InstalledPackage } from '@toolenv/core/plugins';

export interface InstalledVersions {
  /** Of the command that runs. */
  own: string;
  /** Version → names of the packages, sorted. A package that is installed twice may be in two versions. */
  packages: Record<string, string[]>;
  /** The command that gives every package the version of the command that runs; absent if they have it. */
  remedy?: string;
}

/** Looks at the packages that can be imported from the folders, and at those that they depend on. */
export function installedVersions(from: readonly string[]): InstalledVersions {
  const direct = from.flatMap((folder) => [...allPackages([folder])]).filter(({ name }) => isOurs(name));
  const names = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const add = (installed: InstalledPackage) => {
    if (seen.has(installed.folder)) return;
    seen.add(installed.folder);
    const { version } = installed.json;
    names.set(version, (names.get(version) ?? new Set()).add(installed.name));
    for (const name of needsOf(installed)) {
      const needed = findPackage(name, installed.folder);
      if (needed) add(needed);
    }
  };
  direct.forEach(add);
  const packages = [...names].map(([version, each]) => [version, [...each].sort()]);

  const own = findPackage('toolenv', import.meta.dirname)!.json.version;
  const others = direct.filter(({ json }) => json.version !== own);
  // npm puts what a package needs beside it, and raises it with the package.
  const asked = others.filter(({ name }) => !others.some((other) => needsOf(other).includes(name)));
  const remedy = ['npm install', ...new Set(asked.map(({ name }) => `${name}@${own}`))].join(' ');
  return { own, packages: Object.fromEntries(packages), ...(asked.length > 0 && { remedy }) };
}

/** The packages of toolenv that a package depends on. */
function needsOf({ json }: InstalledPackage): string[] {
  return Object.keys(json.dependencies ?? {}).filter(isOurs);
}

function isOurs(name: string): boolean {
  return name === 'toolenv' || name.startsWith('@toolenv/');
}
