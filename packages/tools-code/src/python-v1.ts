/** The plugin `python-v1`: runs Python, in WebAssembly or in a sandbox. */
import { defineTool, defineToolPlugin, type Tool, type ToolPlugin, type ToolResult } from '@toolenv/core';
import { type CodeMaterial, commandText, sandboxesOf } from './episode-sandboxes.ts';
import { PythonPool } from './python/python-pool.ts';
import type { PythonLimits, PythonResult } from './python/python-process.ts';

export interface PythonOptions extends PythonLimits {
  /** Interpreters that are kept ready. */
  spare: number;
  /** Reference of the sandbox whose `python3` runs the code; empty: Pyodide, in processes of its own. */
  sandbox: string;
}

const defaults: PythonOptions = { memory: 128, timeout: 10_000, output: 65_536, spare: 1, sandbox: '' };

const inputSchema = {
  type: 'object',
  properties: { code: { type: 'string', description: 'the program' } },
  required: ['code'],
  additionalProperties: false,
} as const;

/** Makes the tool. An exception of the program is a result; a failing interpreter aborts the episode. */
export async function createPython(
  material: CodeMaterial = {},
  given: Partial<PythonOptions> = {},
): Promise<Tool<{ code: string }>> {
  const options = { ...defaults, ...given };
  return options.sandbox === '' ? inWebAssembly(options) : inSandbox(material, options);
}

async function inWebAssembly({ spare, ...limits }: PythonOptions): Promise<Tool<{ code: string }>> {
  const pool = new PythonPool(limits, spare);
  await pool.fill();
  const tool = defineTool({
    name: 'python',
    description:
      'Run Python. Variables, functions and imports are there for the next call. Print what you want to see; the value of a last expression is shown too. There is the standard library, and no network.',
    inputSchema,
    async execute({ code }, { episodeId, rng, signal }) {
      const result = await pool.run(episodeId, code, () => rng.int(2 ** 31), signal);
      return toolResult(result, limits);
    },
  });
  return { ...tool, release: (episodeId) => pool.release(episodeId), close: () => pool.close() };
}

async function inSandbox(
  material: CodeMaterial,
  { sandbox, timeout, output }: PythonOptions,
): Promise<Tool<{ code: string }>> {
  const { sandboxes, release, close } = sandboxesOf(material, { sandbox });
  const tool = defineTool({
    name: 'python',
    description:
      'Run a Python program. Each call is a program of its own: files are there for the next call, variables are not. Print what you want to see.',
    inputSchema,
    async execute({ code }, { episodeId, rng, signal }) {
      const box = await sandboxes.of(episodeId);
      const env = { PYTHONHASHSEED: '0', PYTHON_SEED: String(rng.int(2 ** 31)) };
      // By its standard input: what the program before has done to the files of the sandbox does not stop this one.
      const options = { stdin: code, env, timeout, limits: { output }, signal };
      const result = await box.run(`python3 -c '${runStdin}'`, options);
      const { exitCode } = result;
      return {
        content: [{ type: 'text', text: commandText(result) }],
        structuredContent: { ok: exitCode === 0 },
      };
    },
  });
  return { ...tool, ...(release && { release }), ...(close && { close }) };
}

/** Runs the program of the standard input, with its seed. */
const runStdin = `import os, random, sys
random.seed(int(os.environ["PYTHON_SEED"]))
exec(compile(sys.stdin.read(), "call.py", "exec"), {"__name__": "__main__"})`;

function toolResult({ text, ok, truncated, killed }: PythonResult, limits: PythonLimits): ToolResult {
  const notes: string[] = [];
  if (killed) {
    const why = {
      time: `stopped after ${limits.timeout / 1000} s`,
      memory: 'stopped: it needed too much memory',
      crash: 'Python crashed',
    };
    notes.push(`${why[killed]}. Python began anew: variables and files are lost`);
  } else if (truncated) notes.push(`output is missing: there were more than ${limits.output} bytes`);
  const lines = [text.replace(/\n$/, ''), ...notes.map((note) => `[${note}]`)].filter((line) => line !== '');
  return { content: [{ type: 'text', text: lines.join('\n') || '[no output]' }], structuredContent: { ok } };
}

const python: ToolPlugin<CodeMaterial> = defineToolPlugin({
  name: 'python-v1',
  description:
    'Runs Python: CPython in WebAssembly, in a process of its own, or the python3 of a sandbox. For the role python.',
  options: {
    type: 'object',
    properties: {
      memory: {
        type: 'integer',
        minimum: 64,
        default: defaults.memory,
        description: 'MiB of memory of an interpreter',
      },
      timeout: {
        type: 'integer',
        minimum: 1,
        default: defaults.timeout,
        description: 'milliseconds of a call',
      },
      output: {
        type: 'integer',
        minimum: 1,
        default: defaults.output,
        description: 'bytes that are kept of what a call writes',
      },
      spare: {
        type: 'integer',
        minimum: 0,
        default: defaults.spare,
        description: 'interpreters that are kept ready',
      },
      sandbox: {
        type: 'string',
        default: '',
        description: 'reference of a sandbox whose python3 runs the code; default: Python in WebAssembly',
      },
    },
    additionalProperties: false,
  },
  example: { material: {}, calls: [{ code: 'sum(range(10))' }, { code: '1 / 0' }] },
  create: async (material, options) => (await createPython(material, options)) as Tool,
});

export default python;
