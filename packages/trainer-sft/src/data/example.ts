/** Example: a conversation or a text to learn from, and which of its turns are learned. */
import type { Observation, PlainText } from '@toolenv/core';

export interface Example {
  content: Observation | PlainText;
  /** Whether a turn of the assistant is learned; the turns count from 0. Default: every turn. */
  learns?(turn: number): boolean;
}
