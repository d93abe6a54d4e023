/**
 * The one place through which all output of a command passes. Text of packages, models and servers may contain
 * characters that control a terminal. After {@link guardOutput}, stdout and stderr show these characters as escapes, and
 * only sequences that {@link ownSequence} has signed reach the terminal.
 */
import { randomBytes } from 'node:crypto';
import { styleText } from 'node:util';
import { safeText } from './terminal-text.ts';

/** What follows the ESC of this program's own sequences. Nobody else knows it. Empty before the output is guarded. */
let signature = '';

type Write = typeof process.stderr.write;

/** Writes to stderr without the guard. Undefined before the output is guarded. */
let writeUnguarded: Write | undefined;

/** What stands in the terminal's last row: a progress bar, a line that waits for its end, as a prompt does, or nothing. */
let row: 'bar' | 'open' | 'empty' = 'empty';

export function lastRow(): typeof row {
  return row;
}

/** Saving and restoring the cursor. A bar would return to where it began, but other lines have come since. */
const cursorPlaces = ['\u001b7', '\u001b8'];

/** The progress bar's own way to the terminal. It must escape the text that it shows. */
export const unguardedStderr: NodeJS.WriteStream = Object.create(process.stderr, {
  write: {
    value: (text: string) => {
      if (cursorPlaces.includes(text)) return true;
      if (process.stderr.isTTY) row = 'bar';
      return (writeUnguarded ?? process.stderr.write).call(process.stderr, text);
    },
  },
});

/** Other output takes the row of a bar, which draws itself again in the row below. */
function takeRow(chunk: string | Uint8Array): void {
  if (row === 'bar') writeUnguarded?.call(process.stderr, '\r\u001b[K');
  const end = typeof chunk === 'string' ? chunk.at(-1) : String.fromCharCode(chunk.at(-1) ?? 10);
  if (end !== undefined) row = end === '\n' ? 'empty' : 'open';
}

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
    const replacement = (chunk: string | Uint8Array, ...rest: []) => {
      takeRow(chunk);
      return write(typeof chunk === 'string' ? guarded(chunk) : chunk, ...rest);
    };
    stream.write = replacement as Write;
  }
}

type Style = Extract<Parameters<typeof styleText>[0], string>;

/** Colours where stdout shows them: `NO_COLOR`, pipes and files get none. */
export function paint(styles: Style | readonly Style[], text: string): string {
  // Node 20 does not ask the stream if it is given an array of styles.
  return [styles].flat().reduce((painted, style) => {
    const [begin = '', end = ''] = styleText(style, '|', { stream: process.stdout }).split('|');
    return ownSequence(begin) + painted + ownSequence(end);
  }, text);
}
