/** Actions as JSON: typed arrays as plain arrays. */
import type { Action } from '../protocol/action.ts';

type PlainNumber = number | string;

/** An action whose tokens are plain arrays. Numbers that JSON lacks are strings. */
export type PlainAction = Omit<Action, 'tokens'> & {
  tokens?: { prompt: number[]; action: number[]; logprobs: PlainNumber[] };
};

/** Numbers read back with the same bits: a float32 is exact as a float64. */
export function plainAction({ tokens, ...action }: Action): PlainAction {
  if (!tokens) return action;
  const { prompt, action: generated, logprobs } = tokens;
  const plain = { prompt: [...prompt], action: [...generated], logprobs: Array.from(logprobs, plainNumber) };
  return { ...action, tokens: plain };
}

/** The action that {@link plainAction} was given. */
export function restoreAction({ tokens, ...action }: PlainAction): Action {
  if (!tokens) return action;
  const restored = {
    prompt: Int32Array.from(tokens.prompt),
    action: Int32Array.from(tokens.action),
    logprobs: Float32Array.from(tokens.logprobs, Number),
  };
  return { ...action, tokens: restored };
}

function plainNumber(value: number): PlainNumber {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? value : String(value);
}
