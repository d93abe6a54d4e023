/** `terminal-v1`: work on files in a shell. The files at the end decide. */
import { createRng, defineToolEnv, type Tool } from '@toolenv/core';
import { EpisodeSandboxes } from '@toolenv/tools-code';
import { generatedTasks } from '../generated-tasks.ts';
import { drawTask } from './draw-task.ts';
import { type Files, finalFiles } from './final-files.ts';
import type { TerminalTask } from './task.ts';

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
