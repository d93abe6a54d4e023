/** A minor release stays minor: no package has a peer range that the next minor version of another package leaves. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const packages = join(import.meta.dirname, '../../packages');

interface PackageJson {
  name: string;
  version: string;
  peerDependencies?: Record<string, string>;
}
const manifests = readdirSync(packages).map(
  (folder): PackageJson => JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8')),
);

test('all packages have one version, and so has the Python package', () => {
  const python = readFileSync(join(packages, 'openenv/python/pyproject.toml'), 'utf8');
  const versions = [...manifests.map(({ version }) => version), /^version = "(.*)"$/m.exec(python)?.[1]];
  expect(new Set(versions)).toEqual(new Set([manifests[0]!.version]));
});

test('peers within the repository allow every version up to the next major', () => {
  const names = new Set(manifests.map(({ name }) => name));
  // Before 1.0, "^0.1.0" does not allow 0.2.0. Changesets would raise every package to a major version for it.
  const narrow = manifests.flatMap(({ name, peerDependencies = {} }) =>
    Object.entries(peerDependencies)
      .filter(([peer, range]) => names.has(peer) && !/^>=\d+\.\d+\.\d+ <\d+\.0\.0$/.test(range))
      .map(([peer, range]) => `${name} needs ${peer} ${range}`),
  );
  expect(narrow).toEqual([]);
});
