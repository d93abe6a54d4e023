/** The plugin `bash-v1`: runs commands in the sandbox of the episode. */
import { defineTool, defineToolPlugin, type Tool, type ToolPlugin } from '@toolenv/core';
import { type CodeMaterial, commandText, sandboxesOf, sandboxOption } from './episode-sandboxes.ts';

/** Makes the tool. A failing command is a result; a failing sandbox aborts the episode. */
export async function createBash(
  material: CodeMaterial,
  options: { sandbox?: string; timeout?: number } = {},
): Promise<Tool<{ command: string }>> {
  const { sandboxes, release, close } = sandboxesOf(material, options);
  const { timeout } = options;
  const tool = defineTool({
    name: 'bash',
    description:
      'Run a command in a shell. Files, the working folder and exported variables are there for the next command.',
    inputSchema: {
      type: 'object',
      properties: { command: { type: 'string', description: 'the command' } },
      required: ['command'],
      additionalProperties: false,
    },
    async execute({ command }, { episodeId, signal }) {
      const sandbox = await sandboxes.of(episodeId);
      const result = await sandbox.run(command, { signal, ...(timeout && { timeout }) });
      const { exitCode, timedOut, outOfMemory, truncated } = result;
      return {
        content: [{ type: 'text', text: commandText(result) }],
        structuredContent: { exitCode, timedOut, outOfMemory, truncated },
      };
    },
  });
  return { ...tool, ...(release && { release }), ...(close && { close }) };
}

const bash: ToolPlugin<CodeMaterial> = defineToolPlugin({
  name: 'bash-v1',
  description: 'Runs commands in a shell, in any sandbox. For the role shell.',
  options: {
    type: 'object',
    properties: {
      ...sandboxOption,
      timeout: {
        type: 'integer',
        minimum: 0,
        default: 0,
        description: "milliseconds of a command; 0: the sandbox's own limit",
      },
    },
    additionalProperties: false,
  },
  example: { material: {}, calls: [{ command: 'echo 1 > a; cat a' }, { command: 'exit 3' }] },
  create: async (material, options) => (await createBash(material, options)) as Tool,
});

export default bash;
