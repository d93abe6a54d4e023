/** A machine of a stand-in: processes of this computer in namespaces of their own, by bubblewrap. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export type OnData = (stream: 'stdout' | 'stderr', data: Buffer) => void;

/** Thrown when a machine has ended. */
export class MachineGone extends Error {}

interface Call {
  settle(exitCode: number): void;
  fail(error: Error): void;
  onData: OnData;
}

export class StandInMachine {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** What the vendor's API was asked for. */
  readonly asked: Readonly<Record<string, unknown>>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #calls: Map<number, Call> = new Map();
  readonly #onEnd: () => void;
  #speed: number;
  #seconds = 0;
  #timer: NodeJS.Timeout | undefined;
  #count = 0;
  hasEnded = false;

  /** @param speed How many seconds of the machine's time to live pass in a second. */
  constructor(
    id: string,
    { labels = {}, ...asked }: { labels?: Record<string, string> } & Record<string, unknown>,
    { speed, onEnd }: { speed: number; onEnd(): void },
  ) {
    this.id = id;
    this.labels = labels;
    this.asked = asked;
    this.#speed = speed;
    this.#onEnd = onEnd;
    const [bwrap = '', ...args] = bwrapCommand();
    this.#child = spawn(bwrap, args, { env: {}, stdio: 'pipe' });
    this.#child.stdin.on('error', () => {});
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#read(line));
    this.#child.once('error', () => this.end());
    this.#child.once('close', () => this.end());
  }

  /** @returns The exit code. @throws MachineGone */
  exec(argv: readonly string[], onData: OnData): Promise<number> {
    return this.#call({ argv }, onData);
  }

  /** @returns Whether the file was written. */
  async write(path: string, content: Buffer): Promise<boolean> {
    return (await this.#call({ path, content: content.toString('base64') }, () => {})) === 0;
  }

  /** Ends it after so many seconds. */
  endAfter(seconds: number): void {
    this.#seconds = seconds;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), (seconds * 1000) / this.#speed);
  }

  /** Begins its time to live again, at another speed. */
  hurry(speed: number): void {
    this.#speed = speed;
    this.endAfter(this.#seconds);
  }

  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    clearTimeout(this.#timer);
    this.#child.kill('SIGKILL');
    for (const { fail } of this.#calls.values()) fail(new MachineGone());
    this.#onEnd();
  }

  #call(request: object, onData: OnData): Promise<number> {
    if (this.hasEnded) return Promise.reject(new MachineGone());
    const id = ++this.#count;
    return new Promise<number>((settle, fail) => {
      this.#calls.set(id, { settle, fail, onData });
      this.#child.stdin.write(`${JSON.stringify({ id, ...request })}\n`);
    }).finally(() => this.#calls.delete(id));
  }

  #read(line: string): void {
    const { id, stream, data, exitCode } = JSON.parse(line);
    const call = this.#calls.get(id);
    if (exitCode !== undefined) call?.settle(exitCode);
    else call?.onData(stream, Buffer.from(data, 'base64'));
  }
}

function bwrapCommand(): string[] {
  const system = ['/usr', '/bin', '/sbin', '/lib', '/lib64'].filter(existsSync).flatMap((folder) => {
    try {
      return ['--symlink', readlinkSync(folder), folder];
    } catch {
      return ['--ro-bind', folder, folder];
    }
  });
  const files = ['/etc/alternatives', '/etc/ld.so.cache'].flatMap((file) => ['--ro-bind-try', file, file]);
  const size = String(64 * 2 ** 20);
  const namespaces = '--unshare-all --unshare-user --uid 1000 --gid 1000 --cap-drop ALL --die-with-parent';
  const agent = join(import.meta.dirname, 'agent.js');
  return [
    '/usr/bin/bwrap',
    ...system,
    ...files,
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['/tmp', '/dev/shm', '/work'].flatMap((folder) => ['--size', size, '--tmpfs', folder]),
    ...['--ro-bind', process.execPath, '/run/node', '--ro-bind', agent, '/run/agent.mjs'],
    ...namespaces.split(' '),
    ...['--new-session', '--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin', '--chdir', '/'],
    ...['--', '/run/node', '--max-old-space-size=64', '--v8-pool-size=0', '/run/agent.mjs'],
  ];
}
