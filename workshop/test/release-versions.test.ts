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

test('all packages have one version', () => {
  expect(new Set(manifests.map(({ version }) => version)).size).toBe(1);
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
