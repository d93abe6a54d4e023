/** Reads the answer of a reflection policy, strictly: what is not a text as asked is refused. */
import type { Action } from '@toolenv/core';
import { redactSecrets } from '@toolenv/core/secrets';

/** A new text, or why there is none, without words of the answer. */
export type Answer = { text: string } | { refused: string };

interface Limits {
  /** Characters. */
  longest: number;
  /** The text as it was. */
  old: string;
}

/** Characters. A longer answer is not read. */
const maxAnswerLength = 200_000;
const fence = /^\s*```/;

/** The text between the first and the last line of three backticks. */
export function readAnswer({ text, toolCalls, stopReason }: Action, limits: Limits): Answer {
  // Nobody else has checked what the policy returns.
  if (typeof text !== 'string') return { refused: 'it is not a text' };
  if (stopReason === 'length') return { refused: 'it was cut off before its end' };
  if (toolCalls?.length > 0) return { refused: 'it called a tool' };
  if (text.length > maxAnswerLength) return { refused: `it has ${text.length} characters` };
  const lines = text.split(/\r?\n/);
  const first = lines.findIndex((line) => fence.test(line));
  const last = lines.findLastIndex((line) => fence.test(line));
  if (first === last) return { refused: 'it has no text between two lines of three backticks' };
  const proposed = lines
    .slice(first + 1, last)
    .join('\n')
    .trim();
  const refused = textMistake(proposed, limits);
  return refused === undefined ? { text: proposed } : { refused };
}

/** Why a text cannot be used. `undefined` if it can. */
export function textMistake(text: string, { longest, old }: Limits): string | undefined {
  if (text === '') return 'its text is empty';
  if (text.length > longest)
    return `its text has ${text.length} characters, and at most ${longest} are allowed`;
  if (unprintable.test(text)) return 'its text has control characters';
  if (redactSecrets(text) !== text) return 'its text has a secret of this process';
  if (text === old.trim()) return 'its text is the old one';
  return undefined;
}

/** Control characters but tabs and line feeds, halves of surrogate pairs, and characters that turn the direction of writing. */
const unprintable = /[^\P{Cc}\t\n]|\p{Cs}|[\u202a-\u202e\u2066-\u2069]/u;
