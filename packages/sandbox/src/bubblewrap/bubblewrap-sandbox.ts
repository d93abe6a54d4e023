/** BubblewrapSandbox: commands are processes of the machine, in namespaces of their own: no network, no other process, no file but the system's. */
import {
  type CommandOptions,
  type CommandResult,
  messageOf,
  type Sandbox,
  type SandboxEntry,
  ToolEnvError,
} from '@toolenv/core';
import { shellScript } from '../carried-shell.ts';
import { refusedCommand, Serial, sandboxPath } from '../command-checks.ts';
import { fileTime, maxEntries, maxFileSize, workFolder } from '../limits.ts';
import { fileProblem, sandboxFault } from '../sandbox-errors.ts';
import {
  Bubble,
  BubbleEnded,
  type BubblewrapLimits,
  type EnteredProcess,
  guestProgram,
  killGroup,
} from './bubble.ts';
import { runCommand } from './run-command.ts';

/** Where the commands run, and who reaches its files. */
interface Place {
  bubble: Bubble;
  guest: GuestProcess;
}

export class BubblewrapSandbox implements Sandbox {
  readonly #limits: BubblewrapLimits;
  /** Called when it is closed. */
  closed: () => void = () => {};
  readonly #serial = new Serial();
  #place: Promise<Place>;

  constructor(limits: BubblewrapLimits) {
    this.#limits = limits;
    this.#place = this.#begin();
  }

  /**
   * Settles when the sandbox answers.
   * @returns What limits its processes.
   * @throws ToolEnvError `infrastructure.sandbox`.
   */
  async begin(): Promise<readonly string[]> {
    await this.list('.');
    // A busy machine may need more time than a command has.
    const { exitCode, stderr, timedOut } = await this.run('true', { timeout: fileTime });
    const why = timedOut ? `it takes ${fileTime / 1000} s to run "true"` : stderr.trim();
    if (exitCode !== 0) throw sandboxFault(`A bubblewrap sandbox runs no command: ${why}`);
    return (await this.#place).bubble.cgroup.limits;
  }

  run(command: string, options: CommandOptions = {}): Promise<CommandResult> {
    return this.#serial.run(async () => {
      const refused = refusedCommand(command, options);
      if (refused) return refused;
      const { stdin, env, timeout = this.#limits.timeout, limits, signal } = options;
      const output = limits?.output ?? this.#limits.output;
      let outOfMemory = false;
      const ended = await this.#inPlace(async ({ bubble }) => {
        const { cgroup } = bubble;
        const before = cgroup.killedForMemory;
        const script = shellScript(command, { env, home: workFolder, limits: this.#ulimits(cgroup.limits) });
        try {
          const end = await runCommand(bubble, script, { stdin, timeout, output, signal });
          const gone = end.exitCode === 0 ? undefined : await bubble.endedBy();
          if (gone && !signal?.aborted) throw gone;
          return end;
        } finally {
          outOfMemory = cgroup.killedForMemory > before;
        }
      });
      signal?.throwIfAborted();
      if (ended === undefined) return endedSandbox(outOfMemory);
      return { ...ended, stdout: decoded(ended.stdout), stderr: decoded(ended.stderr), outOfMemory };
    });
  }

  async read(path: string): Promise<Uint8Array> {
    const { content } = await this.#file('read', path, { most: maxFileSize });
    return Uint8Array.from(Buffer.from(String(content), 'base64'));
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    await this.#file('write', path, { content: Buffer.from(content as Uint8Array).toString('base64') });
  }

  async list(path: string): Promise<SandboxEntry[]> {
    const { entries } = await this.#file('list', path, { most: maxEntries });
    return entries as SandboxEntry[];
  }

  async close(): Promise<void> {
    this.#serial.end();
    await end(this.#place);
    this.closed();
  }

  #file(asked: string, path: string, rest: Record<string, unknown>): Promise<Record<string, unknown>> {
    return this.#serial.run(async () => {
      const request = { asked, path: sandboxPath(path), ...rest };
      const answer = await this.#inPlace(({ bubble, guest }) => {
        const ended = bubble.ended.then((why) => Promise.reject(why));
        return Promise.race([guest.ask(request, fileTime), ended]);
      });
      if (answer === undefined)
        throw fileProblem(path, 'a process in the sandbox ended it, and its files are lost');
      if (typeof answer.problem === 'string') throw fileProblem(path, answer.problem);
      return answer;
    });
  }

  async #begin(): Promise<Place> {
    const bubble = await Bubble.start(this.#limits);
    return { bubble, guest: new GuestProcess(bubble) };
  }

  /** `undefined` if something in the sandbox has ended it: an empty one takes its place. */
  async #inPlace<Answer>(ask: (place: Place) => Promise<Answer>): Promise<Answer | undefined> {
    try {
      return await ask(await this.#place);
    } catch (error) {
      if (error instanceof BubbleEnded && error.inside) {
        await end(this.#place);
        if (!this.#serial.hasEnded) this.#place = this.#begin();
        this.#place.catch(() => {});
        return undefined;
      }
      const fault = ToolEnvError.isInstance(error)
        ? error
        : sandboxFault(`A bubblewrap sandbox failed: ${messageOf(error)}`, error);
      this.#serial.end(fault);
      throw fault;
    }
  }

  /** Limits of each process: those that no group sets for all of them, and the size of files. */
  #ulimits(limited: readonly string[]): string {
    const { memory, disk, processes } = this.#limits;
    const lines = ['ulimit -c 0', `ulimit -f ${disk * 1024}`];
    if (!limited.includes('memory')) lines.push(`ulimit -v ${memory * 1024}`);
    if (!limited.includes('processes')) lines.push(`ulimit -u ${processes}`);
    return lines.map((line) => `${line} 2>/dev/null`).join('\n');
  }
}

async function end(begun: Promise<Place>): Promise<void> {
  const place = await begun.catch(() => undefined);
  await Promise.all([place?.guest.end(), place?.bubble.end()]);
}

function decoded(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true });
}

function endedSandbox(outOfMemory: boolean): CommandResult {
  const stderr = 'sandbox: the sandbox was killed, and its files are lost: it begins anew\n';
  return { stdout: '', stderr, exitCode: 137, truncated: true, timedOut: false, outOfMemory, lost: 'files' };
}

/** Characters of an answer: a whole file in base64, or a list of names. */
const maxAnswerLength = 2 * maxFileSize;

/** Reaches the files of a bubble. It sees what the commands see, and they cannot see it. */
class GuestProcess {
  readonly #child: EnteredProcess;
  readonly #ended: Promise<BubbleEnded>;
  #waiting: { id: number; settle(answer: Record<string, unknown>): void } | undefined;
  #unread = '';
  #count = 0;

  constructor(bubble: Bubble) {
    const [node, program] = guestProgram as [string, string];
    const command = [node, '--max-old-space-size=128', '--v8-pool-size=0', program];
    this.#child = bubble.enter(command, { as: 'guest', env: {} });
    this.#child.stdin.on('error', () => {});
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    let complaint = '';
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = `${complaint}${text}`.slice(0, 2000);
    });
    this.#ended = new Promise((settle) => {
      this.#child.once('error', (error) => settle(new BubbleEnded(error.message, false)));
      this.#child.once('close', (code, signal) => {
        const how = signal ? `was killed (${signal})` : `ended with code ${code}`;
        settle(new BubbleEnded(`its guest ${how}: ${complaint.trim()}`, false));
      });
    });
    this.#hold(false);
  }

  /**
   * @param within Milliseconds.
   * @throws BubbleEnded if the guest has ended, or does.
   * @throws ToolEnvError `infrastructure.sandbox` if it does not answer in time.
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
      if (first instanceof BubbleEnded) throw first;
      return first;
    } finally {
      clearTimeout(timer);
      this.#waiting = undefined;
      this.#hold(false);
    }
  }

  async end(): Promise<void> {
    this.#hold(true);
    killGroup(this.#child);
    await this.#ended;
  }

  /** Whether this process stays alive for the guest. */
  #hold(held: boolean): void {
    const { stdin, stdout, stderr } = this.#child;
    for (const each of [this.#child, stdin, stdout, stderr] as unknown as NodeJS.Timeout[]) {
      if (held) each.ref?.();
      else each.unref?.();
    }
  }

  #read(text: string): void {
    this.#unread += text;
    if (this.#unread.length > maxAnswerLength) killGroup(this.#child);
    let end = this.#unread.indexOf('\n');
    while (end >= 0) {
      const line = this.#unread.slice(0, end);
      this.#unread = this.#unread.slice(end + 1);
      end = this.#unread.indexOf('\n');
      const answer = JSON.parse(line) as Record<string, unknown>;
      if (answer.id === this.#waiting?.id) this.#waiting?.settle(answer);
    }
  }
}
