/**
 * `npm run packed`: uses the packages as a stranger would, in a folder outside the repository.
 *
 * Packs every package and checks the tarballs. For each template: npm create, the ways to install, its tests, its checks, train.
 * Follows the walk-throughs of the guides and a recipe. Checks the examples and compute engines. Uses Vitest 3 and 4, and Yarn. `npm run packed -- <part>` runs one part after packing.
 */
import { execFileSync } from 'node:child_process';
import { atOnce } from '../at-once.ts';
import { attempt, finish } from './attempt.ts';
import { checkEngines } from './engines.ts';
import { checkExamples } from './examples.ts';
import { checkComplete, checkEntries, packAll } from './packages.ts';
import { followPage, followRoad, walkThroughs } from './pages.ts';
import { type Packed, serveRegistry } from './registry.ts';
import { openSandbox, type Sandbox } from './sandbox.ts';
import { checkTarball } from './tarball.ts';
import { templates, useTemplate } from './templates.ts';
import { checkVitest } from './vitest.ts';
import { checkYarn } from './yarn.ts';

type Job = () => Promise<unknown>;

/** The jobs of each part. Those of `entries` run alone, because they compile and load all packages at once. */
const parts: Record<string, (packages: readonly Packed[], sandbox: Sandbox) => Job[]> = {
  tarballs: (packages, sandbox) => packages.map((each) => () => checkTarball(each, sandbox)),
  entries: (packages, sandbox) => [() => checkEntries(packages, sandbox)],
  templates: (_, sandbox) => templates.map((each) => () => useTemplate(each, sandbox)),
  pages: (_, sandbox) => walkThroughs.map((page) => () => followPage(page, sandbox)),
  road: (_, sandbox) => [() => followRoad(sandbox)],
  examples: (_, sandbox) => [() => checkExamples(sandbox)],
  engines: (_, sandbox) => [() => checkEngines(sandbox)],
  vitest: (_, sandbox) => [() => checkVitest(sandbox)],
  yarn: (_, sandbox) => [() => checkYarn(sandbox)],
};

const name = process.argv[2];
if (name !== undefined && !Object.hasOwn(parts, name)) {
  console.error(`No part "${name}": one of ${Object.keys(parts).join(', ')}.`);
  process.exit(2);
}
const chosen = name === undefined ? Object.keys(parts) : [name];

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
  const jobsOf = (...names: string[]) =>
    names.filter((each) => chosen.includes(each)).flatMap((each) => parts[each]!(packages, sandbox));
  // The registry that the user has configured. The sandbox ignores the configuration.
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], {
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();
  const registry = await serveRegistry(packages, upstream);
  sandbox.useRegistry(registry.url);
  try {
    // Most jobs wait for npm or use one core.
    await atOnce(2, jobsOf('tarballs'));
    await atOnce(2, jobsOf('entries'));
    // Two first calls at once install into the same folder, and the second call removes what the first call runs.
    await attempt('npm create toolenv: the first call', () =>
      sandbox.run('npm', ['create', '--yes', 'toolenv@latest', '--', '--version'], sandbox.folder),
    );
    await atOnce(2, jobsOf('templates', 'pages', 'road', 'examples', 'engines', 'vitest', 'yarn'));
  } finally {
    registry.close();
  }
}
