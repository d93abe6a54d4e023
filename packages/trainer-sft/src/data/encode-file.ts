/** readFile and encodeExample: a data file, line by line, and its examples as the rows of tokens that a policy learns from. */
import { stat } from 'node:fs/promises';
import { messageOf, type Policy, ToolEnvError } from '@toolenv/core';
import { readJsonLines } from '@toolenv/core/files';
import type { TokenRow } from '@toolenv/core/learner';
import type { Run } from '@toolenv/core/plugins';
import { BadExample, type Example } from './example.ts';

/** A policy that can encode. */
export type EncodingPolicy = Policy & Required<Pick<Policy, 'encode'>>;

/** @throws ToolEnvError `usage.cannot_encode` for a policy without `encode`. */
export function requireEncode(policy: Policy): EncodingPolicy {
  if (policy.encode) return policy as EncodingPolicy;
  const message = `The policy ${policy.spec.name} has no encode and cannot learn from data: use a policy that has it, such as a Hugging Face folder.`;
  throw new ToolEnvError('usage.cannot_encode', message);
}

/** `onData` is called after each line. */
export type Reading = Pick<Run, 'signal' | 'onData'>;

/**
 * What `read` makes of each line, one line at a time in memory. An aborted `signal` ends it with the signal's reason.
 * @throws ToolEnvError `usage.bad_example`, naming the file, the line and the wrong part; `usage.no_examples` for a file
 *   without any.
 */
export async function* readFile<Item>(
  file: string,
  read: (text: string, place: string) => Item | Promise<Item>,
  { signal, onData }: Reading = {},
): AsyncGenerator<Item, void, void> {
  let [isEmpty, bytes, share] = [true, 0, 0];
  // The reader of lines says why a file cannot be read.
  const { size } = await stat(file).catch(() => ({ size: 0 }));
  for await (const { text, place } of linesOf(file)) {
    signal?.throwIfAborted();
    isEmpty = false;
    let item: Item;
    try {
      item = await read(text, place);
    } catch (error) {
      const isOfLine =
        error instanceof BadExample ||
        (ToolEnvError.isInstance(error) && /^(usage|context)\./.test(error.code));
      if (!isOfLine) throw error;
      const told = messageOf(error);
      const message = told.startsWith(place) ? told : `${place}: ${told}`;
      throw new ToolEnvError('usage.bad_example', `${message}${told.endsWith('.') ? '' : '.'}`, {
        cause: error,
      });
    }
    yield item;
    bytes += Buffer.byteLength(text) + 1;
    share = Math.min(1, bytes / size);
    if (size > 0) onData?.({ file, share });
  }
  // Blank lines, and line ends of two characters, were not counted.
  if (share < 1) onData?.({ file, share: 1 });
  if (isEmpty) throw new ToolEnvError('usage.no_examples', `${file} has no lines: give a file of examples.`);
}

/** The rows of an example. Turns that are not learned have mask 0; rows without learned tokens are left out. */
export async function encodeExample(
  policy: EncodingPolicy,
  { content, learns = () => true }: Example,
): Promise<TokenRow[]> {
  const rows = await policy.encode(content);
  const kept = rows.map(({ tokens, mask, turns }) => ({
    tokens,
    mask: mask.map((bit, t) => bit && Number(learns(turns[t]!))),
  }));
  return kept.filter(({ mask }) => mask.includes(1));
}

async function* linesOf(file: string): ReturnType<typeof readJsonLines> {
  try {
    yield* readJsonLines(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || ToolEnvError.isInstance(error)) throw error;
    throw new ToolEnvError(
      'usage.unreadable_data',
      `${file} cannot be read (${messageOf(error)}): name a JSONL file.`,
    );
  }
}
