/** TokenChat: prompts and turns as token ids, for policies that know their tokens. */

import type { ParsedTurn } from '../call-formats/call-format.ts';
import type { Observation } from '../protocol/message.ts';

/** What the model saw and did in its last turn of a conversation. */
export interface TokenTurn extends ParsedTurn {
  observation: Observation;
  prompt: Int32Array;
  action: Int32Array;
}

/** Makes and reads tokens: the `Chat` of `@toolenv/policy` has this shape. */
export interface TokenChat {
  /** The tokens that end a turn. */
  readonly endTokens: readonly number[];
  /** The tokens by their ids: `vocabulary` of the policy. */
  readonly vocabulary?: ReadonlyMap<number, string>;
  /** Whether prompts describe tools. Default true. */
  readonly toldTools?: boolean;
  prompt(observation: Observation): Int32Array;
  /** The prompt of the next turn, which begins with the tokens of the last turn; `undefined` if the past has changed. */
  continuation(previous: TokenTurn, observation: Observation): Int32Array | undefined;
  /** The text of an action, with the markers of tool calls. */
  written(action: Int32Array): string;
  /** The thoughts, calls and text of a turn. The tools' schemas say which arguments are texts. */
  parse(written: string, tools: Observation['tools']): ParsedTurn;
}

/** Where a turn ended, and its text. */
export interface TurnEnd {
  /** Tokens of the turn. */
  length: number;
  /** Whether the turn ended by itself: by an end token or a stop text. */
  stopped: boolean;
  /** The text of the turn, without the stop text. */
  written: string;
}

/** Where a turn ends, and its text. Servers differ in the tokens of a stop text that they give back, so it is found here. */
export function findTurnEnd(
  tokens: Int32Array,
  stops: readonly string[],
  chat: Pick<TokenChat, 'endTokens' | 'written'>,
): TurnEnd {
  const end = tokens.findIndex((token) => chat.endTokens.includes(token));
  const whole = end < 0 ? tokens.length : end + 1;
  const text = chat.written(tokens.subarray(0, whole));
  const stop = firstOf(text, stops);
  if (stop === undefined) return { length: whole, stopped: end >= 0, written: text };
  // The first tokens whose text has the whole stop text; texts of prefixes grow, so halving finds them.
  let [low, high] = [1, whole];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (firstOf(chat.written(tokens.subarray(0, middle)), stops) === undefined) low = middle + 1;
    else high = middle;
  }
  return { length: low, stopped: true, written: text.slice(0, stop) };
}

/** Where the first stop text begins. */
function firstOf(text: string, stops: readonly string[]): number | undefined {
  const starts = stops.filter((stop) => stop !== '').map((stop) => text.indexOf(stop));
  const found = starts.filter((start) => start >= 0);
  return found.length === 0 ? undefined : Math.min(...found);
}
