/** `files-v1`: put the files of a folder in order with the MCP filesystem server. Each server has a folder, which is emptied after each episode. */
import { dirname } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { Split, ToolCall } from '@toolenv/core';
import { defineMcpEnv } from '@toolenv/mcp';
import { drawTask, type FilesTask, hideFolder, readFiles, writeFiles } from './files/draw-task.ts';

const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'));

export default defineMcpEnv({
  name: 'files-v1',
  description: 'Put the files of a folder in order; the final folder decides.',
  options: {
    properties: {
      tasks: { type: 'integer', minimum: 1, default: 1000, description: 'number of training tasks' },
    },
  },
  limits: { maxTurns: 10 },
  tasks({ options: { tasks }, seed }) {
    const draw = (split: Split, length: number) => ({
      length,
      get: (index: number) => drawTask(seed, split, index),
    });
    return { train: draw('train', tasks), validation: draw('validation', 100), test: draw('test', 200) };
  },
  server: ({ folder }) => ({ command: process.execPath, args: [program, folder] }),
  // The folder is all that this server remembers.
  reset: ({ emptyFolder }) => emptyFolder(),
  // Without the tools that tell times, which differ in each episode, and without what other tools do as well.
  only: [
    'read_text_file',
    'write_file',
    'edit_file',
    'create_directory',
    'list_directory',
    'directory_tree',
    'move_file',
    'search_files',
  ],
  rewards: {
    /** The final folder has the files that it should have, and no others. White space at the end of a file does not count. */
    folder: {
      kind: 'outcome',
      score: async ({ task, call }) => Number(isDeepStrictEqual(await readFiles(call), task.gold)),
    },
  },
  async episode({ task, folder, tools }) {
    await writeFiles(folder, task.files);
    const messages = `You work in a folder of files. Its path is ".", and all paths are relative to it. ${task.prompt}`;
    return { messages, tools: tools.map((tool) => hideFolder(tool, folder)) };
  },
  oracle: (task) => [...goldCalls(task).map((call) => [call]), 'Done.'],
  /** What a file of the final folder holds: no text tells it before a file is read. */
  label: ({ files, gold }) => Object.entries(gold).find(([path, text]) => files[path] !== text)?.[1],
});

/** The calls that turn the files into the gold files: new folders, then moved files, then written files. */
function goldCalls({ files, gold }: FilesTask): Omit<ToolCall, 'id'>[] {
  const gone = Object.keys(files).filter((path) => !(path in gold));
  const changed = Object.entries(gold).filter(([path, content]) => files[path] !== content);
  const known = new Set(['.', ...Object.keys(files).map((path) => dirname(path))]);
  const folders = new Set(changed.map(([path]) => dirname(path)).filter((folder) => !known.has(folder)));
  return [
    ...[...folders].map((path) => ({ name: 'create_directory', arguments: { path } })),
    ...changed.map(([path, content]) => {
      const source = gone.find((moved) => files[moved] === content);
      if (source === undefined) return { name: 'write_file', arguments: { path, content } };
      return { name: 'move_file', arguments: { source, destination: path } };
    }),
  ];
}
