/** dataset: the tasks of a split, made of the rows of a file. */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type JsonSchema, messageOf, type TaskSet, ToolEnvError, taskSet } from '@toolenv/core';
import { isGzip } from '@toolenv/core/recording';
import { type FromJsonSchema, validate, withoutFilledNulls } from '@toolenv/core/schemas';
import { csvRows } from './csv-rows.ts';
import { isInArchive } from './file-bytes.ts';
import { jsonObjects } from './json-rows.ts';
import { openLines } from './line-index.ts';
import { parquetRows } from './parquet-rows.ts';
import { requireFile } from './read-failure.ts';
import type { Row } from './row.ts';

/** How rows become tasks. */
export interface DatasetOptions<Given, Task> {
  /**
   * JSON Schema of a row. It gives `map` the type of its rows, and a row that does not follow it is refused. A field that is null counts as
   * absent if the schema neither requires it nor lets it be null: Arrow fills missing fields so.
   */
  readonly schema?: JsonSchema;
  /**
   * Makes the task of a row. The values of a CSV file are texts. Equal rows must give equal tasks, because a row may be read more than
   * once.
   * @param index Index of the row, from 0.
   */
  readonly map: (row: Given, index: number) => Task | Promise<Task>;
}

type Read = (file: string) => AsyncIterable<Row>;

const formats: Readonly<Record<string, Read>> = {
  '.jsonl': jsonObjects,
  '.ndjson': jsonObjects,
  '.json': jsonObjects,
  '.csv': (file) => csvRows(file, ','),
  '.tsv': (file) => csvRows(file, '\t'),
  '.parquet': parquetRows,
};

/**
 * The tasks of a split, one for each row of a file: `tasks: { train: dataset('train.jsonl', { map }) }`. The file is opened when the
 * split is used. Of JSON lines, memory holds where each line begins, and a line is read when its task is asked for. Other files are read
 * once, as a stream.
 * @param path `.jsonl`, `.ndjson`, `.json` (an array), `.csv`, `.tsv` or `.parquet`. All but Parquet may be packed as `.gz`, or be a member
 *   of an archive: `data.zip/train.csv`. A relative path begins at the working folder; `new URL('train.jsonl', import.meta.url)` is
 *   beside the module.
 * @throws ToolEnvError `usage.dataset` for another format. When the file is read: `usage.missing_file`, `usage.broken_file` (not whole, not
 *   UTF-8, changed since), `usage.broken_record` for a row that the schema or `map` refuses, `usage.zip_member`. Each names the file, the
 *   row and a remedy.
 */
export function dataset<Task, const Schema extends JsonSchema>(
  path: string | URL,
  options: DatasetOptions<FromJsonSchema<Schema>, Task> & { readonly schema: Schema },
): TaskSet<Task>;
export function dataset<Task, Given extends object = Record<string, unknown>>(
  path: string | URL,
  options: DatasetOptions<Given, Task> & { readonly schema?: never },
): TaskSet<Task>;
export function dataset<Task>(
  path: string | URL,
  { schema, map }: DatasetOptions<never, Task>,
): TaskSet<Task> {
  const file = path instanceof URL ? fileURLToPath(path) : path;
  const extension = extname(file.replace(/\.gz$/i, '')).toLowerCase();
  const read = formats[extension];
  if (!read) {
    const remedy = `give a file that ends with ${Object.keys(formats).join(', ')}, or with .gz after it`;
    throw new ToolEnvError('usage.dataset', `${file} is of no known format: ${remedy}.`);
  }
  const toTask = async ({ value: given, place }: Row, index: number): Promise<Task> => {
    const value = schema ? withoutFilledNulls(schema, given) : given;
    const [mistake] = schema ? validate(schema, value) : [];
    if (mistake) {
      const where = mistake.path || 'it';
      throw brokenRow(place, `${where} ${mistake.expected}; received ${mistake.received}. Correct the row`);
    }
    try {
      const task = await map(value as never, index);
      if (task !== undefined) return task;
    } catch (error) {
      throw brokenRow(place, `map failed (${messageOf(error)}). Correct the row, or map`, error);
    }
    throw brokenRow(place, 'map returned undefined. Return a task for each row');
  };
  async function* tasks() {
    let index = 0;
    for await (const row of read!(file)) yield await toTask(row, index++);
    if (index === 0) throw noRows(file);
  }
  return taskSet(async () => {
    if (isInArchive(file)) return tasks();
    await requireFile(file);
    const isText = extension === '.jsonl' || extension === '.ndjson';
    if (!isText || (await isGzip(file))) return tasks();
    const lines = await openLines(file);
    if (lines.length === 0) throw noRows(file);
    return { length: lines.length, get: async (index) => toTask(await lines.read(index), index) };
  });
}

function brokenRow(place: string, problem: string, cause?: unknown): ToolEnvError {
  return new ToolEnvError('usage.broken_record', `${place}: ${problem.replaceAll('\n', ' ')}.`, { cause });
}

function noRows(file: string): ToolEnvError {
  return new ToolEnvError('usage.broken_file', `${file} has no rows: give a file that has at least one.`);
}
