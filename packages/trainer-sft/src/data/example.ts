/** Example: a conversation or a text to learn from, and which of its turns are learned. BadExample: what is wrong with it. */
import { excerpt, type Observation, type PlainText } from '@toolenv/core';

export interface Example {
  content: Observation | PlainText;
  /** Whether a turn of the assistant is learned; the turns count from 0. Default: every turn. */
  learns?(turn: number): boolean;
}

/** What is wrong with a line of a data file. The reader adds the file and the number of the line. */
export class BadExample extends Error {
  /** @param path JSON Pointer to the wrong part; empty for the whole line. */
  constructor(path: string, expected: string, received: unknown) {
    super(`${path === '' ? '' : `${path}: `}expected ${expected}; received ${shown(received)}`);
    this.name = 'BadExample';
  }
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : excerpt(JSON.stringify(value));
}
