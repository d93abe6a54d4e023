/** GuestProcess: a process in namespaces of its own, and the guest in it that answers requests. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { longestFile, type ProcessLimits, wastedOutput, workFolder } from '../limits.ts';
import { sandboxFault } from '../sandbox-errors.ts';
import { Cgroup } from './cgroup.ts';

/** The guest has ended. `inside` says that something in the sandbox ended it, as opposed to the machine or its owner. */
export class GuestEnded extends Error {
  readonly inside: boolean;

  constructor(message: string, inside: boolean) {
    super(message);
    this.inside = inside;
  }
}

const guest = fileURLToPath(new URL('./guest.js', import.meta.url));

/** Characters of an answer: a whole file, or two streams, in base64. */
const longestAnswer = 2 * longestFile;

/** Characters that are kept of what bwrap says. */
const longestComplaint = 2000;

export class GuestProcess {
  readonly cgroup: Cgroup;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<GuestEnded>;
  /** Whether the guest has answered once. */
  #begun = false;
  #waiting: { id: number; settle(answer: Record<string, unknown>): void } | undefined;
  #unread = '';
  #complaint = '';
  #count = 0;

  constructor(limits: ProcessLimits & { bwrap: string }) {
    this.cgroup = Cgroup.make(limits);
    const groups = [...this.cgroup.folders.keys()];
    // Enters the groups before bwrap starts. Nothing of this process's environment reaches bwrap, whose own can be read in /proc/1.
    const enter =
      'for g; do shift; [ "$g" = -- ] && break; echo 0 > "$g/cgroup.procs" || exit 99; done; unset PWD; exec "$@"';
    this.#child = spawn('/bin/sh', ['-c', enter, 'sh', ...groups, '--', ...bwrapCommand(limits)], {
      env: {},
      stdio: 'pipe',
      detached: true,
    });
    this.#child.stdin.on('error', () => {});
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaint = `${this.#complaint}${text}`.slice(0, longestComplaint);
    });
    this.#ended = new Promise((settle) => {
      this.#child.once('error', (error) => settle(new GuestEnded(error.message, false)));
      this.#child.once('close', (code, signal) => {
        const how = signal ? `was killed (${signal})` : `ended with code ${code}`;
        settle(new GuestEnded(`bwrap ${how}: ${this.#complaint.trim()}`, this.#begun && signal === null));
      });
    });
    this.#hold(false);
  }

  /**
   * @param within Milliseconds.
   * @throws GuestEnded if the guest has ended, or does.
   * @throws ToolEnvError `infrastructure.sandbox` if it does not answer in time; the guest is killed then.
   */
  async ask(request: Record<string, unknown>, within: number): Promise<Record<string, unknown>> {
    const id = ++this.#count;
    this.#hold(true);
    let timer: NodeJS.Timeout | undefined;
    try {
      const answer = new Promise<Record<string, unknown>>((settle, fail) => {
        this.#waiting = { id, settle };
        timer = setTimeout(fail, within, sandboxFault('A bubblewrap sandbox does not answer.'));
      });
      this.#child.stdin.write(`${JSON.stringify({ id, ...request })}\n`);
      const first = await Promise.race([answer, this.#ended]);
      if (first instanceof GuestEnded) throw first;
      this.#begun = true;
      return first;
    } catch (error) {
      if (!(error instanceof GuestEnded)) this.#kill();
      throw error;
    } finally {
      clearTimeout(timer);
      this.#waiting = undefined;
      this.#hold(false);
    }
  }

  /** Kills the command that runs; its result arrives as usual. */
  stop(): void {
    this.#child.stdin.write('{"asked":"stop"}\n');
  }

  async end(): Promise<void> {
    this.#hold(true);
    this.#kill();
    await this.#ended;
    await this.cgroup.remove();
  }

  #kill(): void {
    // The group: sh or bwrap itself. The kernel kills everything in its namespace with it.
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }

  /** Whether this process stays alive for the guest. */
  #hold(held: boolean): void {
    const { stdin, stdout, stderr } = this.#child;
    for (const each of [this.#child, stdin, stdout, stderr] as unknown as NodeJS.Timeout[]) {
      if (held) each.ref?.();
      else each.unref?.();
    }
  }

  /** What the guest writes is of the sandbox: it may be anything. */
  #read(text: string): void {
    this.#unread += text;
    if (this.#unread.length > longestAnswer) this.#kill();
    let end = this.#unread.indexOf('\n');
    while (end >= 0) {
      const line = this.#unread.slice(0, end);
      this.#unread = this.#unread.slice(end + 1);
      end = this.#unread.indexOf('\n');
      const answer = parse(line);
      if (answer?.id === this.#waiting?.id) this.#waiting?.settle(answer ?? {});
    }
  }
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    return Object(JSON.parse(line)) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Folders of the system that a sandbox sees, read-only. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Files of the system without which its programs do not work. */
const systemFiles = ['/etc/alternatives', '/etc/ld.so.cache', '/etc/ssl/certs', '/etc/localtime'];

function bwrapCommand({ disk, bwrap }: ProcessLimits & { bwrap: string }): string[] {
  const system = systemFolders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => {
      const target = linkOf(folder);
      return target === undefined ? ['--ro-bind', folder, folder] : ['--symlink', target, folder];
    });
  const bytes = String(disk * 2 ** 20);
  return [
    bwrap,
    ...system,
    ...systemFiles.flatMap((file) => ['--ro-bind-try', file, file]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...[
      '--size',
      bytes,
      '--tmpfs',
      '/tmp',
      '--size',
      bytes,
      '--tmpfs',
      workFolder,
      '--size',
      '1048576',
      '--tmpfs',
      '/dev/shm',
    ],
    ...[
      '--ro-bind',
      process.execPath,
      '/run/node',
      '--ro-bind',
      guest,
      '/run/guest.mjs',
      '--remount-ro',
      '/',
    ],
    ...[
      '--unshare-all',
      '--unshare-user',
      '--disable-userns',
      '--uid',
      '1000',
      '--gid',
      '1000',
      '--cap-drop',
      'ALL',
    ],
    ...['--hostname', 'sandbox', '--die-with-parent', '--new-session', '--chdir', workFolder],
    ...[
      '--setenv',
      'HOME',
      workFolder,
      '--setenv',
      'PATH',
      '/usr/local/bin:/usr/bin:/bin',
      '--setenv',
      'LANG',
      'C.UTF-8',
    ],
    ...['--', '/run/node', '--max-old-space-size=128', '--v8-pool-size=0', '/run/guest.mjs'],
  ];
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Bytes of output after which a command is killed. */
export function mostOutput(output: number): number {
  return output * wastedOutput;
}
