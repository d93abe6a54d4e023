/** installationOf: what a program needs of its own installation, so that a confined agent sees no other package. */
import { accessSync, constants, existsSync, readFileSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join, resolve, sep } from 'node:path';

/**
 * The program with the packages that it depends on, if npm has installed it; the program alone otherwise.
 * @returns Absolute paths; none if there is no such program, and starting it says so.
 */
export function installationOf(file: string): string[] {
  const found = file.includes(sep) ? resolve(file) : onPath(file);
  if (found === undefined || !existsSync(found)) return [];
  const real = realpathSync(found);
  const own = packageOf(real);
  // A link of npm leads to the package, and a program of another kind is a file.
  return own === undefined ? [found, real] : [dirname(found), ...withDependencies(own)];
}

function onPath(file: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, file)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The folder of the package in `node_modules` that has a file. */
function packageOf(path: string): string | undefined {
  const at = path.lastIndexOf(`${sep}node_modules${sep}`);
  if (at === -1) return undefined;
  const [scope, name] = path.slice(at).split(sep).slice(2);
  return join(path.slice(0, at), 'node_modules', scope!, ...(scope!.startsWith('@') ? [name!] : []));
}

/** The package and all that it may import, found as Node finds packages. */
function withDependencies(own: string): string[] {
  const all = new Set<string>([own]);
  for (const folder of all) {
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    );
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const place = dependencyOf(folder, name);
      if (place !== undefined) all.add(place);
    }
  }
  // What lies in a package that is there need not be named.
  const folders = [...all];
  return folders.filter((folder) => !folders.some((other) => folder.startsWith(other + sep)));
}

function dependencyOf(folder: string, name: string): string | undefined {
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    const place = join(at, 'node_modules', name);
    if (existsSync(join(place, 'package.json'))) return place;
  }
  return undefined;
}
