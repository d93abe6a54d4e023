/** inOneLine: the beginning of a text that a file has, for a message. */
import { excerpt } from '@toolenv/core';

/** As JSON if it would break the line or move a terminal's cursor. */
export function inOneLine(text: string, longest?: number): string {
  const beginning = excerpt(text, longest);
  return /[\p{Cc}\p{Surrogate}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u.test(beginning)
    ? JSON.stringify(beginning)
    : beginning;
}
