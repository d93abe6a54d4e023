/** loadPairs: the pairs of a file, as rows of tokens. */
import { ToolEnvError } from '@toolenv/core';
import type { Pair } from '../learn-pairs.ts';
import { type EncodingPolicy, encodeExample, type Reading, readFile } from './encode-file.ts';
import { readPair } from './read-pair.ts';

/**
 * Pairs that are longer than `maxLength` are left out, with a warning.
 * @throws ToolEnvError as {@link readFile} does, and `usage.no_examples` if no pair is left.
 */
export async function loadPairs(
  file: string,
  policy: EncodingPolicy,
  { maxLength, ...reading }: { maxLength: number } & Reading,
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  let left = 0;
  const encoded = readFile(
    file,
    async (text): Promise<Pair> => {
      const { chosen, rejected } = readPair(text);
      return { chosen: await encodeExample(policy, chosen), rejected: await encodeExample(policy, rejected) };
    },
    reading,
  );
  for await (const pair of encoded) {
    const isWhole = [pair.chosen, pair.rejected].every(
      (side) => side.length > 0 && side.every(({ tokens }) => tokens.length <= maxLength),
    );
    if (isWhole) pairs.push(pair);
    else left += 1;
  }
  if (left > 0) {
    const what = `${left} of ${left + pairs.length} pairs of ${file} are longer than ${maxLength} tokens and are left out`;
    process.emitWarning(`${what}: raise maxLength to learn them.`, 'TruncatedData');
  }
  if (pairs.length > 0) return pairs;
  throw new ToolEnvError('usage.no_examples', `${file} has no pair of at most ${maxLength} tokens.`);
}
