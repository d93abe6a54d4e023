/** syntaxMistake: where code cannot be read, as a reader types it. Nothing of it runs. */
import { messageOf } from '@toolenv/core';
import { transform } from 'sucrase';

export interface SyntaxMistake {
  /** From 1. */
  line: number;
  message: string;
}

export function syntaxMistake(code: string): SyntaxMistake | undefined {
  try {
    transform(code, { transforms: ['typescript', 'imports'], production: true });
    return undefined;
  } catch (error) {
    const text = messageOf(error);
    // `Unexpected token (3:17)`.
    const [place, line] = /\((\d+):\d+\)/.exec(text) ?? [];
    const message = text.replace(/^Error transforming[^:]*: /, '').replace(` ${place}`, '');
    return { line: line === undefined ? 1 : Number(line), message };
  }
}
