/** parquetRows: the rows of a Parquet file, a row group at a time. */

import { exactJson } from '@toolenv/core/schemas';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { readFailure, requireFile } from './read-failure.ts';
import type { Row } from './row.ts';

/**
 * Values become JSON: whole numbers beyond 2⁵³ become texts of digits, times texts as in ISO 8601, and bytes texts in Base64.
 * @throws ToolEnvError `usage.missing_file`, `usage.broken_file`.
 */
export async function* parquetRows(path: string): AsyncGenerator<Row> {
  let number = 0;
  try {
    await requireFile(path);
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    for (const { num_rows } of metadata.row_groups) {
      const range = { rowStart: number, rowEnd: number + Number(num_rows) };
      for (const row of await parquetReadObjects({ file, metadata, compressors, parsers, ...range })) {
        number++;
        yield { value: toJson(row) as object, place: `${path}, row ${number}` };
      }
    }
  } catch (error) {
    throw readFailure(path, `after row ${number}`, error);
  }
}

const parsers = {
  jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && exactJson(new TextDecoder().decode(bytes)),
};

function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(toJson);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toJson(each)]));
}
