/** The tarballs of the packages, as npm would publish them, and what is checked of each. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from './attempt.ts';
import type { Packed } from './registry.ts';
import type { Sandbox } from './sandbox.ts';

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

export async function checkPackage({ file, json }: Packed, { run, folder }: Sandbox): Promise<void> {
  await attempt(`${json.name}: publint`, () => run('node_modules/.bin/publint', [file, '--strict'], root));
  await attempt(`${json.name}: are the types wrong`, () =>
    run('node_modules/.bin/attw', [file, '--profile', 'esm-only', '--format', 'ascii'], root),
  );
  await attempt(`${json.name}: the links of its README`, async () => {
    const files = (await run('tar', ['-tf', file], folder)).trim().split('\n');
    const readme = await run('tar', ['-xOf', file, 'package/README.md'], folder);
    const broken = linksOf(readme).filter((link) => !leadsTo(link, files));
    if (broken.length > 0) throw new Error(`not in the tarball: ${broken.join(', ')}`);
  });
}

/** The relative links of a Markdown document, without those to its own headings. */
function linksOf(document: string): string[] {
  const prose = document.replaceAll(/^(```|~~~).*\n[\s\S]*?^\1$/gm, '').replaceAll(/`[^`\n]*`/g, '');
  const link = /\]\(\s*<?([^)\s>]+)|^ *\[[^\]]+\]:\s*<?([^\s>]+)|\b(?:href|src)="([^"]+)"/gm;
  return [...prose.matchAll(link)]
    .map(([, inline, reference, attribute]) => (inline ?? reference ?? attribute)!)
    .filter((target) => !/^([a-z][a-z0-9+.-]*:|#)/i.test(target));
}

/** Whether a relative link of the README is a file or folder of the tarball. */
function leadsTo(link: string, files: readonly string[]): boolean {
  const { pathname } = new URL(link, 'file:///package/README.md');
  const path = decodeURIComponent(pathname).slice(1).replace(/\/$/, '');
  return files.some((file) => file === path || file.startsWith(`${path}/`));
}

/** A program that imports every entry of every package compiles under the strictest settings that a user may have, and runs. */
export async function checkEntries(packages: readonly Packed[], sandbox: Sandbox): Promise<void> {
  const folder = join(sandbox.folder, 'consumer');
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
  const installed = await attempt('npm install of all packages', () =>
    sandbox.run('npm', ['install', ...names, 'typescript@7.0.2', '@types/node@20.19.43'], folder),
  );
  if (!installed) return;
  await attempt(`the types of ${entries.length} entries, skipLibCheck off`, () =>
    sandbox.run('npx', ['tsc'], folder),
  );
  await attempt(`${entries.length} entries load`, () => sandbox.run('node', ['consumer.js'], folder));
}
