/** EpisodeSandboxes: a sandbox for each episode, which the tools of the episode and its environment share. */
import type { CommandResult, Sandbox } from '@toolenv/core';
import { openSandboxes, type SandboxHost, type SandboxProvider } from '@toolenv/core/plugins';

/** Gives each episode its sandbox. The environment makes it and closes it. */
export interface SandboxSource {
  /**
   * The sandbox of an episode, the same at each call until the environment replaces it.
   * @throws ToolEnvError `infrastructure.*` if it cannot be made.
   */
  of(episodeId: string): Promise<Sandbox>;
}

/** What an environment gives to the tools of the roles `shell` and `files`. */
export interface CodeMaterial {
  /**
   * The sandboxes of its episodes: {@link EpisodeSandboxes}, or a source of its own. Absent: the tool opens sandboxes of its own, and closes
   * each at the end of its episode.
   */
  sandboxes?: SandboxSource;
}

export class EpisodeSandboxes implements SandboxSource {
  readonly #open: () => Promise<SandboxHost>;
  readonly #prepare: (sandbox: Sandbox, episodeId: string) => Promise<void>;
  readonly #made: Map<string, Promise<Sandbox>> = new Map();
  #host: Promise<SandboxHost> | undefined;

  /**
   * Opens nothing before the first episode needs it.
   * @param source A provider, or its reference: `@toolenv/sandbox/container-v1?image=debian:stable-slim`.
   * @param options `prepare` puts files into a new sandbox; `from` is the folder to search for the provider.
   */
  constructor(
    source: SandboxProvider | string,
    {
      from = [process.cwd(), import.meta.dirname],
      prepare = async () => {},
    }: {
      from?: string | readonly string[];
      prepare?: (sandbox: Sandbox, episodeId: string) => Promise<void>;
    } = {},
  ) {
    this.#open = () => openSandboxes(source, { from });
    this.#prepare = prepare;
  }

  /**
   * The sandbox of an episode. The first call makes it.
   * @throws ToolEnvError What opening the provider and making a sandbox throw.
   */
  of(episodeId: string): Promise<Sandbox> {
    let made = this.#made.get(episodeId);
    if (!made) {
      made = this.#make(episodeId);
      made.catch(() => this.#made.delete(episodeId));
      this.#made.set(episodeId, made);
    }
    return made;
  }

  /** Closes the sandbox of an episode, if it has one. */
  async release(episodeId: string): Promise<void> {
    const made = this.#made.get(episodeId);
    this.#made.delete(episodeId);
    const sandbox = await made?.catch(() => undefined);
    await sandbox?.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#made.keys()].map((episodeId) => this.release(episodeId)));
    const host = await this.#host?.catch(() => undefined);
    await host?.close();
  }

  async #make(episodeId: string): Promise<Sandbox> {
    if (!this.#host) {
      this.#host = this.#open();
      this.#host.catch(() => {
        this.#host = undefined;
      });
    }
    const sandbox = await (await this.#host).sandbox();
    try {
      await this.#prepare(sandbox, episodeId);
      return sandbox;
    } catch (error) {
      await sandbox.close();
      throw error;
    }
  }
}

/** The option that names the sandboxes of a tool to which the environment gives none. */
export const sandboxOption = {
  sandbox: {
    type: 'string',
    minLength: 1,
    default: '@toolenv/sandbox/virtual-v1',
    description: 'reference of the sandbox, where the environment has none of its own',
  },
} as const;

/** The environment's sandboxes, or new ones, which the tool must close. */
export function sandboxesOf(
  { sandboxes }: CodeMaterial,
  { sandbox = sandboxOption.sandbox.default }: { sandbox?: unknown } = {},
): {
  sandboxes: SandboxSource;
  release?: (episodeId: string) => Promise<void>;
  close?: () => Promise<void>;
} {
  if (sandboxes) return { sandboxes };
  const own = new EpisodeSandboxes(String(sandbox));
  return { sandboxes: own, release: (episodeId) => own.release(episodeId), close: () => own.close() };
}

/** The output, and below it what else must be known: `[exit code 1]`. */
export function commandText(result: CommandResult): string {
  const { stdout, stderr, exitCode, truncated, timedOut, outOfMemory, lost } = result;
  const notes: string[] = [];
  if (truncated) notes.push('output is missing: there was too much');
  if (timedOut) notes.push('killed because it took too long');
  if (outOfMemory) notes.push('killed, probably because it needed too much memory');
  if (exitCode !== 0) notes.push(`exit code ${exitCode}`);
  if (lost === 'shell')
    notes.push('the shell began anew: variables and the working folder are lost, files are kept');
  if (lost === 'files') notes.push('the sandbox began anew: files and variables are lost');
  const parts = [stdout, stderr].map((text) => text.replace(/\n$/, '')).filter((text) => text !== '');
  const text = [...parts, ...notes.map((note) => `[${note}]`)].join('\n');
  return text === '' ? '[no output]' : text;
}
