/**
 * The one place through which all output of a command passes. Text of packages, models and servers may contain
 * characters that control a terminal. After {@link guardOutput}, stdout and stderr show these characters as escapes, and
 * only sequences that {@link ownSequence} has signed reach the terminal.
 */
import { randomBytes } from 'node:crypto';
import { safeText } from './terminal-text.ts';

/** What follows the ESC of this program's own sequences. Nobody else knows it. Empty before the output is guarded. */
let signature = '';

type Write = typeof process.stderr.write;

/** Writes to stderr without the guard. Undefined before the output is guarded. */
let writeUnguarded: Write | undefined;

/** The progress bar's own way to the terminal. It must escape the text that it shows. */
export const unguardedStderr: NodeJS.WriteStream = Object.create(process.stderr, {
  write: {
    value: (...args: Parameters<Write>) =>
      (writeUnguarded ?? process.stderr.write).apply(process.stderr, args),
  },
});

/** Signs an escape sequence of this program, so that the guard lets it pass. */
export function ownSequence(sequence: string): string {
  return sequence.replaceAll('\u001b', `\u001b${signature}`);
}

/** Guards stdout and stderr of this process. JSON stays the same JSON, because the escapes are those of JSON. */
export function guardOutput(): void {
  if (signature !== '') return;
  signature = randomBytes(16).toString('hex');
  writeUnguarded = process.stderr.write;
  const own = new RegExp(`\u001b${signature}(\\[[\\d;]*[A-Za-z])`);
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as Write;
    // Sequences that are signed are at odd places.
    const guarded = (text: string) =>
      text
        .split(own)
        .map((part, index) => (index % 2 === 1 ? `\u001b${part}` : safeText(part)))
        .join('');
    const replacement = (chunk: string | Uint8Array, ...rest: []) =>
      write(typeof chunk === 'string' ? guarded(chunk) : chunk, ...rest);
    stream.write = replacement as Write;
  }
}
