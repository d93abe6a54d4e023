/**
 * `npm run packed`: uses the packages as a stranger would, in a folder outside the repository.
 *
 * Packs every package and checks the tarballs. Follows the walk-throughs of the guides. Checks the examples. For each template: npm create, the ways to install, its tests, its checks, train.
 */
import { execFileSync } from 'node:child_process';
import { attempt, finish } from './attempt.ts';
import { checkExamples } from './examples.ts';
import { checkComplete, checkEntries, checkPackage, packAll } from './packages.ts';
import { followPages } from './pages.ts';
import { type Packed, serveRegistry } from './registry.ts';
import { openSandbox } from './sandbox.ts';
import { templates, useTemplate } from './templates.ts';

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
  for (const each of packages) await checkPackage(each, sandbox);
  // The registry that the user has configured. The sandbox ignores the configuration.
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], {
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();
  const registry = await serveRegistry(packages, upstream);
  sandbox.useRegistry(registry.url);
  try {
    await checkEntries(packages, sandbox);
    await followPages(sandbox);
    await checkExamples(sandbox);
    for (const each of templates) await useTemplate(each, sandbox);
  } finally {
    registry.close();
  }
}
