/** An environment whose model has the tools `shell` and `files`, in one sandbox. No answer is right. */
import { defineToolEnv } from '@toolenv/core';
import { EpisodeSandboxes } from '@toolenv/tools-code';

export default defineToolEnv({
  name: 'dodge-v1',
  description: 'Cannot be solved.',
  options: { properties: { sandbox: { type: 'string', minLength: 1 } } },
  limits: { maxTurns: 10, toolTimeout: 60_000 },
  roles: { shell: '@toolenv/tools-code/bash-v1', files: '@toolenv/tools-code/files-v1' },
  async setup({ options, tools }) {
    const sandboxes = new EpisodeSandboxes(String(options.sandbox), {
      from: import.meta.dirname,
      prepare: (sandbox) => sandbox.write('/work/a.txt', 'one\n'),
    });
    return { sandboxes, tools: [await tools.shell!({ sandboxes }), await tools.files!({ sandboxes })] };
  },
  async teardown({ sandboxes, tools }) {
    for (const tool of tools) await tool.close?.();
    await sandboxes.close();
  },
  tasks: { train: ['Do it.'] },
  rewards: { done: { kind: 'outcome' } },
  episode: ({ task, episodeId, shared: { sandboxes, tools } }) => ({
    messages: task,
    tools,
    onAnswer: () => ({ end: 'answered', rewards: { done: 0 } }),
    close: () => sandboxes.release(episodeId),
  }),
});
