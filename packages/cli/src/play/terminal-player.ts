/** TerminalPlayer: shows an episode in the terminal, and reads a person's turns. */
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import {
  type Action,
  messageOf,
  type Observation,
  type RewardSpec,
  type TrajectoryStep,
} from '@toolenv/core';
import type { Player, WrittenTurn } from '@toolenv/view';
import { arrived, recordView, rewardsText } from '../display/episode-view.ts';
import { LateStatus } from '../display/late-status.ts';
import { callView, indented, messageView } from '../display/message-view.ts';
import { paint } from '../display/paint.ts';
import { columns, safeLine, wrapText } from '../display/terminal-text.ts';
import { toolSignature } from '../display/tool-signature.ts';
import { readTurn } from './written-turn.ts';

/** The person has closed the terminal, or the file that stands in for it has ended. */
export class NoMoreTurns extends Error {}

export class TerminalPlayer implements Player {
  readonly #width: number;
  readonly #rewardSpec: RewardSpec;
  readonly #lines: Interface;
  /** Shows the progress of the running tool. */
  readonly #status: LateStatus = new LateStatus();
  /** Lines that were typed before they were asked for. */
  readonly #typed: string[] = [];
  #isClosed = false;
  #previous: TrajectoryStep | undefined;
  #shownTools = '';

  constructor(rewardSpec: RewardSpec, width: number) {
    this.#rewardSpec = rewardSpec;
    this.#width = width;
    this.#lines = createInterface({ input: process.stdin });
    this.#lines.on('line', (line) => this.#typed.push(line));
    this.#lines.on('close', () => {
      this.#isClosed = true;
    });
  }

  close(): void {
    this.#status.stop();
    this.#lines.close();
  }

  /** Before each episode. */
  begin(): void {
    this.#previous = undefined;
  }

  async write(observation: Observation, signal: AbortSignal): Promise<WrittenTurn> {
    this.#showArrived(observation);
    this.#showTools(observation);
    for (;;) {
      const line = await this.#ask('> ', signal);
      if (line.trim() === '') continue;
      if (line.trim() === '?') {
        this.#shownTools = '';
        this.#showTools(observation);
        continue;
      }
      try {
        return readTurn(line, observation.tools);
      } catch (error) {
        print(paint('red', messageOf(error)));
      }
    }
  }

  replayed(observation: Observation, { text, toolCalls }: Action): void {
    this.#showArrived(observation);
    print(messageView({ role: 'assistant', content: text }, this.#width));
    for (const call of toolCalls) print(callView(call, this.#width));
  }

  progressed(text: string): void {
    this.#status.show(text);
  }

  answered(step: TrajectoryStep): void {
    this.#status.clear();
    for (const record of step.calls) print(recordView(record, { width: this.#width, isBrief: false }));
    const rewarded = rewardsText(step.rewards ?? {}, this.#rewardSpec);
    if (rewarded !== '') print(`${paint('bold', 'rewarded')}  ${rewarded}`);
    this.#previous = step;
  }

  /** How the task is won, after the episode. */
  showSolution(turns: readonly WrittenTurn[]): void {
    const lines = turns.flatMap(({ text, calls }) => [
      ...calls.map((call) => `→ ${call.name} ${JSON.stringify(call.arguments)}`),
      ...(text === '' ? [] : [text]),
    ]);
    if (lines.length === 0) return;
    const body = indented(lines.join('\n'), this.#width, 10).trimStart();
    print(`${paint('bold', 'solution')}  ${body}`);
  }

  /**
   * An empty line is a yes.
   * @param hint What is shown for a line that is neither yes nor no: it may be a call that was typed too late.
   * @throws NoMoreTurns; the signal's reason.
   */
  async confirm(question: string, hint: string, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const line = (await this.#ask(`${question} [Y/n] `, signal)).trim();
      if (/^(y|yes)?$/i.test(line)) return true;
      if (/^(n|no|q|quit)$/i.test(line)) return false;
      print(paint('yellow', hint));
    }
  }

  /**
   * @throws NoMoreTurns; the signal's reason.
   */
  async #ask(prompt: string, signal: AbortSignal): Promise<string> {
    process.stdout.write(paint('bold', prompt));
    while (this.#typed.length === 0) {
      if (this.#isClosed) throw new NoMoreTurns();
      await Promise.race([once(this.#lines, 'line', { signal }), once(this.#lines, 'close', { signal })]);
    }
    return this.#typed.shift()!;
  }

  #showArrived(observation: Observation): void {
    for (const each of arrived(observation, this.#previous?.observation))
      print(typeof each === 'string' ? paint('yellow', each) : messageView(each, this.#width));
  }

  /** The tools, when they are other tools than before. */
  #showTools({ tools }: Observation): void {
    const rows = tools.map((tool) => [safeLine(toolSignature(tool)), safeLine(tool.description)] as const);
    const text = JSON.stringify(rows);
    if (text === this.#shownTools) return;
    this.#shownTools = text;
    if (rows.length > 0) print(`${paint('bold', 'tools')}\n${columns(rows, Math.min(this.#width, 120))}`);
    const how =
      rows.length === 0
        ? 'Write your answer.'
        : 'Call a tool by its name and its arguments, in JSON or, if one is enough, as plain text. Every other line is your answer; a colon before it makes it one. ? shows the tools again.';
    print(paint('dim', wrapText(how, { width: Math.min(this.#width, 120), indent: '  ' })));
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
