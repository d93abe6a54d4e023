/**
 * docs/concepts.md, the pages of docs/guides and docs/recipes, and the skill for coding agents: every block of TypeScript type-checks and runs, every command runs, and prints what the page says.
 *
 * A block that begins with a comment like `// guess-v1.ts` is that file. The other blocks of a page are one program, from top to
 * bottom. A block of text after a block is what the block prints; … stands for anything. The commands of a page run after its
 * program, in the same folder. `<!-- not run: why -->` before a block leaves it out.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { road, walkThroughs } from '../packed/pages.ts';
import { readTypeScript } from '../read-typescript.ts';
import { typeErrors } from '../test/type-errors.ts';
import { shell, shellEnv } from './shell.ts';

const root = join(import.meta.dirname, '../..');
const docs = join(root, 'docs');
const run = promisify(execFile);
/** Printed between blocks, to tell their outputs apart. */
const mark = '\u241e';

interface Block {
  language: string;
  code: string;
  /** The comment before the block that leaves it out. */
  excuse: string | undefined;
  /** What the block prints. */
  output?: string;
}

/** As `guides/train`. */
const pages: string[] = ['concepts'];
for (const kind of ['guides', 'recipes']) {
  const names = (await readdir(join(docs, kind))).filter((name) => name.endsWith('.md'));
  const all = names.map((name) => `${kind}/${basename(name, '.md')}`);
  // `npm run packed` follows the others.
  pages.push(...all.filter((page) => ![...walkThroughs, road].includes(page)));
}
/** What `toolenv skill add` installs. */
pages.push('../packages/cli/skill/toolenv/SKILL');
const texts = new Map<string, string>();
for (const page of pages) texts.set(page, await readFile(join(docs, `${page}.md`), 'utf8'));
const blocks = new Map([...texts].map(([page, text]) => [page, blocksOf(text)]));
/** A folder inside the repository, so that imports find the packages. Each page has a folder in it. */
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(import.meta.dirname, 'guides-'));
  for (const page of pages) await writePage(page);
});
afterAll(() => rm(folder, { recursive: true }));

function blocksOf(page: string): Block[] {
  const found: Block[] = [];
  for (const [, before, language, code] of page.matchAll(/(.*)\n+```(\w*)\n([\s\S]*?)```/g)) {
    if (language === 'text') found.at(-1)!.output = code!;
    else
      found.push({ language: language!, code: code!, excuse: /^<!-- not run: (.+) -->$/.exec(before!)?.[1] });
  }
  return found;
}

/** The blocks of a page that run, in a language. */
function running(page: string, language: string): Block[] {
  return blocks.get(page)!.filter((block) => block.language === language && block.excuse === undefined);
}

function fileOf({ code }: Block): string | undefined {
  return /^\/\/ ([\w./-]+\.ts)\n/.exec(code)?.[1];
}

function folderOf(page: string): string {
  return join(folder, page.replace('../', ''));
}

async function writePage(page: string): Promise<void> {
  const at = folderOf(page);
  await mkdir(at, { recursive: true });
  await symlink(join(root, 'packages/checkpoints/tiny'), join(at, 'my-checkpoint'));
  const program: string[] = [];
  for (const block of running(page, 'ts')) {
    const file = fileOf(block);
    if (file === undefined) program.push(`${block.code}console.log('${mark}');\n`);
    else await writeFile(join(at, file), block.code);
  }
  await writeFile(join(at, 'program.ts'), `export {};\n${program.join('\n')}`);
}

/** A program, or commands, in the folder of a page. */
async function output(page: string, file: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, ...shellEnv };
  try {
    return (await run(file, args, { cwd: folderOf(page), env })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`docs/${page}.md:\n${stdout}${stderr}`);
  }
}

function expectOutputs(all: readonly Block[], printed: string): void {
  const outputs = printed.split(`${mark}\n`);
  for (const [index, { code, output }] of all.entries()) {
    if (output !== undefined) expect(outputs[index]!.trim(), code).toMatch(patternOf(output.trim()));
  }
}

/** `…` stands for anything. */
function patternOf(output: string): RegExp {
  const parts = output.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[\\s\\S]*?')}$`);
}

test('every block is of a language that runs or is compared', () => {
  for (const [page, all] of blocks) {
    for (const { language } of all) expect(['ts', 'sh', 'json'], page).toContain(language);
    const fences = [...texts.get(page)!.matchAll(/^```/gm)].length;
    expect(fences, page).toBe(2 * (all.length + all.filter(({ output }) => output !== undefined).length));
  }
});

test('what the guides show of other files is there', async () => {
  const copies = {
    trainer: ['best-of-n.ts'],
    losses: ['own-loss.ts', 'own-advantage.ts', 'critic-advantage.ts'],
  };
  for (const [page, files] of Object.entries(copies)) {
    for (const file of files) {
      const shown = running(`guides/${page}`, 'ts').find((block) => fileOf(block) === file)!;
      const example = await readFile(join(root, 'examples', file), 'utf8');
      expect(example.slice(example.indexOf('import'))).toBe(shown.code.slice(shown.code.indexOf('import')));
    }
  }

  // The agents of frameworks, under the names that their packages have elsewhere.
  const agents = join(root, 'workshop/agents/guide');
  for (const file of await readdir(agents)) {
    const shown = blocks.get('guides/agents')!.find((block) => fileOf(block) === file)!;
    const agent = await readFile(join(agents, file), 'utf8');
    expect(shown.code).toBe(agent.replaceAll(/(-for-7|(?<='ai|'openai)7)'/g, "'"));
  }

  const [manifest] = running('guides/publish', 'json');
  const template = JSON.parse(await readFile(join(root, 'templates/env/package.json'), 'utf8'));
  expect(template).toMatchObject(JSON.parse(manifest!.code));
  expect([...blocks.values()].flat().filter(({ language }) => language === 'json')).toEqual([manifest]);
});

test('every block of TypeScript type-checks', async () => {
  expect(await typeErrors(folder)).toBe('');
});

test.each(pages)('%s: the program and the commands print what the page says', async (page) => {
  const program = running(page, 'ts').filter((block) => fileOf(block) === undefined);
  if (program.length > 0) {
    expectOutputs(program, await output(page, process.execPath, [...readTypeScript, 'program.ts']));
  }
  const commands = running(page, 'sh');
  if (commands.length > 0) {
    const script = commands.map(({ code }) => `${code}echo '${mark}'\n`).join('');
    expectOutputs(commands, await output(page, 'bash', ['-c', shell + script]));
  }
});
