/** GuestProcess: reaches the files of a bubble. It sees what the commands see, and they cannot see it. */
import { maxFileSize } from '../limits.ts';
import { sandboxFault } from '../sandbox-errors.ts';
import { type Bubble, BubbleEnded, type EnteredProcess, guestProgram } from './bubble.ts';
import { killGroup } from './kill-group.ts';

/** Characters of an answer: a whole file in base64, or a list of names. */
const maxAnswerLength = 2 * maxFileSize;

export class GuestProcess {
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
