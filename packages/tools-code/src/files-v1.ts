/** The plugin `files-v1`: reads, writes, edits and searches files in the sandbox of the episode. */
import {
  defineTool,
  defineToolPlugin,
  failure,
  refuse,
  type Sandbox,
  type Tool,
  ToolEnvError,
  type ToolPlugin,
  type ToolResult,
  text,
} from '@toolenv/core';
import { type CodeMaterial, sandboxesOf, sandboxOption } from './episode-sandboxes.ts';

/** What the model asks for. */
export interface FileRequest {
  action: 'read' | 'write' | 'edit' | 'search';
  path: string;
  /** `write`: the whole content. `edit`: what replaces `old`. */
  content?: string;
  /** `edit`: text that is in the file once. */
  old?: string;
  /** `search`: text to find in the lines of the files at and below `path`. */
  pattern?: string;
}

/** Lines that a search shows. */
const maxLines = 100;

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Makes the tool. A path that does not exist is a result; a failing sandbox aborts the episode. */
export async function createFiles(
  material: CodeMaterial,
  options: { sandbox?: string } = {},
): Promise<Tool<FileRequest>> {
  const { sandboxes, release, close } = sandboxesOf(material, options);
  const tool = defineTool<FileRequest>({
    name: 'files',
    description:
      'Work on a text file: read it, write it whole, edit it (replace the text old, which must be in it once, by content), or search for a pattern in the files at and below a path.',
    inputSchema: {
      type: 'object',
      properties: {
        action: { enum: ['read', 'write', 'edit', 'search'] },
        path: { type: 'string', minLength: 1, description: 'path, from the folder /work if it is relative' },
        content: { type: 'string', description: 'write: the content; edit: what replaces old' },
        old: { type: 'string', minLength: 1, description: 'edit: the text to replace' },
        pattern: { type: 'string', minLength: 1, description: 'search: the text to find' },
      },
      required: ['action', 'path'],
      additionalProperties: false,
    },
    async execute(request, { episodeId, signal }) {
      const lacking = needs[request.action].find((name) => request[name] === undefined);
      if (lacking)
        return refuse({
          path: `/${lacking}`,
          expected: `a text, for ${request.action}`,
          received: 'nothing',
        });
      const sandbox = await sandboxes.of(episodeId);
      try {
        return await actions[request.action](sandbox, request, signal);
      } catch (error) {
        if (ToolEnvError.isInstance(error) && error.code === 'usage.sandbox_file')
          return failure(error.message);
        throw error;
      }
    },
  });
  return { ...tool, ...(release && { release }), ...(close && { close }) } as Tool<FileRequest>;
}

const needs: Readonly<Record<FileRequest['action'], readonly ('content' | 'old' | 'pattern')[]>> = {
  read: [],
  write: ['content'],
  edit: ['old', 'content'],
  search: ['pattern'],
};

type Act = (sandbox: Sandbox, request: FileRequest, signal: AbortSignal) => Promise<ToolResult>;

const actions: Readonly<Record<FileRequest['action'], Act>> = {
  async read(sandbox, { path }) {
    return text(await readText(sandbox, path));
  },
  async write(sandbox, { path, content = '' }) {
    await sandbox.write(path, content);
    return text(`${path}: written.`);
  },
  async edit(sandbox, { path, old = '', content = '' }) {
    const before = await readText(sandbox, path);
    const at = before.indexOf(old);
    if (at < 0)
      return failure(`${path}: the text "old" is not in it: read the file, and copy the text exactly.`);
    if (before.indexOf(old, at + 1) >= 0)
      return failure(`${path}: the text "old" is in it more than once: give more of the lines around it.`);
    await sandbox.write(path, before.slice(0, at) + content + before.slice(at + old.length));
    return text(`${path}: edited.`);
  },
  async search(sandbox, { path, pattern = '' }, signal) {
    const env = { SEARCHED: pattern, SEARCHED_PATH: path };
    const command = `cd /work && grep -rnF -e "$SEARCHED" -- "$SEARCHED_PATH" | head -n ${maxLines + 1} | cut -c 1-500`;
    // In a shell of its own, which leaves the folder and the variables of the model's.
    const { stdout, stderr } = await sandbox.run(`( ${command} ); unset SEARCHED SEARCHED_PATH`, {
      env,
      signal,
    });
    const lines = stdout.split('\n').filter((line) => line !== '');
    if (lines.length === 0) return stderr === '' ? text('No line has it.') : failure(stderr.trim());
    const more = lines.length > maxLines ? [`[more than ${maxLines} lines: search for a longer text]`] : [];
    return text([...lines.slice(0, maxLines), ...more].join('\n'));
  },
};

async function readText(sandbox: Sandbox, path: string): Promise<string> {
  const bytes = await sandbox.read(path);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ToolEnvError('usage.sandbox_file', `${path}: it is not text in UTF-8.`);
  }
}

const files: ToolPlugin<CodeMaterial> = defineToolPlugin({
  name: 'files-v1',
  description: 'Reads, writes, edits and searches files, in any sandbox. For the role files.',
  options: { type: 'object', properties: sandboxOption, additionalProperties: false },
  example: {
    material: {},
    calls: [
      { action: 'write', path: 'a.txt', content: 'one\ntwo\n' },
      { action: 'edit', path: 'a.txt', old: 'two', content: 'three' },
      { action: 'read', path: 'a.txt' },
      { action: 'search', path: '.', pattern: 'three' },
    ],
  },
  create: async (material, options) => (await createFiles(material, options)) as unknown as Tool,
});

export default files;
