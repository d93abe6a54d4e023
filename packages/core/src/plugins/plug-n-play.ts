/** The packages of Yarn's Plug'n'Play, which keeps archives and a table of who may import what in place of node_modules. */
import Module from 'node:module';

/** What is used of Plug'n'Play's API (https://yarnpkg.com/advanced/pnpapi). */
interface PnpApi {
  findPackageLocator(path: string): Locator | null;
  getLocator(name: string, reference: string | [string, string]): Locator;
  getPackageInformation(locator: Locator): {
    packageLocation: string;
    packageDependencies: ReadonlyMap<string, string | [string, string] | null>;
  } | null;
}
type Locator = { readonly name: string | null };

/**
 * Name → folder of the packages that files in a folder can import. `undefined` if Plug'n'Play does not look after the folder.
 * A folder may be virtual: its package, and the peers that this one dependent has given to it. Its real path has no peers.
 */
export function plugAndPlayPackages(folder: string): Map<string, string> | undefined {
  if (!process.versions.pnp) return undefined;
  const { findPnpApi } = Module as unknown as { findPnpApi(path: string): PnpApi | null };
  const api = findPnpApi(`${folder}/`);
  const owner = api?.findPackageLocator(`${folder}/`);
  const owned = owner && api?.getPackageInformation(owner);
  if (!api || !owned) return undefined;
  const packages = new Map<string, string>();
  for (const [name, reference] of owned.packageDependencies) {
    const found = reference && api.getPackageInformation(api.getLocator(name, reference));
    if (found) packages.set(name, found.packageLocation);
  }
  return packages;
}
