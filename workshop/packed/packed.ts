/**
 * `npm run packed`: uses the packages as a stranger would, in a folder outside the repository.
 *
 * Packs every package and checks the tarballs. For each template: npm create, the ways to install, its tests, its checks, train.
 * Follows the walk-throughs of the guides. Checks the examples.
 */
import { execFileSync } from 'node:child_process';
import { attempt, finish } from './attempt.ts';
import { checkExamples } from './examples.ts';
import { checkComplete, checkEntries, checkPackage, packAll } from './packages.ts';
import { followPage, walkThroughs } from './pages.ts';
import { type Packed, serveRegistry } from './registry.ts';
import { openSandbox } from './sandbox.ts';
import { templates, useTemplate } from './templates.ts';
import { twoAtOnce } from './two-at-once.ts';

const sandbox = await openSandbox();
try {
  let packages: Packed[] = [];
  const packed = await attempt('npm pack of every package', async () => {
    packages = await packAll(sandbox);
    await checkComplete(packages);
  });
  if (packed) await use(packages);
} finally {
  await sandbox.remove();
}
finish();

async function use(packages: readonly Packed[]): Promise<void> {
  await twoAtOnce(packages.map((each) => () => checkPackage(each, sandbox)));
  // The registry that the user has configured. The sandbox ignores the configuration.
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], {
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();
  const registry = await serveRegistry(packages, upstream);
  sandbox.useRegistry(registry.url);
  try {
    await checkEntries(packages, sandbox);
    await twoAtOnce([
      ...templates.map((each) => () => useTemplate(each, sandbox)),
      ...walkThroughs.map((page) => () => followPage(page, sandbox)),
      () => checkExamples(sandbox),
    ]);
  } finally {
    registry.close();
  }
}
