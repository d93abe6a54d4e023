/** TerminalPlayer: shows an episode in the terminal, and reads a person's turns. */
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import {
  type Action,
  messageOf,
  type Observation,
  type RewardSpec,
  type ToolDescription,
  ToolEnvError,
  type TrajectoryStep,
} from '@toolenv/core';
import { didYouMean, integerMistake, nearest, unsafeInteger } from '@toolenv/core/schemas';
import type { Player, WrittenTurn } from '@toolenv/view';
import { arrived, recordView, rewardsText } from '../display/episode-view.ts';
import { paint } from '../display/guarded-output.ts';
import { callView, indented, messageView, toolSignature } from '../display/message-view.ts';
import { LateStatus } from '../display/progress.ts';
import { columns, safeLine, wrapText } from '../display/terminal-text.ts';
import { parseJson } from '../flags/schema-flags.ts';

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

/**
 * `search {"query": "Ada"}` and `search Ada` call the tool, the latter if one argument is enough. Every other line is an answer, and
 * so is a line that begins with a colon. A line that looks like a call of another tool is a slip: it would end the episode as an answer.
 * @throws ToolEnvError `usage.turn` for such a line, and for arguments that cannot be read.
 */
export function readTurn(line: string, tools: readonly ToolDescription[]): WrittenTurn {
  const text = line.trim();
  if (text.startsWith(':')) return { text: text.slice(1).trim(), calls: [] };
  const [, name = '', rest = ''] = /^([^\s({]*)\s*(.*)$/s.exec(text) ?? [];
  const tool = tools.find((each) => each.name === name);
  if (tool) return { text: '', calls: [{ name, arguments: readArguments(tool, rest) }] };
  refuseSlip(name, rest, tools);
  return { text, calls: [] };
}

/** A misspelt name of a tool, or any name before a JSON object. */
function refuseSlip(name: string, rest: string, tools: readonly ToolDescription[]): void {
  if (name === '' || tools.length === 0) return;
  const names = tools.map((tool) => tool.name);
  // Narrower than a hint may be: a short answer is near to many names.
  const isMisspelt = nearest(name, names, Math.min(2, Math.floor(name.length / 3))) !== undefined;
  if (!isMisspelt && !/^\{\s*["}]/.test(rest)) return;
  const message = `There is no tool ${name}. ${didYouMean(name, names, 'Tools')} A colon before the line makes it your answer.`;
  throw new ToolEnvError('usage.turn', message);
}

function readArguments(tool: ToolDescription, text: string): Record<string, unknown> {
  if (text.startsWith('{')) {
    const long = unsafeInteger(text);
    if (long !== undefined) throw new ToolEnvError('usage.turn', integerMistake(long));
    try {
      return JSON.parse(text);
    } catch (error) {
      const { message } = error as SyntaxError;
      throw new ToolEnvError('usage.turn', `The arguments of ${tool.name} are not JSON: ${message}.`);
    }
  }
  const { properties = {}, required = [] } = tool.inputSchema as {
    properties?: Record<string, { type?: unknown }>;
    required?: string[];
  };
  if (text === '' && required.length === 0) return {};
  const names = required.length === 0 ? Object.keys(properties) : required;
  const [only] = names;
  if (names.length !== 1 || only === undefined || text === '' || text.startsWith('(')) {
    const message = `Write the arguments of ${toolSignature(tool)} as JSON: ${tool.name} {${names.map((each) => `"${each}": …`).join(', ')}}.`;
    throw new ToolEnvError('usage.turn', message);
  }
  // A number, true or false where the text is one; else the text.
  const value = properties[only]?.type === 'string' ? undefined : parseJson(text);
  return { [only]: value === undefined ? text : value };
}
