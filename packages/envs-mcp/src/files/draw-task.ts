/** Tasks in a folder: move files, add up a column, replace a name, list files. */

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  createRng,
  type EpisodeContext,
  type Rng,
  type Split,
  type Tool,
  type ToolResult,
} from '@toolenv/core';
import { withDiskErrors } from '@toolenv/core/files';

export interface FilesTask {
  prompt: string;
  files: Files;
  /** The files at the end. */
  gold: Files;
}

/** No two splits have a word in common. */
const topics: Record<Split, readonly string[]> = {
  train: 'attic boat choir dentist garden harvest insurance kitchen market orchard'.split(' '),
  validation: 'piano quilt roof school taxes village'.split(' '),
  test: 'bakery chess festival library museum railway theatre workshop'.split(' '),
};
const people = ['Ada', 'Ben', 'Cleo', 'Dan', 'Eva', 'Finn'];

export function drawTask(seed: number, split: Split, index: number): FilesTask {
  const rng = createRng(seed, 'files', split, index);
  const draw = rng.pick([moveByYear, addUp, replaceName, listNotes]);
  return draw(rng, rng.shuffle(topics[split]));
}

function moveByYear(rng: Rng, [first = '', ...others]: readonly string[]): FilesTask {
  const year = 2020 + rng.int(5);
  const files: Files = { [`${year}-${first}.txt`]: note(rng, first) };
  for (const topic of others) {
    const name = `${year + rng.int(2)}-${topic}.${rng.pick(['txt', 'txt', 'csv'])}`;
    files[name] = note(rng, topic);
  }
  const isMoved = (name: string) => name.startsWith(`${year}-`) && name.endsWith('.txt');
  const moved = Object.entries(files).map(([name, content]) => [
    isMoved(name) ? `archive/${name}` : name,
    content,
  ]);
  const prompt = `Move all .txt files of ${year} into a new folder named archive.`;
  return { prompt, files, gold: Object.fromEntries(moved) };
}

function addUp(rng: Rng, [first = '', second = '']: readonly string[]): FilesTask {
  const amounts = Array.from({ length: 4 + rng.int(5) }, () => 10 + rng.int(90));
  const table = (values: readonly number[]) =>
    ['person,euros', ...values.map((value) => `${rng.pick(people)},${value}`)].join('\n');
  const files = { [`${first}.csv`]: table(amounts), [`${second}.csv`]: table(rng.shuffle(amounts).slice(1)) };
  const total = amounts.reduce((sum, amount) => sum + amount, 0);
  const prompt = `Write the sum of all euros in ${first}.csv into a new file total.txt, the number alone.`;
  return { prompt, files, gold: { ...files, 'total.txt': String(total) } };
}

function replaceName(rng: Rng, words: readonly string[]): FilesTask {
  const [from = '', to = '', ...others] = rng.shuffle(people);
  const notes = words.slice(0, 3 + rng.int(2)).map((topic, index): [string, string] => {
    // The name is in the first note, and in some of the others.
    const persons = [index === 0 ? from : rng.pick([from, ...others]), rng.pick(others)];
    return [`notes/${topic}.md`, persons.map((person) => `${person} looks after the ${topic}.`).join('\n')];
  });
  const gold = notes.map(([path, content]) => [path, content.replaceAll(from, to)]);
  const prompt = `In all files of the folder notes, replace the name ${from} by ${to}.`;
  return { prompt, files: Object.fromEntries(notes), gold: Object.fromEntries(gold) };
}

function listNotes(rng: Rng, words: readonly string[]): FilesTask {
  const notes = words
    .slice(0, 5)
    .map((topic) => [`notes/${topic}.${rng.pick(['md', 'md', 'txt'])}`, note(rng, topic)]);
  const [one = '', other = ''] = words.slice(-2);
  const files: Files = {
    ...Object.fromEntries(notes),
    [`notes/${one}.md`]: note(rng, one),
    [`${other}.md`]: note(rng, other),
  };
  const names = Object.keys(files).flatMap((path) => /^notes\/(.*\.md)$/.exec(path)?.[1] ?? []);
  const prompt =
    'Write the names of all .md files in the folder notes into index.txt: sorted, one in each line.';
  return { prompt, files, gold: { ...files, 'index.txt': names.sort().join('\n') } };
}

function note(rng: Rng, topic: string): string {
  return `${rng.pick(people)} looks after the ${topic}, ${rng.pick(people)} pays ${10 + rng.int(90)} euros.`;
}

/** Contents by path, relative to the folder and with `/`. */
type Files = Record<string, string>;

export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    await withDiskErrors(file, async () => {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    });
  }
}

interface Entry {
  name: string;
  children?: Entry[];
}

/** All files, without the white space at their ends; `undefined` if the server cannot read one of them. Empty folders do not count. */
export async function readFiles(call: EpisodeContext['call']): Promise<Files | undefined> {
  const tree = await call('directory_tree', { path: '.' });
  if (tree.result?.isError) return undefined;
  const files: Files = {};
  for (const path of pathsOf(JSON.parse(tree.text) as Entry[])) {
    const { result, text } = await call('read_text_file', { path });
    if (result?.isError) return undefined;
    files[path] = text.trimEnd();
  }
  return files;
}

function pathsOf(entries: readonly Entry[], parent = ''): string[] {
  return entries.flatMap(({ name, children }) =>
    children ? pathsOf(children, `${parent}${name}/`) : [`${parent}${name}`],
  );
}

/** The tool with results in which every path is relative to the episode's folder, so that episodes are alike wherever the folder is. */
export function hideFolder(tool: Tool, folder: string): Tool {
  const [written, parent] = [folder, dirname(folder)].map((path) => JSON.stringify(path).slice(1, -1));
  return {
    ...tool,
    async execute(args, context) {
      const result = JSON.stringify(await tool.execute(args, context))
        .replaceAll(`${written}/`, '')
        .replaceAll(written!, '.')
        .replaceAll(parent!, '..')
        // The server writes a file of a random name first, which its errors mention.
        .replaceAll(/\.[0-9a-f]{32}\.tmp/g, '.tmp');
      return JSON.parse(result) as ToolResult;
    },
  };
}
