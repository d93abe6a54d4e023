/** Bubble: the namespaces of a sandbox, which bwrap makes, and the programs that enter them. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ProcessLimits, workFolder } from '../limits.ts';
import { attempt, Cgroup, tryRead } from './cgroup.ts';

export type BubblewrapLimits = ProcessLimits & { bwrap: string };

/** A program in the namespaces, and the streams to it. */
export type EnteredProcess = ChildProcessWithoutNullStreams;

/** The namespaces have ended. `inside` says that something in them was the cause, as opposed to the machine or their owner. */
export class BubbleEnded extends Error {
  readonly inside: boolean;

  constructor(message: string, inside: boolean) {
    super(message);
    this.inside = inside;
  }
}

/** Of util-linux, which every Debian has. */
const nsenter = '/usr/bin/nsenter';
const unshare = '/usr/bin/unshare';
export const programs: readonly string[] = [nsenter, unshare];

/** The namespaces that a program enters, as nsenter and /proc call them. That of the processes is the last. */
const namespaces = [
  ['user', 'user'],
  ['mount', 'mnt'],
  ['net', 'net'],
  ['ipc', 'ipc'],
  ['uts', 'uts'],
  ['pid', 'pid'],
] as const;

/**
 * What bwrap makes belongs to a namespace of users in which this user is root, so that it may be entered without rights outside. Programs
 * enter it before.
 */
const asRoot = [unshare, '--user', '--map-root-user', '--'];
const lastEntrance = 3 + namespaces.length;
const enterAsRoot = [nsenter, `--user=/proc/self/fd/${lastEntrance}`, '--preserve-credentials', '--'];

/** Closes the files by which a command has entered; for a shell. */
export const closeEntrances: string = `exec ${[...namespaces, ''].map((_, at) => `${3 + at}<&-`).join(' ')}`;

/** Where the sandbox has Node, and the program of the guest. */
export const guestProgram: readonly string[] = ['/run/node', '/run/guest.mjs'];

/** Characters that are kept of what bwrap says. */
const maxComplaintLength = 2000;

/** Milliseconds that the namespaces may take to begin, and to end after their first process was killed. */
const patience = 30_000;
const dying = 2_000;

/** Enters the groups before the program starts. */
const enterGroups =
  'for g; do shift; [ "$g" = -- ] && break; echo 0 > "$g/cgroup.procs" || exit 99; done; unset PWD; exec "$@"';

export class Bubble {
  readonly cgroup: Cgroup;
  /** Settles when the namespaces have ended. */
  readonly ended: Promise<BubbleEnded>;
  readonly #child: ChildProcessWithoutNullStreams;
  /** The process in the namespaces that holds them. */
  #holder = 0;
  /** Open files of the namespaces, by which programs enter. A number of a process could become that of another. */
  #entrances: number[] = [];
  #begun = false;
  #complaint = '';
  /** Streams that processes in the background may still write to. */
  readonly #streams: Readable[] = [];

  private constructor(limits: BubblewrapLimits) {
    this.cgroup = Cgroup.make(limits);
    // Nothing of this process's environment reaches bwrap, whose own can be read in /proc/1.
    this.#child = this.#spawn(bwrapCommand(limits), { env: {}, limited: true, more: ['pipe'] });
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaint = `${this.#complaint}${text}`.slice(0, maxComplaintLength);
    });
    this.ended = new Promise((settle) => {
      this.#child.once('error', (error) => settle(new BubbleEnded(error.message, false)));
      this.#child.once('exit', (code, signal) => {
        const how = signal ? `was killed (${signal})` : `ended with code ${code}`;
        // The commands may have filled the memory in which bwrap runs too.
        const inside = this.#begun && (signal === null || this.cgroup.killedForMemory > 0);
        settle(new BubbleEnded(`bwrap ${how}: ${this.#complaint.trim()}`, inside));
      });
    });
  }

  /** @throws BubbleEnded if it does not begin. */
  static async start(limits: BubblewrapLimits): Promise<Bubble> {
    const bubble = new Bubble(limits);
    try {
      const late = sleep(patience, undefined, { ref: false }).then(
        () => new BubbleEnded('bwrap does not begin', false),
      );
      const problem = await Promise.race([bubble.#begin(), bubble.ended, late]);
      if (problem) throw problem;
      return bubble;
    } catch (error) {
      await bubble.end();
      throw error instanceof BubbleEnded ? error : new BubbleEnded((error as Error).message, false);
    }
  }

  /**
   * Starts a program in the namespaces. It is the leader of a group of processes.
   * @param as `command`: among the other commands, and limited as they are. `guest`: it sees their files; they can neither see it nor send it a signal.
   */
  enter(
    program: readonly string[],
    { as, env }: { as: 'command' | 'guest'; env: Record<string, string> },
  ): EnteredProcess {
    const limited = as === 'command';
    const flags = namespaces.map(([flag], at) => `--${flag}=/proc/self/fd/${3 + at}`);
    // The guest is in all of them but that of the processes.
    if (!limited) flags.pop();
    const command = [...enterAsRoot, nsenter, ...flags, '--preserve-credentials', '--', ...program];
    return this.#spawn(command, { env, limited, more: this.#entrances });
  }

  /** Keeps the streams of a command whose processes in the background may write to them: those wait once a stream is full. */
  hold(...streams: Readable[]): void {
    for (const stream of streams) {
      stream.pause();
      (stream as unknown as NodeJS.Timeout).unref?.();
    }
    this.#streams.push(...streams);
    // Each is an open file of this process.
    while (this.#streams.length > maxStreams) this.#streams.shift()?.destroy();
  }

  /** Why the namespaces end now; `undefined` if they do not. For whoever has seen a process of theirs killed. */
  async endedBy(): Promise<BubbleEnded | undefined> {
    // A process that was killed does not sleep, until it is gone.
    const state = tryRead(`/proc/${this.#holder}/stat`).replace(/^.*\) /s, '')[0];
    const within = state !== undefined && 'StT'.includes(state) ? 0 : dying;
    return (await Promise.race([this.ended, sleep(within)])) ?? undefined;
  }

  async end(): Promise<void> {
    for (const stream of this.#streams.splice(0)) stream.destroy();
    for (const file of this.#entrances.splice(0)) closeSync(file);
    this.#child.ref();
    killGroup(this.#child);
    await this.ended;
    await this.cgroup.remove();
  }

  async #begin(): Promise<undefined> {
    const { stdout, stdio } = this.#child;
    let said = '';
    const info = stdio[3] as Readable;
    info.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const lines = createInterface({ input: stdout });
    await Promise.all([once(lines, 'line'), once(info, 'end')]);
    const first = (JSON.parse(said) as { 'child-pid': number })['child-pid'];
    this.#holder = Number(readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim());
    const files = namespaces.map(([, file]) => `/proc/${this.#holder}/ns/${file}`);
    files.push(`/proc/${this.#child.pid}/ns/user`);
    this.#entrances = files.map((file) => openSync(file, 'r'));
    this.#begun = true;
    lines.close();
    // From now on, whatever is written here is of the commands.
    for (const stream of [stdout, this.#child.stderr, info]) stream.destroy();
    for (const each of [this.#child, this.#child.stdin]) (each as unknown as NodeJS.Timeout).unref();
  }

  #spawn(
    command: readonly string[],
    {
      env,
      limited,
      more,
    }: { env: Record<string, string>; limited: boolean; more: readonly ('pipe' | number)[] },
  ): ChildProcessWithoutNullStreams {
    const groups = limited ? [...this.cgroup.folders.keys()] : [];
    return spawn('/bin/sh', ['-c', enterGroups, 'sh', ...groups, '--', ...command], {
      env,
      stdio: ['pipe', 'pipe', 'pipe', ...more],
      detached: true,
    }) as ChildProcessWithoutNullStreams;
  }
}

/** Streams that are kept of commands that have ended. */
const maxStreams = 16;

/** Folders of the system that a sandbox sees, read-only. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Files of the system without which its programs do not work. */
const systemFiles = ['/etc/alternatives', '/etc/ld.so.cache', '/etc/ssl/certs', '/etc/localtime'];

function bwrapCommand({ disk, bwrap }: BubblewrapLimits): string[] {
  const system = systemFolders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => {
      const target = attempt<string | undefined>(() => readlinkSync(folder), undefined);
      return target === undefined ? ['--ro-bind', folder, folder] : ['--symlink', target, folder];
    });
  const memory = (folder: string, bytes: number) => ['--size', String(bytes), '--tmpfs', folder];
  const [node, guest] = guestProgram as [string, string];
  return [
    ...asRoot,
    bwrap,
    ...system,
    ...systemFiles.flatMap((file) => ['--ro-bind-try', file, file]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...memory('/tmp', disk * 2 ** 20),
    ...memory(workFolder, disk * 2 ** 20),
    ...memory('/dev/shm', 2 ** 20),
    ...['--ro-bind', process.execPath, node],
    ...['--ro-bind', fileURLToPath(new URL('./guest.js', import.meta.url)), guest],
    ...['--remount-ro', '/'],
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--uid', '1000', '--gid', '1000'],
    ...['--cap-drop', 'ALL', '--hostname', 'sandbox', '--die-with-parent', '--new-session'],
    ...['--info-fd', '3', '--chdir', workFolder],
    // Holds the namespaces as long as its stdin is open.
    ...['--', '/bin/sh', '-c', 'echo ready; exec cat 3>&- >/dev/null 2>&1'],
  ];
}

/** Kills a process and its group, whose leader it is. Processes in a namespace of processes that it has made end with it. */
export function killGroup({
  pid,
  exitCode,
  signalCode,
}: {
  pid?: number | undefined;
  exitCode: number | null;
  signalCode: string | null;
}): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  // It may have ended.
  attempt(() => process.kill(-pid, 'SIGKILL'), false);
}
