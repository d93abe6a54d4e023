/** ToolCallFormat: how a model family writes calls in a turn. One loop reads all of them; each family says how a call begins and is read. */
import { boundCall } from '../boundary/bound-call.ts';
import { type Action, isParseFailure } from '../protocol/action.ts';
import type { ToolDescription } from '../protocol/message.ts';
import { isObject } from '../schemas/json-text.ts';
import { skipSpace } from './json-end.ts';
import { Unreadable } from './unreadable.ts';

/** The calls in a turn, the text around them, and the thoughts before them. Malformed calls stay in the text. */
export type ParsedTurn = Pick<Action, 'text' | 'toolCalls' | 'reasoning'>;

/** The texts between which a model thinks. */
export interface ThoughtMarks {
  readonly open: string;
  readonly close: string;
}

/** The marks of most models. */
export const thinkTags: ThoughtMarks = { open: '<think>', close: '</think>' };

/** How a turn is read. */
export interface ReadingOptions {
  /** Their schemas tell texts from numbers where a format writes both without quotes. */
  tools?: readonly ToolDescription[];
  /** Default: {@link thinkTags}. */
  thoughts?: ThoughtMarks;
  /** Whether calls are read. Default true. */
  readsCalls?: boolean;
}

/** Parsing takes time in proportion to the text, whatever the model wrote. */
export interface ToolCallFormat {
  readonly name: string;
  /** Texts that mark calls. If they are special tokens, the tokenizer's decoder would leave them out. */
  readonly markers: readonly string[];
  parse(raw: string, options?: ReadingOptions): ParsedTurn;
  /** A call's id in the form that the chat template accepts. */
  templateId?(id: string, name: string): string;
}

/** A call as a reader found it. Nothing in it is checked yet. */
export interface WrittenCall {
  name: unknown;
  /** Absent or null if the call has no arguments. */
  arguments: unknown;
  id?: unknown;
  /** What the model wrote, for a failure. Default: the text between the marks. */
  text?: string;
}

/** What a format differs in. */
export interface CallSyntax {
  name: string;
  /** Begins a call, or a list of calls. Empty if calls are the whole turn. */
  open: string;
  /** Ends what `open` began. A turn may end without it. Default: calls end by themselves. */
  close?: string;
  /** Special tokens inside of calls. */
  inner?: readonly string[];
  /** What the template writes around texts and lists of calls. It is left out of the text. */
  frame?: RegExp;
  templateId?: ToolCallFormat['templateId'];
  /** The id of a call that has none. Default `call-0`, `call-1`, … */
  ownId?(index: number): string;
  /**
   * Reads the calls that begin at `at`, which is behind `open`. `undefined` if the text is not a call.
   * @throws Unreadable for a malformed call.
   */
  read(
    text: string,
    at: number,
    tools: readonly ToolDescription[],
  ): { calls: WrittenCall[]; end: number } | undefined;
}

/** Calls that a turn may have. Each call is answered, so that a short text could have a very long answer. */
const maxCalls = 256;

export function defineFormat(syntax: CallSyntax): ToolCallFormat {
  const { name, open, close = '', inner = [], templateId } = syntax;
  return {
    name,
    markers: [open, close, ...inner].filter((marker) => marker !== ''),
    parse: (raw, options) => new TurnReader(syntax, raw, options).turn(),
    ...(templateId && { templateId }),
  };
}

class TurnReader {
  readonly #syntax: CallSyntax;
  readonly #raw: string;
  readonly #tools: readonly ToolDescription[];
  readonly #thoughts: ThoughtMarks;
  readonly #readsCalls: boolean;
  readonly #toolCalls: ParsedTurn['toolCalls'] = [];
  readonly #texts: string[] = [];
  readonly #reasoning: string[] = [];
  #at = 0;
  /** Whether there was a text or a call. */
  #hasSpoken = false;

  constructor(
    syntax: CallSyntax,
    raw: string,
    { tools = [], thoughts = thinkTags, readsCalls = true }: ReadingOptions = {},
  ) {
    this.#readsCalls = readsCalls;
    this.#syntax = syntax;
    this.#raw = raw;
    this.#tools = tools;
    this.#thoughts = thoughts;
  }

  turn(): ParsedTurn {
    const raw = this.#raw;
    let thought = raw.indexOf(this.#thoughts.open);
    let call = this.#nextCall();
    while (thought >= 0 || call >= 0) {
      // Calls that are drafted in a thought are part of the thought. A mark of thoughts in a call is part of the call.
      if (thought >= 0 && (call < 0 || thought <= call)) {
        if (!this.#readThought(thought)) thought = -1;
      } else if (this.#toolCalls.length < maxCalls) this.#readCalls(call);
      else break;
      if (thought >= 0 && thought < this.#at) thought = raw.indexOf(this.#thoughts.open, this.#at);
      // A search that found nothing would find nothing again, and a turn may have thousands of thoughts.
      if (call >= 0 && call < this.#at) call = this.#nextCall();
    }
    this.#texts.push(raw.slice(this.#at));
    const { frame } = this.#syntax;
    const whole = this.#texts.join('');
    const text = (frame ? whole.replace(frame, '') : whole).trim();
    return {
      text,
      toolCalls: this.#bounded(),
      ...(this.#reasoning.length > 0 && { reasoning: this.#reasoning.join('\n\n') }),
    };
  }

  /** Where the next call begins; −1 if there is none. */
  #nextCall(): number {
    const { open } = this.#syntax;
    if (!this.#readsCalls) return -1;
    if (open !== '') return this.#raw.indexOf(open, this.#at);
    // A format without a mark has its calls behind the thoughts.
    const start = skipSpace(this.#raw, this.#at);
    return this.#hasSpoken || start === this.#raw.length ? -1 : start;
  }

  /** Takes the thought at `start` out of the text. Whether it is a thought. */
  #readThought(start: number): boolean {
    const { open, close } = this.#thoughts;
    const end = this.#raw.indexOf(close, start + open.length);
    const isFirst = !this.#hasSpoken && this.#raw.slice(this.#at, start).trim() === '';
    // A turn that is cut in its first thought has said nothing. Later, the mark without an end is a mention.
    if (end < 0 && !isFirst) return false;
    this.#keep(start);
    const thought = this.#raw.slice(start + open.length, end < 0 ? undefined : end).trim();
    if (thought !== '') this.#reasoning.push(thought);
    this.#at = end < 0 ? this.#raw.length : end + close.length;
    return true;
  }

  #readCalls(start: number): void {
    const raw = this.#raw;
    const { open, close = '', read } = this.#syntax;
    const body = start + open.length;
    this.#keep(start);
    this.#hasSpoken = true;
    let stop: number;
    try {
      const found = read(raw, body, this.#tools);
      if (!found) {
        this.#keep(body === start ? raw.length : body);
        return;
      }
      stop = skipSpace(raw, found.end);
      if (close !== '' && raw.startsWith(close, stop)) stop += close.length;
      else if (close === '') stop = found.end;
      else if (stop < raw.length) throw new Unreadable(`Write ${close} after the call.`);
      const text = raw.slice(body, found.end).trim();
      const before = this.#toolCalls.length;
      for (const call of found.calls) this.#toolCalls.push(this.#toCall(call, this.#toolCalls.length, text));
      if (this.#toolCalls.slice(before).some(isParseFailure)) this.#keep(stop);
      else this.#at = stop;
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      // The malformed call ends at its mark, or where the next call begins.
      const ends = [close, open].map((mark) => (mark === '' ? -1 : raw.indexOf(mark, body)));
      const end = Math.min(...ends.filter((each) => each >= 0), raw.length);
      this.#toolCalls.push({ parseFailure: error.message, text: raw.slice(body, end).trim() });
      this.#keep(end === ends[0] ? end + close.length : end);
    }
  }

  /** Leaves the text up to `end` in the turn's text. */
  #keep(end: number): void {
    const text = this.#raw.slice(this.#at, end);
    this.#texts.push(text);
    this.#hasSpoken ||= text.trim() !== '';
    this.#at = end;
  }

  #toCall(call: WrittenCall, index: number, whole: string): ParsedTurn['toolCalls'][number] {
    const { name, arguments: given, text = whole } = call;
    const args = given ?? {};
    if (typeof name !== 'string') return { parseFailure: '"name" must be a string.', text };
    if (!isObject(args)) return { parseFailure: '"arguments" must be an object.', text };
    const { ownId = (at) => `call-${at}` } = this.#syntax;
    const id = typeof call.id === 'string' && call.id !== '' ? call.id : ownId(index);
    const bounded = boundCall({ id, name, arguments: args });
    return isParseFailure(bounded) ? { ...bounded, text } : bounded;
  }

  #bounded(): ParsedTurn['toolCalls'] {
    const { open } = this.#syntax;
    let excess = this.#toolCalls.length - maxCalls;
    const ignored = this.#texts.at(-1)!;
    if (excess >= 0 && open !== '') excess += ignored.split(open).length - 1;
    if (excess <= 0) return this.#toolCalls;
    const parseFailure = `A turn has at most ${maxCalls} calls; ${excess} more were ignored.`;
    return [...this.#toolCalls.slice(0, maxCalls), { parseFailure, text: '' }];
  }
}
