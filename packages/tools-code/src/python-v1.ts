/** The plugin `python-v1`: runs Python, in WebAssembly or in a sandbox. */
import {
  defineTool,
  defineToolPlugin,
  type Tool,
  ToolEnvError,
  type ToolPlugin,
  type ToolResult,
} from '@toolenv/core';
import { type CodeMaterial, commandText, sandboxesOf } from './episode-sandboxes.ts';
import {
  openSnapshot,
  type PythonLimits,
  PythonProcess,
  type PythonResult,
} from './python/python-process.ts';

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

/** From which interpreters begin. Every pool of the process uses the same. */
let snapshot: Promise<Uint8Array> | undefined;

function sharedSnapshot(memory: number): Promise<Uint8Array> {
  if (!snapshot) {
    snapshot = openSnapshot(memory);
    snapshot.catch(() => {
      snapshot = undefined;
    });
  }
  return snapshot;
}

interface Episode {
  interpreter?: Promise<PythonProcess> | undefined;
  /** Settles with the last call: an interpreter runs one at a time. */
  last: Promise<unknown>;
}

/** An interpreter for each episode, and some that are kept ready. */
class PythonPool {
  readonly #limits: PythonLimits;
  readonly #spare: number;
  readonly #ready: PythonProcess[] = [];
  readonly #episodes: Map<string, Episode> = new Map();
  #closed = false;

  /** @param spare Interpreters that are kept ready. */
  constructor(limits: PythonLimits, spare: number) {
    this.#limits = limits;
    this.#spare = spare;
  }

  /** Starts what is kept ready. */
  async fill(): Promise<void> {
    const snapshot = await sharedSnapshot(this.#limits.memory);
    while (!this.#closed && this.#ready.length < this.#spare)
      this.#ready.push(new PythonProcess(this.#limits, snapshot));
  }

  /**
   * Runs code in the interpreter of an episode. A first call, and one after a result that is `killed`, begins one whose `random` has the seed.
   * @throws ToolEnvError `infrastructure.python` if it does not start or was ended from here.
   * @throws The reason of the signal when it aborts.
   */
  run(episodeId: string, code: string, seed: () => number, signal?: AbortSignal): Promise<PythonResult> {
    const episode = this.#episodes.get(episodeId) ?? { last: Promise.resolve() };
    this.#episodes.set(episodeId, episode);
    const result = episode.last.then(() => this.#runIn(episode, episodeId, code, seed, signal));
    episode.last = result.catch(() => {});
    return result;
  }

  /** Ends the interpreter of an episode, if it has one. A next call would give it another. */
  async release(episodeId: string): Promise<void> {
    const episode = this.#episodes.get(episodeId);
    this.#episodes.delete(episodeId);
    const interpreter = await episode?.interpreter?.catch(() => undefined);
    await interpreter?.end();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([
      ...[...this.#episodes.keys()].map((episodeId) => this.release(episodeId)),
      ...this.#ready.splice(0).map((interpreter) => interpreter.end()),
    ]);
  }

  async #runIn(
    episode: Episode,
    episodeId: string,
    code: string,
    seed: () => number,
    signal?: AbortSignal,
  ): Promise<PythonResult> {
    signal?.throwIfAborted();
    if (this.#episodes.get(episodeId) !== episode)
      throw new ToolEnvError('infrastructure.python', 'The episode has ended.');
    let interpreter: PythonProcess | undefined;
    try {
      episode.interpreter ??= this.#take(seed());
      interpreter = await episode.interpreter;
      const result = await interpreter.run(code, signal);
      if (result.killed) episode.interpreter = undefined;
      return result;
    } catch (error) {
      episode.interpreter = undefined;
      await interpreter?.end();
      throw error;
    }
  }

  async #take(seed: number): Promise<PythonProcess> {
    const used = sharedSnapshot(this.#limits.memory);
    const interpreter = await this.#begun(seed).catch(() => {
      // The file of the snapshot may be gone: it is looked for again.
      if (snapshot === used) snapshot = undefined;
      return this.#begun(seed);
    });
    // After the episode has begun, which must not wait for it.
    this.fill().catch(() => {});
    return interpreter;
  }

  async #begun(seed: number): Promise<PythonProcess> {
    const snapshot = await sharedSnapshot(this.#limits.memory);
    if (this.#closed) throw new ToolEnvError('infrastructure.python', 'The tool is closed: open it again.');
    const interpreter = this.#ready.shift() ?? new PythonProcess(this.#limits, snapshot);
    await interpreter.begin(seed);
    return interpreter;
  }
}
