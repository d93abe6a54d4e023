/** `terminal-v1`: work on files in a shell. The files at the end decide. */
import {
  createRng,
  defineTool,
  defineToolEnv,
  type Sandbox,
  type Tool,
  ToolEnvError,
  text,
} from '@toolenv/core';
import { EpisodeSandboxes } from '@toolenv/tools-code';
import { generatedTasks } from '../generated-tasks.ts';
import { drawTask } from './folder-tasks.ts';
import type { TerminalTask } from './table-tasks.ts';

const instruction =
  'You work in a folder of files, the working folder of the shell. Do the task by commands. Leave no other files in the folder. Then answer with a word.';

export default defineToolEnv({
  name: 'terminal-v1',
  description: 'Work on files in a shell; the files at the end decide.',
  options: {
    properties: {
      tasks: { type: 'integer', minimum: 1, default: 10_000, description: 'number of training tasks' },
      sandbox: {
        type: 'string',
        minLength: 1,
        default: '@toolenv/sandbox/virtual-v1',
        description: 'reference of the sandbox in which the commands run',
      },
    },
  },
  prompts: { system: instruction },
  limits: { maxTurns: 10, maxCallsPerTurn: 1, toolTimeout: 60_000, maxToolCharacters: 4096 },
  roles: { shell: '@toolenv/tools-code/bash-v1' },
  async setup({ options, tools, tap }) {
    const begun = new Map<string, TerminalTask>();
    const sandboxes = new EpisodeSandboxes(options.sandbox, {
      from: [process.cwd(), import.meta.dirname],
      async prepare(sandbox, episodeId) {
        for (const [path, content] of Object.entries(begun.get(episodeId)!.files))
          await sandbox.write(`/work/${path}`, content);
      },
    });
    const read = async () => finalFiles(sandboxes) as Tool;
    const state = tap ? await tap.tool('files', read) : await read();
    return { begun, sandboxes, state, shell: await tools.shell!({ sandboxes }) };
  },
  async teardown({ sandboxes, shell }) {
    await shell.close?.();
    await sandboxes.close();
  },
  tasks: ({ options: { tasks }, seed }) =>
    generatedTasks(tasks, (split, index) => drawTask(createRng(seed, 'terminal', split, index), split)),
  rewards: {
    /** The folder has the files that it should have, and no others. White space at the end of a file does not count. */
    files: { kind: 'outcome' },
    /** The files that should not change are as they were. */
    kept: { kind: 'outcome', weight: 0 },
  },
  episode({ prompt, task, episodeId, shared: { begun, sandboxes, shell, state } }) {
    begun.set(episodeId, task);
    return {
      messages: [
        { role: 'system', content: prompt('system') },
        { role: 'user', content: task.prompt },
      ],
      tools: [shell],
      async onAnswer(_, { call, calls }) {
        // Without a command, there is no sandbox yet, and nothing has changed.
        const files: Files = calls.length > 0 ? (JSON.parse((await call(state)).text) ?? {}) : task.files;
        const isRight = (path: string) => files[path]?.trimEnd() === task.gold[path]!.trimEnd();
        const paths = Object.keys(task.gold);
        const same = paths.filter((path) => task.gold[path] === task.files[path]);
        const all = paths.every(isRight) && Object.keys(files).length === paths.length;
        return { rewards: { files: Number(all), kept: Number(same.every(isRight)) }, end: 'answered' };
      },
      async close() {
        await sandboxes.release(episodeId);
        begun.delete(episodeId);
      },
    };
  },
  oracle: ({ commands }) => [
    ...commands.map((command) => [{ name: 'bash', arguments: { command } }]),
    'Done.',
  ],
  /** What a file holds at the end: no text tells it before a command has run. */
  label: ({ files, gold }) => Object.entries(gold).find(([path, text]) => files[path] !== text)?.[1],
});

/** Paths with their texts; `null` for what is not a file of text. */
type Files = Record<string, string | null>;

/** What a model may leave: more is not read. */
const most = { entries: 500, depth: 8, bytes: 2 ** 18 };

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Reads the files of an episode when it ends. The model neither sees nor reaches the tool. Its result is the `Files` as JSON, or `null` if there are too many. */
function finalFiles(sandboxes: EpisodeSandboxes): Tool<Record<never, never>> {
  return defineTool({
    name: 'final_files',
    description: 'Reads all files.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    async execute(_, { episodeId }) {
      const files = await readAll(await sandboxes.of(episodeId));
      return text(JSON.stringify(files ?? null));
    },
  });
}

async function readAll(sandbox: Sandbox): Promise<Files | undefined> {
  const files: Files = Object.create(null);
  const folders = [{ path: '', depth: 0 }];
  const left = { ...most };
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    const entries = await orUndefined(sandbox.list(folder.path === '' ? '/work' : `/work/${folder.path}`));
    // Removed, or made unreadable: its files are not there.
    if (!entries) continue;
    left.entries -= entries.length;
    if (left.entries < 0) return undefined;
    for (const { name, type, size } of entries) {
      const path = folder.path === '' ? name : `${folder.path}/${name}`;
      if (type === 'folder') {
        if (folder.depth >= most.depth) return undefined;
        folders.push({ path, depth: folder.depth + 1 });
      } else if (type === 'file') {
        left.bytes -= size;
        if (left.bytes < 0) return undefined;
        files[path] = (await orUndefined(readText(sandbox, path))) ?? null;
      } else files[path] = null;
    }
  }
  return files;
}

async function readText(sandbox: Sandbox, path: string): Promise<string | undefined> {
  const bytes = await sandbox.read(`/work/${path}`);
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** `undefined` for what the model has made unreadable. @throws What a failing sandbox throws. */
async function orUndefined<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (ToolEnvError.isInstance(error) && error.code === 'usage.sandbox_file') return undefined;
    throw error;
  }
}
