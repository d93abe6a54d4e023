/** The files of an episode's folder: written before the policy begins, and read at the end through the server's own tools, whose results hide where it is. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EpisodeContext, Tool, ToolResult } from '@toolenv/core';
import { withDiskErrors } from '@toolenv/core/files';

/** Contents by path, relative to the folder and with `/`. */
export type Files = Record<string, string>;

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
