/**
 * The blocks of code of every page of the site and of the templates' AGENTS.md: TypeScript compiles, command lines name commands, flags, plugins and scripts that
 * exist, and JSON parses.
 *
 * In `docs`, the blocks of a page are one program, from top to bottom; elsewhere each block is a program. A block that begins with a
 * comment like `// guess-v1.ts` is that file. `tsc -p workshop/agents` compiles the blocks whose packages are locked there.
 * `<!-- given: … -->` before a block has declarations of what the block does not define.
 */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { validate, wireSchemas } from '@toolenv/core/schemas';
import { expect, onTestFinished, test, vi } from 'vitest';
import { helpOf } from '../../packages/cli/test/help-of.ts';
import { entryPoints } from '../../site/entry-points.ts';
import { repository, writtenPages } from '../../site/pages.ts';
import { typeErrors } from '../test/type-errors.ts';

interface Block {
  page: string;
  language: string;
  code: string;
  /** What the comment before the block declares. */
  given: string;
  /** Whether its packages are not installed here. */
  isElsewhere: boolean;
}

const blocks: Block[] = [];
const forAgents = readdirSync(join(repository, 'templates')).map((name) => `templates/${name}/AGENTS.md`);
for (const page of [...writtenPages(), ...forAgents]) {
  const text = await readFile(join(repository, page), 'utf8');
  const fence =
    /(^<!-- not run: workshop\/(?:agents compiles|interop runs) it -->\n+)?(?:^<!-- given: (.+) -->\n+)?^(`{3,})(\w*)\n([\s\S]*?)^\3$/gm;
  for (const [, elsewhere, given = '', , language, code] of text.matchAll(fence))
    blocks.push({ page, language: language!, code: code!, given, isElsewhere: elsewhere !== undefined });
}

function inLanguage(language: string): Block[] {
  return blocks.filter((block) => block.language === language);
}

test('every block has a language that is checked, or is output, Markdown or Python', () => {
  const checked = ['ts', 'sh', 'json'];
  const others = ['text', 'md', 'python'];
  expect(blocks.filter(({ language }) => ![...checked, ...others].includes(language))).toEqual([]);
  expect(inLanguage('ts').length).toBeGreaterThan(60);
  expect(inLanguage('sh').length).toBeGreaterThan(80);
});

test('every block of TypeScript compiles', async () => {
  const folder = await mkdtemp(join(repository, 'workshop/test/blocks-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const programs = new Map<string, string>();
  for (const [index, { page, code, given, isElsewhere }] of inLanguage('ts').entries()) {
    if (isElsewhere) continue;
    const at = join(folder, dirname(page), basename(page, '.md'));
    const file = /^\/\/ ([\w./-]+\.ts)\n/.exec(code)?.[1];
    const name = join(at, file ?? (page.startsWith('docs/') ? 'program.ts' : `block-${index}.ts`));
    programs.set(name, `${programs.get(name) ?? 'export {};\n'}${given}\n${code}`);
  }
  for (const [name, program] of programs) {
    await mkdir(dirname(name), { recursive: true });
    await writeFile(name, program);
  }
  expect(await typeErrors(folder, { noUnusedLocals: false })).toBe('');
});

/** The command lines of a block, as words. Quotes and substitutions stay one word. */
function commandLines({ code }: Block): string[][] {
  const text = code.replaceAll(/\\\n\s*/g, ' ').replaceAll(/(^|\s)#.*$/gm, '');
  return text
    .split(/\n|&&|;| \| | &$/m)
    .map((line) =>
      [...line.matchAll(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\$\([^)]*\)|[^\s'"])+/g)].map(([word]) => word!),
    )
    .map((words) => words.filter((word, at) => at > 0 || !/^\w+=/.test(word)))
    .map((words) => words.slice(0, words.findIndex((word) => /^[<>&|]/.test(word)) >>> 0))
    .filter((words) => words.length > 0);
}

const lines = inLanguage('sh').flatMap((block) =>
  commandLines(block).map((words) => ({ page: block.page, words })),
);

test('command lines of toolenv name commands, flags and plugins that exist', async () => {
  const plugins = entryPoints().map(({ name }) => name);
  const faults: string[] = [];
  /** Words → their help. Pages repeat each other's lines. */
  const helps = new Map<string, string>();
  let checked = 0;
  for (const { page, words } of lines) {
    const at = words.indexOf('toolenv');
    const isNpx = words[0] === 'npx' || words.slice(0, 3).join(' ') === 'npm run toolenv';
    if (at < 0 || (!isNpx && at > 0)) continue;
    const argv = words.slice(at + 1).map((word) => word.replace(/^(['"])(.*)\1$/, '$2'));
    if (argv[0] === '--') argv.shift();
    // Their packages are installed in a folder of their own.
    if (argv.some((word) => word.startsWith('./examples/agents/'))) continue;
    const line = `${page}: ${words.join(' ')}`;
    // A flag whose value is a variable of the shell, which has no value here.
    const isVariable = /^\$\w+$/;
    const known = argv.filter(
      (word, place) => !isVariable.test(word) && !isVariable.test(argv[place + 1] ?? ''),
    );
    const help = helps.get(known.join(' ')) ?? (await helpOf(...known).catch(({ message }) => message));
    helps.set(known.join(' '), help);
    vi.restoreAllMocks();
    if (!help.startsWith(`Usage: toolenv ${argv[0]}`)) faults.push(`${line}: ${help.split('\n')[0]}`);
    // The environment of a file has flags of its own. Other tests of this project run these lines.
    const isOfFile = argv.some((word) => word.endsWith('.ts'));
    for (const [flag] of (isOfFile ? [] : argv).join(' ').matchAll(/(?<=^| )--[a-z][\w-]*(?=$| |=)/g))
      if (!new RegExp(`${flag}\\b(?!-)`).test(help)) faults.push(`${line}: no flag ${flag}`);
    for (const [name] of argv.join(' ').matchAll(/(?<!node_modules\/)@toolenv\/[\w-]+\/[\w-]+/g))
      if (!plugins.includes(name)) faults.push(`${line}: no plugin ${name}`);
    checked += 1;
  }
  expect(faults).toEqual([]);
  expect(checked).toBeGreaterThan(70);
});

test('command lines of npm name scripts and templates that exist', async () => {
  const manifests = ['package.json', 'templates/env/package.json'].map(
    async (file) =>
      JSON.parse(await readFile(join(repository, file), 'utf8')).scripts as Record<string, string>,
  );
  const scripts = (await Promise.all(manifests)).flatMap((all) => Object.keys(all));
  const faults = lines.filter(({ words: [program, command, name, ...rest] }) => {
    if (program !== 'npm') return false;
    if (command === 'run') return !scripts.includes(name!);
    if (command !== 'create')
      return !['ci', 'init', 'install', 'pack', 'pkg', 'test', 'trust'].includes(command!);
    return (
      name !== 'toolenv' || !existsSync(join(repository, 'templates', rest[rest.indexOf('--template') + 1]!))
    );
  });
  expect(faults).toEqual([]);
  expect(lines.filter(({ words }) => words[0] === 'npm' && words[1] === 'run').length).toBeGreaterThan(5);
});

test('JSON parses, and manifests in it are valid', () => {
  const documents = inLanguage('json').map(({ code }) => JSON.parse(code));
  const manifests = documents.filter((json) => json.toolenv !== undefined);
  expect(manifests.length).toBeGreaterThan(0);
  for (const { toolenv } of manifests) expect(validate(wireSchemas.manifest, toolenv)).toEqual([]);
});
