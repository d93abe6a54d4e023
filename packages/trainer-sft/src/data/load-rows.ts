/** Training data: the rows of a file, cut to a length. */
import { ToolEnvError } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';
import { type EncodingPolicy, encodeExample, type Reading, readFile } from './encode-file.ts';
import { type Judged, readExamples } from './read-example.ts';

/** What was read. Rows take 5 bytes a token and some 300 bytes each; nothing else of the file stays in memory. */
export interface TrainingData {
  rows: TokenRow[];
  /** Rows that were longer, and have lost their end. */
  truncated: number;
  /** Rows that have nothing to learn within the length, and were left out. */
  dropped: number;
}

/** @throws ToolEnvError as {@link readFile} does, and `usage.no_examples` if nothing is to be learned. */
export async function loadRows(
  file: string,
  policy: EncodingPolicy,
  { maxLength, signal, onData, ...judged }: { maxLength: number } & Reading & Judged,
): Promise<TrainingData> {
  const data: TrainingData = { rows: [], truncated: 0, dropped: 0 };
  const encoded = readFile(
    file,
    async (text, place) => {
      const rows = [];
      for (const example of readExamples(text, place, judged))
        rows.push(...(await encodeExample(policy, example)));
      return rows;
    },
    { signal, onData },
  );
  for await (const rows of encoded) for (const row of rows) addRow(data, row, maxLength);
  tellOfTruncation(file, data, maxLength);
  if (data.rows.length > 0) return data;
  throw new ToolEnvError('usage.no_examples', `${file} has nothing to learn: give assistant messages.`);
}

function addRow(data: TrainingData, { tokens, mask }: TokenRow, maxLength: number): void {
  const isLong = tokens.length > maxLength;
  // A copy, because a part of an array keeps the whole in memory.
  const row = isLong
    ? { tokens: tokens.slice(0, maxLength), mask: mask.slice(0, maxLength) }
    : { tokens, mask };
  if (!row.mask.includes(1)) data.dropped += 1;
  else {
    data.truncated += Number(isLong);
    data.rows.push(row);
  }
}

function tellOfTruncation(file: string, { rows, truncated, dropped }: TrainingData, maxLength: number): void {
  if (truncated + dropped === 0) return;
  const all = rows.length + dropped;
  const what = `${truncated} of ${all} rows of ${file} are longer than ${maxLength} tokens and lose their end`;
  const more =
    dropped > 0 ? `, ${dropped} more have nothing to learn within that length and are left out` : '';
  process.emitWarning(`${what}${more}: raise maxLength to learn them whole.`, 'TruncatedData');
}
