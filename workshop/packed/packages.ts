/** The tarballs of the packages, as npm would publish them, and a program that uses all of them. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from './attempt.ts';
import type { Packed } from './registry.ts';
import type { Sandbox } from './sandbox.ts';
import { consumer } from './seed.ts';

const root = join(import.meta.dirname, '../..');

/** Builds and packs every package. */
export async function packAll({ folder, run }: Sandbox): Promise<Packed[]> {
  const tarballs = join(folder, 'tarballs');
  await mkdir(tarballs);
  await run('npm', ['run', 'build'], root);
  await run('npm', ['pack', '--workspace', 'packages', '--pack-destination', tarballs], root);
  const files = (await readdir(tarballs)).map((name) => join(tarballs, name));
  return Promise.all(
    files.map(async (file) => ({
      file,
      json: JSON.parse(await run('tar', ['-xOf', file, 'package/package.json'], folder)),
    })),
  );
}

/** Fails if a package is missing among the tarballs. */
export async function checkComplete(packages: readonly Packed[]): Promise<void> {
  const folders = await readdir(join(root, 'packages'));
  const names = await Promise.all(
    folders.map(
      async (folder) =>
        JSON.parse(await readFile(join(root, 'packages', folder, 'package.json'), 'utf8')).name as string,
    ),
  );
  const missing = names.filter((name) => !packages.some(({ json }) => json.name === name));
  if (missing.length > 0) throw new Error(`${missing.join(', ')} was not packed`);
}

/** A program that imports every entry of every package compiles under the strictest settings that a user may have, and runs. */
export async function checkEntries(packages: readonly Packed[], sandbox: Sandbox): Promise<void> {
  const folder = join(sandbox.folder, consumer);
  await mkdir(folder);
  const entries = packages.flatMap(({ json: { name, exports = {} } }) =>
    Object.keys(exports)
      .filter((subpath) => subpath !== './package.json')
      .map((subpath) => name + subpath.slice(1)),
  );
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    skipLibCheck: false,
    types: ['node'],
  };
  const program = entries.map((entry, i) => `import * as entry${i} from '${entry}';\nvoid entry${i};\n`);
  const files = {
    'package.json': '{"type":"module","private":true}',
    // As the templates have it.
    '.npmrc': 'ignore-scripts=true\n',
    'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts'] }),
    'consumer.ts': `${program.join('')}process.exit(0);\n`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const names = packages.map(({ json }) => json.name);
  // Vitest is an optional peer of testing.
  const peers = ['typescript@7.0.2', '@types/node@20.19.43', 'vitest@4.1.12'];
  const installed = await attempt('npm install of all packages', () =>
    sandbox.run('npm', ['install', ...names, ...peers], folder),
  );
  if (!installed) return;
  await attempt(`the types of ${entries.length} entries, skipLibCheck off`, () =>
    sandbox.run('npx', ['tsc'], folder),
  );
  await attempt(`${entries.length} entries load`, () => sandbox.run('node', ['consumer.js'], folder));
}
