/** A kind of file that is damaged and then used, and what is wrong with what the user sees. */
import { type Rng, ToolEnvError } from '@toolenv/core';

export interface Subject {
  /** Writes a damaged copy into an empty folder, and says what was damaged. */
  damage(rng: Rng, folder: string): Promise<string>;
  /** Uses the copy as toolenv would. Ends by itself, or throws what the user sees. */
  use(folder: string): Promise<void>;
}

/** Runs the work without its output, which may have no control characters. */
export async function withoutOutput(work: () => Promise<void>): Promise<void> {
  const written: string[] = [];
  const streams = [process.stdout, process.stderr];
  const originals = streams.map(({ write }) => write);
  for (const stream of streams) {
    stream.write = ((chunk: unknown, ...rest: unknown[]) => {
      written.push(String(chunk));
      const done = rest.find((each) => typeof each === 'function');
      if (done) queueMicrotask(() => (done as () => void)());
      return true;
    }) as typeof stream.write;
  }
  try {
    await work();
  } finally {
    streams.forEach((stream, index) => {
      stream.write = originals[index]!;
    });
  }
  const control = controlCharacter(written.join(''));
  if (control !== undefined) throw new Error(`prints the control character ${JSON.stringify(control)}`);
}

/** The first character that a terminal may act on, apart from line breaks and tabs. */
export function controlCharacter(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.exec(text)?.[0];
}

/** Characters of a message. */
const longest = 2_000;

/** `undefined` for an error of one line that names what is wrong with the file. */
export function wrongError(error: unknown): string | undefined {
  if (!ToolEnvError.isInstance(error))
    return error instanceof Error ? `${error.name}: ${error.message}` : 'threw no Error';
  const { code, message } = error;
  if (code.startsWith('bug.')) return `is reported as a bug of the program: ${code} ${message}`;
  // What turns out otherwise is shown line by line.
  if (message.includes('\n') && code !== 'usage.other_episode')
    return `is reported in several lines: ${JSON.stringify(message)}`;
  return message.length > longest ? `is reported in ${message.length} characters: ${code}` : undefined;
}
