/** Writes down every call that tools answer, so that a replay can answer it again without the tools. */
import { existsSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { untilAborted } from '../boundary/deadline.ts';
import { readToolResult } from '../boundary/read-tool-result.ts';
import { notRecordable } from '../env/tool-tap.ts';
import { diskError, withDiskErrors } from '../files/disk-errors.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { Tool, ToolContext, ToolResult } from '../protocol/tool.ts';
import { recordTurns } from './record-turns.ts';
import { createRedactor, type RedactionRules } from './redact.ts';
import { asksServer, type PolicyIdentity, type RecordablePolicy, type RunTap } from './run-tap.ts';
import {
  canonical,
  faceOf,
  type RecordedCall,
  type RecordingHeader,
  recordedError,
  Takes,
} from './tool-recording.ts';
import type { RecordedTurn } from './turn-recording.ts';

/** What a recording leaves out. */
export interface RecordOptions {
  /** What to remove in addition to secret names, bearer tokens and environment variables. */
  redact?: RedactionRules;
}

/**
 * The tools, recording into a new `file`; a call returns when its line is written. The file has the calls' arguments and
 * results, whole, without secrets; the episode itself gets the results as they are.
 *
 * Episodes may run concurrently if their ids differ, as a rollout's do.
 * @throws ToolEnvError `usage.recording_exists` if the file exists, `infrastructure.disk` if it cannot be written.
 */
export async function recordTools(
  tools: readonly Tool[],
  file: string,
  options: RecordOptions = {},
): Promise<Tool[]> {
  const recorder = new Recorder(file, options);
  const recording = recorder.add(tools);
  await recorder.written();
  return recording;
}

/**
 * A tap for `openEnv` that records the calls of an environment's tools into one new `file`, and the turns of a policy that asks a server.
 * The file appears with the first of them, or at {@link RunTap.finish}: a run that fails before leaves none.
 * @throws ToolEnvError `usage.recording_exists` if the file exists.
 */
export function recordEnv(file: string, options: RecordOptions = {}): RunTap {
  if (existsSync(file)) throw fileExists(file);
  const recorder = new Recorder(file, options);
  return {
    async tool(role, make) {
      return recorder.add([await make()], role)[0]!;
    },
    async source(open) {
      const source = await open();
      try {
        // The recording begins with the tools: ask for them now.
        const first = await source.acquire();
        recorder.add(first.tools);
        recorder.instructions = first.instructions;
        await first.release();
      } catch (error) {
        await source.close();
        throw error;
      }
      return {
        async acquire(request) {
          const lease = await source.acquire(request);
          return {
            tools: recorder.add(lease.tools),
            instructions: lease.instructions,
            folder: lease.folder,
            async ready(signal) {
              await lease.ready?.(signal);
            },
            release: () => lease.release(),
          };
        },
        close: () => source.close(),
      };
    },
    async policy(identity, open) {
      const policy = await open();
      return asksServer(policy) ? recorder.policy(identity, policy) : policy;
    },
    opened(env) {
      if (recorder.isEmpty) throw notRecordable(env);
    },
    finish: () => recorder.written(),
  };
}

/** One recording: the tools and the policy in its first line, then calls and turns. */
class Recorder {
  readonly #file: string;
  readonly #rules: RedactionRules;
  readonly #redact: <T>(value: T) => T;
  /** By role and name. */
  readonly #faces: Map<string, RecordingHeader['tools'][number]> = new Map();
  readonly #takes = new Takes();
  /** How to use the tools. */
  instructions: string | undefined;
  #policy: RecordingHeader['policy'];
  /** Lines one after another, and none after a line that failed, so that only the last line can be half-written. */
  #written: Promise<void> | undefined;

  constructor(file: string, { redact = {} }: RecordOptions) {
    this.#file = file;
    this.#rules = redact;
    this.#redact = createRedactor(redact);
  }

  get isEmpty(): boolean {
    return this.#faces.size === 0 && this.#policy === undefined;
  }

  /**
   * The tools, recording.
   * @throws ToolEnvError `usage.late_tool` for a tool that comes after the first line.
   */
  add(tools: readonly Tool[], role?: string): Tool[] {
    for (const tool of tools) {
      const key = JSON.stringify([role, tool.name]);
      if (this.#faces.has(key)) continue;
      if (this.#written) throw lateTool(tool.name, this.#file);
      this.#faces.set(key, { role, ...faceOf(tool) });
    }
    return tools.map((tool) => this.#recording(tool));
  }

  /** The policy, recording. To be called before the first line. */
  policy(identity: PolicyIdentity, policy: RecordablePolicy): RecordablePolicy {
    this.#policy = { ...identity, spec: policy.spec };
    return recordTurns(policy, (turn) => this.#write(turn));
  }

  /** Settles when all lines so far are in the file, the first line at least. */
  written(): Promise<void> {
    this.#written ??= this.#create();
    return this.#written;
  }

  async #create(): Promise<void> {
    // A schema may well have a property named "token"; only secrets known by value are removed from schemas.
    const redactFace = createRedactor({ ...this.#rules, keys: /(?!)/ });
    const header: RecordingHeader = {
      recording: 'tools',
      version: 1,
      tools: [...this.#faces.values()],
      instructions: this.instructions,
      policy: this.#policy,
    };
    try {
      await writeFile(this.#file, `${JSON.stringify(redactFace(header))}\n`, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw diskError(error, this.#file) ?? error;
      throw fileExists(this.#file, error);
    }
  }

  #recording(tool: Tool): Tool {
    return {
      ...faceOf(tool),
      execute: async (args, context) => {
        const key = this.#takes.next(context);
        // Copied before the tool can change them.
        const asked = { ...key, tool: tool.name, arguments: canonical(args) };
        const answer = await settle(tool, args, context);
        if ('result' in answer) {
          await this.#write({ ...asked, ...answer });
          return answer.result;
        }
        await this.#write({ ...asked, ...recordedError(answer.thrown, answer.abandoned) });
        throw answer.thrown;
      },
      release: async (episodeId) => tool.release?.(episodeId),
      close: async () => {
        await tool.close?.();
        await this.#written;
      },
    };
  }

  #write(event: RecordedCall | RecordedTurn): Promise<void> {
    const line = `${JSON.stringify(this.#redact(event))}\n`;
    this.#written = this.written().then(() => withDiskErrors(this.#file, () => appendFile(this.#file, line)));
    return this.#written;
  }
}

type Answer = { result: ToolResult } | { thrown: unknown; abandoned: boolean };

/** How a call ended: the tool answered or threw, or the caller gave up. */
async function settle(tool: Tool, args: Record<string, unknown>, context: ToolContext): Promise<Answer> {
  const { signal } = context;
  try {
    return {
      result: await untilAborted(signal, async () => readToolResult(await tool.execute(args, context))),
    };
  } catch (thrown) {
    return { thrown, abandoned: signal.aborted };
  }
}

function fileExists(file: string, cause?: unknown): ToolEnvError {
  const message = `${file} exists already: record into another file, or remove it.`;
  return new ToolEnvError('usage.recording_exists', message, { cause });
}

function lateTool(name: string, file: string): ToolEnvError {
  const message = `Tool "${name}" came after the recording in ${file} had begun: make every tool as the environment opens.`;
  return new ToolEnvError('usage.late_tool', message);
}
