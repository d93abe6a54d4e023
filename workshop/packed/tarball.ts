/** What is checked of a tarball: its types, what npm's page shows of it, its licence and those of what is bundled in it. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { publicFields } from '../../site/addresses.ts';
import { attempt } from './attempt.ts';
import type { Packed } from './registry.ts';
import type { Sandbox } from './sandbox.ts';

const root = join(import.meta.dirname, '../..');

export async function checkTarball({ file, json }: Packed, { run, folder }: Sandbox): Promise<void> {
  const files = (await run('tar', ['-tf', file], folder)).trim().split('\n');
  const read = (name: string) => run('tar', ['-xOf', file, `package/${name}`], folder);
  const check = (what: string, step: () => Promise<unknown>) => attempt(`${json.name}: ${what}`, step);

  const tarball = new Uint8Array(await readFile(file));
  await check('publint', async () => {
    const { messages, pkg } = await publint({ level: 'warning', pack: { tarball: tarball.buffer } });
    if (messages.length > 0) throw new Error(messages.map((each) => formatMessage(each, pkg)).join('\n'));
  });
  await check('are the types wrong', async () => {
    const analysis = await checkPackage(createPackageFromTarballData(tarball));
    const problems = analysis.types ? analysis.problems.filter((each) => !isOfOtherModules(each)) : [];
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
  });
  await check('the addresses in its package.json', async () => {
    const { homepage, repository, bugs } = json;
    const found = { homepage, repository, bugs };
    if (!isDeepStrictEqual(found, publicFields(basename(repository?.directory ?? ''))))
      throw new Error(JSON.stringify(found));
  });
  await check('the links of its README', async () => {
    const relative = linksOf(await read('README.md'));
    if (relative.length > 0) throw new Error(`npm's page cannot follow ${relative.join(', ')}`);
  });
  await check('its licence and changelog', async () => {
    if ((await read('LICENSE')) !== (await readFile(join(root, 'LICENSE'), 'utf8')))
      throw new Error('LICENSE is not that of the repository');
    // Changesets writes it with the first release.
    if (json.version !== '0.0.0' && !(await read('CHANGELOG.md')).includes(`## ${json.version}\n`))
      throw new Error(`CHANGELOG.md does not have ${json.version}`);
  });
  // Vite writes what it bundles to `assets`.
  const bundles = [...new Set(files.map((name) => /^package\/(.+)\/assets\/[^/]+\.js$/.exec(name)?.[1]))];
  for (const bundle of bundles.filter((name) => name !== undefined))
    await check(`the licences of what ${bundle} bundles`, async () =>
      checkNotices(await read(`${bundle}/third-party-licenses.md`), bundledBy(json)),
    );
}

/** Whether only CommonJS, or TypeScript's oldest resolution, has the problem. */
function isOfOtherModules(problem: Problem): boolean {
  return 'resolutionKind' in problem && ['node10', 'node16-cjs'].includes(problem.resolutionKind);
}

/** The relative links of a Markdown document, without those to its own headings. */
function linksOf(document: string): string[] {
  const prose = document.replaceAll(/^(```|~~~).*\n[\s\S]*?^\1$/gm, '').replaceAll(/`[^`\n]*`/g, '');
  const link = /\]\(\s*<?([^)\s>]+)|^ *\[[^\]]+\]:\s*<?([^\s>]+)|\b(?:href|src)="([^"]+)"/gm;
  return [...prose.matchAll(link)]
    .map(([, inline, reference, attribute]) => (inline ?? reference ?? attribute)!)
    .filter((target) => !/^([a-z][a-z0-9+.-]*:|#)/i.test(target));
}

/** What a package needs to be built, besides the bundler and types, is bundled. */
function bundledBy({ devDependencies = {} }: Packed['json']): string[] {
  return Object.keys(devDependencies).filter((name) => name !== 'vite' && !name.startsWith('@types/'));
}

/** Fails if a bundled package has no section with the text of its licence. */
function checkNotices(notices: string, packages: readonly string[]): void {
  const sections = notices.split(/^## /m).slice(1);
  const missing = packages.filter(
    (name) => !sections.some((text) => text.startsWith(`${name} - `) && /copyright/i.test(text)),
  );
  if (missing.length > 0) throw new Error(`${missing.join(', ')} has no notice in\n${notices}`);
}
