/** Container: a running container, and the commands that run in it. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isInfrastructure } from '@toolenv/core';
import { sandboxPath } from '../command-checks.ts';
import { wastedOutput } from '../limits.ts';
import { fileProblem } from '../sandbox-errors.ts';
import { type Change, type ChangedFiles, readChangedFiles, readChanges } from './changes.ts';
import { type ContainerOptions, requestOf, variables } from './container-options.ts';
import { type DockerClient, DockerError, LongAnswer } from './docker-client.ts';
import { Frames } from './frames.ts';
import { type Archive, type ArchiveLimits, type FilesToPack, packedTar, readTar } from './tar.ts';

/** How a command runs. */
export interface ExecOptions {
  stdin?: string | Uint8Array;
  /** Milliseconds after which the command is killed, with everything else that runs in the container. */
  timeout: number;
  /** Bytes that are kept of stdout, and of stderr. A command that writes 64 times as much is killed, with everything else. */
  output: number;
  /** Number or name. Default: the container's. A command may remove a name from `/etc/passwd`: then the daemon starts none. */
  user?: string | undefined;
  /** Folder in which the command begins. Default: `/`. The exit code is 126 where it cannot be entered. */
  folder?: string | undefined;
  /** Variables in addition to the container's. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Kills everything in the container when it aborts. */
  signal?: AbortSignal | undefined;
}

/** How a command ended. */
export interface ExecResult {
  /** The first bytes of its output. */
  stdout: Uint8Array;
  stderr: Uint8Array;
  /** Whether output is missing in `stdout` or `stderr`. */
  truncated: boolean;
  /** 124 for a command that ran too long, 137 for a killed one. */
  exitCode: number;
  timedOut: boolean;
  /** Whether the container has ended. */
  gone: boolean;
}

/** Enters the folder `$1`, if there is one, and runs the script `$0` with `bash`, or with `sh` where bash is absent. */
const shell = `s=$0
[ -z "$1" ] || cd "$1" || exit 126
command -v bash >/dev/null 2>&1 && exec bash -c "$s" bash
exec sh -c "$s" sh`;

/** Milliseconds between two looks at the size of what a container has written. */
const watchPause = 1000;

/** Milliseconds that the daemon may take to report what has ended. */
const patience = 10_000;

/** Milliseconds that the daemon may take to compare a container that has very many files with its image. */
const maxLook = 600_000;

export class Container {
  readonly #client: DockerClient;
  readonly #options: ContainerOptions;
  readonly id: string;
  #overfull = false;
  #removed = false;

  private constructor(client: DockerClient, options: ContainerOptions, id: string) {
    this.#client = client;
    this.#options = options;
    this.id = id;
  }

  /** Makes and starts a container. @throws What the client throws. */
  static async start(client: DockerClient, options: ContainerOptions): Promise<Container> {
    const { Id } = (await client.ask('POST', '/containers/create', requestOf(options))) as { Id: string };
    const container = new Container(client, options, Id);
    try {
      await client.ask('POST', `/containers/${Id}/start`);
      if (options.disk !== undefined) void container.#watch(options.disk * 2 ** 20);
      return container;
    } catch (error) {
      await container.remove().catch(() => {});
      throw error;
    }
  }

  /** Whether the container was killed because it wrote more than `disk`. */
  get overfull(): boolean {
    return this.#overfull;
  }

  /**
   * Runs a script with `bash`, or with `sh` if the image has none.
   * @throws What the client throws, also if the container was removed.
   */
  async exec(script: string, options: ExecOptions): Promise<ExecResult> {
    const { stdin = '', timeout, output, user, folder = '', env, signal } = options;
    const frames = new Frames(output);
    const started = await this.#begin(['/bin/sh', '-c', shell, script, folder], { user, env });
    if (!started) return resultOf(frames, { gone: true });
    const { exec, socket } = started;
    let timedOut = false;
    let killing: Promise<unknown> | undefined;
    const kill = () => {
      killing ??= this.#killProcesses(user).catch(() => {});
    };
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, timeout);
    signal?.addEventListener('abort', kill, { once: true });
    if (signal?.aborted) kill();
    try {
      const streamsEnd = new Promise<void>((settle) => {
        socket.once('close', settle);
        socket.once('end', settle);
      });
      socket.on('data', (chunk: Buffer) => {
        frames.add(chunk);
        if (frames.seen > output * wastedOutput) kill();
      });
      socket.end(stdin);
      const exitCode = await this.#exitCode(exec, { streamsEnd, within: timeout + patience });
      // A container whose command cannot be killed is of no more use.
      if (exitCode === undefined) await this.kill();
      const gone = exitCode === undefined || (exitCode === 137 && !(await this.isRunning()));
      return resultOf(frames, { exitCode, timedOut, gone });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
      await killing;
      socket.destroy();
    }
  }

  /**
   * Asks again and again, because a process in the background may hold the streams after the shell has ended.
   * @returns `undefined` if the command still runs.
   */
  async #exitCode(
    exec: string,
    { streamsEnd, within }: { streamsEnd: Promise<void>; within: number },
  ): Promise<number | undefined> {
    const end = performance.now() + within;
    let pause = 250;
    let haveEnded = false;
    void streamsEnd.then(() => {
      haveEnded = true;
      pause = 10;
    });
    while (performance.now() < end) {
      await (haveEnded ? sleep(pause) : Promise.race([streamsEnd, sleep(pause)]));
      pause = Math.min(2 * pause, 500);
      const code = await this.#outcome(exec);
      if (code !== undefined) return code;
    }
    return undefined;
  }

  /** Kills every process but the first. Without rights, root kills only its own, and each user theirs. */
  async #killProcesses(user: string | undefined): Promise<void> {
    const killer = this.#options.rights === 'usual' ? '0' : user;
    (await this.#begin(['/bin/sh', '-c', 'kill -9 -1'], { user: killer }))?.socket.destroy();
  }

  async isRunning(): Promise<boolean> {
    return (await this.#look())?.State?.Running === true;
  }

  /** Ends everything that runs in the container, also the container. Its files can still be read by {@link archive}. */
  async kill(): Promise<void> {
    try {
      // Unlike `kill`, `stop` returns when podman has cleaned up: a read before would find an unmounted root.
      await this.#client.ask('POST', `/containers/${this.id}/stop?t=0`);
    } catch (error) {
      // It has ended already: Docker says 409, and podman 500.
      if (!(error instanceof DockerError) || (await this.isRunning())) throw error;
    }
    for (let tries = 0; await this.isRunning(); tries++) {
      if (tries === 100) throw new Error('a killed container goes on');
      await sleep(patience / 100);
    }
  }

  /**
   * The files and folders at an absolute path. Reads whatever the daemon sends of them into memory, and writes nothing to the disk of this
   * machine. Call {@link kill} before: the files of a container that runs may change meanwhile. Folders in memory are empty here. The
   * daemon follows links within the container's root in the folders that lead to `path`; links below it are skipped.
   * @throws ToolEnvError `usage.sandbox_file` if there is no such path, with a {@link DockerError} as its cause, or the files exceed the limits.
   * @throws ToolEnvError `infrastructure.sandbox` for an archive that is broken.
   * @throws What the client throws.
   */
  async archive(path: string, limits: ArchiveLimits): Promise<Archive> {
    const at = sandboxPath(path, '/');
    return this.#read(at, (tar) => readTar(tar, at, limits));
  }

  /**
   * What has changed since the image, as the daemon reports it. Call {@link kill} before. Volumes and folders in memory are left out.
   * @throws ToolEnvError `usage.sandbox_file` if it is more than the daemon's answer may hold.
   * @throws What the client throws.
   */
  async changes(): Promise<Change[]> {
    const path = `/containers/${this.id}/changes`;
    try {
      return readChanges(await this.#client.ask('GET', path, undefined, { silence: maxLook }));
    } catch (error) {
      // podman goes into folders no deeper than a path can be long.
      const isDeep = error instanceof DockerError && error.message.includes('name too long');
      if (!(isDeep || error instanceof LongAnswer)) throw error;
      throw fileProblem('/', 'more has changed than the daemon can report', error);
    }
  }

  /**
   * The changed files below a folder, as `readChangedFiles` reads them, while the rest of the folder is streamed by.
   * @param path A folder, and no link.
   * @throws As {@link archive} does.
   */
  async changedFiles(
    path: string,
    changes: ReadonlyMap<string, boolean>,
    limits: ArchiveLimits,
  ): Promise<ChangedFiles> {
    return this.#read(path, (tar) => readChangedFiles(tar, path, changes, limits));
  }

  async #read<Read>(path: string, read: (tar: IncomingMessage) => Promise<Read>): Promise<Read> {
    for (let tries = 1; ; tries++) {
      try {
        return await read(await this.#tarOf(path));
      } catch (error) {
        // podman unmounts the root soon after a container has ended, also under a reader.
        if (!isInfrastructure(error) || tries === 4) throw error;
        await sleep(250);
      }
    }
  }

  /**
   * Writes files and folders into the container, which may have ended. Their paths are absolute. Folders that are not among them are made
   * with permissions 0o755, and belong to root. The daemon follows links within the container's root. Docker
   * refuses a read-only root. Folders in memory get no files. What was written before an error stays.
   * @param owner Numbers of the user and the group of all of them. Default: root.
   * @throws ToolEnvError `usage.sandbox_file` for a path that leaves the root.
   * @throws What the client throws.
   */
  async putArchive(files: FilesToPack, owner: { uid?: number; gid?: number } = {}): Promise<void> {
    const answer = await this.#client.stream('PUT', `/containers/${this.id}/archive?path=%2F`, {
      body: packedTar(files, owner),
    });
    answer.resume();
  }

  /** Kills and removes it. It may be gone already. */
  async remove(): Promise<void> {
    this.#removed = true;
    await removeContainer(this.#client, this.id);
  }

  async #tarOf(path: string): Promise<IncomingMessage> {
    const query = new URLSearchParams({ path });
    try {
      return await this.#client.stream('GET', `/containers/${this.id}/archive?${query}`);
    } catch (error) {
      if (!(error instanceof DockerError) || error.status !== 404 || !(await this.#look())) throw error;
      throw fileProblem(path, 'there is no such file or folder', error);
    }
  }

  /** Kills the container when it has written more than `most` bytes. Ends with the container. */
  async #watch(most: number): Promise<void> {
    while (!this.#removed) {
      const began = performance.now();
      try {
        const found = await this.#look('?size=true');
        if (found?.State?.Running !== true) return;
        this.#overfull = (found.SizeRw ?? 0) > most;
        if (this.#overfull) return await this.kill();
      } catch {
        // A daemon that fails is asked again. Commands report it.
      }
      // A container with very many files keeps the daemon busy for longer.
      const pause = Math.max(watchPause, 4 * (performance.now() - began));
      await sleep(pause, undefined, { ref: false });
    }
  }

  /** What the daemon says of the container; `undefined` if it is gone. */
  async #look(query = ''): Promise<{ State?: { Running?: boolean }; SizeRw?: number } | undefined> {
    try {
      return Object(await this.#client.ask('GET', `/containers/${this.id}/json${query}`));
    } catch (error) {
      if (error instanceof DockerError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Begins a command; `undefined` if the container has ended. */
  async #begin(
    command: string[],
    { user = '', env = {} }: { user?: string | undefined; env?: ExecOptions['env'] },
  ): Promise<{ exec: string; socket: Duplex } | undefined> {
    try {
      const { Id } = (await this.#client.ask('POST', `/containers/${this.id}/exec`, {
        AttachStdin: true,
        AttachStdout: true,
        AttachStderr: true,
        Tty: false,
        Cmd: command,
        Env: variables(env),
        ...(user !== '' && { User: user }),
      })) as { Id: string };
      return { exec: Id, socket: await this.#client.attach(Id) };
    } catch (error) {
      const found = error instanceof DockerError ? await this.#look() : undefined;
      if (found && found.State?.Running !== true) return undefined;
      throw error;
    }
  }

  /** The exit code, or `undefined` while the command runs: the daemons then say `ExitCode: 0`. */
  async #outcome(exec: string): Promise<number | undefined> {
    try {
      const found = await this.#client.ask('GET', `/exec/${exec}/json`);
      const { Running, ExitCode } = Object(found) as { Running?: boolean; ExitCode?: number | null };
      return Running === true ? undefined : (ExitCode ?? 137);
    } catch (error) {
      // With its container, the exec is gone.
      if (error instanceof DockerError && !(await this.isRunning())) return 137;
      throw error;
    }
  }
}

function resultOf(
  frames: Frames,
  {
    exitCode = 137,
    timedOut = false,
    gone,
  }: { exitCode?: number | undefined; timedOut?: boolean; gone: boolean },
): ExecResult {
  return {
    stdout: frames.bytes(0),
    stderr: frames.bytes(1),
    truncated: frames.truncated,
    exitCode: timedOut ? 124 : exitCode,
    timedOut,
    gone,
  };
}

/** Kills and removes a container. It may be gone already. */
export async function removeContainer(client: DockerClient, id: string): Promise<void> {
  try {
    await client.ask('DELETE', `/containers/${id}?force=true&v=true`);
  } catch (error) {
    // Gone, or being removed.
    if (!(error instanceof DockerError) || (error.status !== 404 && error.status !== 409)) throw error;
  }
}
