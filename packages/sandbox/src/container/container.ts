/** Container: a running container, and the commands that run in it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessLimits, wastedOutput, workFolder } from '../limits.ts';
import { type DockerClient, DockerError } from './docker-client.ts';
import { Frames } from './frames.ts';
import { ownLabels } from './owner.ts';

/** How containers are made. */
export interface ContainerOptions extends ProcessLimits {
  image: string;
  user: string;
  socket: string;
  spare: number;
}

/** How an exec ended. `gone` if the container does not run any more. */
export interface ExecResult {
  frames: Frames;
  exitCode: number;
  timedOut: boolean;
  gone: boolean;
}

/** Milliseconds that the daemon may take to report what has ended. */
const patience = 10_000;

export class Container {
  readonly #client: DockerClient;
  readonly id: string;

  private constructor(client: DockerClient, id: string) {
    this.#client = client;
    this.id = id;
  }

  /** Makes and starts a container. @throws What the client throws. */
  static async start(
    client: DockerClient,
    options: ContainerOptions,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<Container> {
    const { image, user, memory, disk, processes } = options;
    const bytes = memory * 2 ** 20;
    const tmpfs = `rw,exec,nosuid,nodev,mode=1777,size=${disk * 2 ** 20}`;
    const { Id } = (await client.ask('POST', '/containers/create', {
      Image: image,
      // A process that reaps others, and that nothing in the container can kill.
      Entrypoint: ['/bin/sh', '-c', 'while :; do sleep 5 & wait; done'],
      Cmd: [],
      Env: [`HOME=${workFolder}`, 'LANG=C.UTF-8'],
      ...(user !== '' && { User: user }),
      WorkingDir: '/',
      Labels: { ...ownLabels(), ...labels },
      NetworkDisabled: true,
      Hostname: 'sandbox',
      HostConfig: {
        NetworkMode: 'none',
        ReadonlyRootfs: true,
        Tmpfs: { '/tmp': tmpfs, [workFolder]: tmpfs },
        Memory: bytes,
        MemorySwap: bytes,
        PidsLimit: processes,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        Ulimits: [
          { Name: 'nofile', Soft: 1024, Hard: 1024 },
          { Name: 'core', Soft: 0, Hard: 0 },
          // Of the user in all containers together: no limit of a container. Without it podman asks for more than it may.
          { Name: 'nproc', Soft: 4096, Hard: 4096 },
        ],
        LogConfig: { Type: 'none' },
        RestartPolicy: { Name: 'no' },
      },
    })) as { Id: string };
    const container = new Container(client, Id);
    try {
      await client.ask('POST', `/containers/${Id}/start`);
      return container;
    } catch (error) {
      await container.remove().catch(() => {});
      throw error;
    }
  }

  /**
   * Runs a script with `sh`, or with `bash` if there is one.
   * @param signal Kills everything in the container when it aborts.
   * @throws What the client throws.
   */
  async exec(
    script: string,
    {
      stdin = '',
      timeout,
      output,
      signal,
    }: {
      stdin?: string | Uint8Array;
      timeout: number;
      output: number;
      signal?: AbortSignal | undefined;
    },
  ): Promise<ExecResult> {
    const shell = 's=$0; command -v bash >/dev/null 2>&1 && exec bash -c "$s" bash; exec sh -c "$s" sh';
    const exec = await this.#exec(['/bin/sh', '-c', shell, script]);
    const socket = await this.#client.attach(exec);
    const frames = new Frames(output);
    let timedOut = false;
    let killing: Promise<unknown> | undefined;
    const kill = () => {
      killing ??= this.killAll().catch(() => {});
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
      if (exitCode === undefined) await this.remove();
      const gone = exitCode === undefined || (exitCode === 137 && !(await this.isRunning()));
      return { frames, exitCode: timedOut ? 124 : (exitCode ?? 137), timedOut, gone };
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

  /** Kills every process but the first. */
  async killAll(): Promise<void> {
    const exec = await this.#exec(['/bin/sh', '-c', 'kill -9 -1']);
    (await this.#client.attach(exec)).destroy();
  }

  async isRunning(): Promise<boolean> {
    try {
      const { State } = (await this.#client.ask('GET', `/containers/${this.id}/json`)) as {
        State?: { Running?: boolean };
      };
      return State?.Running === true;
    } catch (error) {
      if (error instanceof DockerError && error.status === 404) return false;
      throw error;
    }
  }

  /** Kills and removes it. It may be gone already. */
  async remove(): Promise<void> {
    await removeContainer(this.#client, this.id);
  }

  async #exec(command: string[]): Promise<string> {
    const { Id } = (await this.#client.ask('POST', `/containers/${this.id}/exec`, {
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
      Cmd: command,
      Env: [`HOME=${workFolder}`, 'LANG=C.UTF-8'],
    })) as { Id: string };
    return Id;
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

/** Kills and removes a container. It may be gone already. */
export async function removeContainer(client: DockerClient, id: string): Promise<void> {
  try {
    await client.ask('DELETE', `/containers/${id}?force=true&v=true`);
  } catch (error) {
    // Gone, or being removed.
    if (!(error instanceof DockerError) || (error.status !== 404 && error.status !== 409)) throw error;
  }
}
