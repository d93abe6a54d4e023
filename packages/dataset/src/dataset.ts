/** dataset: the tasks of a split, made of the rows of a file or of a dataset of the Hugging Face Hub. */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type JsonSchema, messageOf, type TaskSet, ToolEnvError, taskSet } from '@toolenv/core';
import { isGzip } from '@toolenv/core/files';
import { didYouMean, type FromJsonSchema, validate, withoutFilledNulls } from '@toolenv/core/schemas';
import { csvRows } from './csv-rows.ts';
import { isInArchive } from './file-bytes.ts';
import { fetchSplit, type HubSplit } from './hub-split.ts';
import { jsonObjects } from './json-rows.ts';
import { openLines } from './line-index.ts';
import { parquetRows } from './parquet-rows.ts';
import { requireFile } from './read-failure.ts';
import type { Row } from './row.ts';

/** How rows become tasks. */
export interface DatasetOptions<Given, Task> extends HubSplit {
  /**
   * JSON Schema of a row. It gives `map` the type of its rows, and a row that does not follow it is refused. A field that is null counts as
   * absent if the schema neither requires it nor lets it be null: Arrow fills missing fields so. The texts of a CSV file become the numbers
   * and booleans that it wants, and an empty text counts as absent where it wants one.
   */
  readonly schema?: JsonSchema;
  /** Values by column, such as `{ split: 'test' }`: other rows are left out. So one file can have the rows of all splits. */
  readonly only?: Readonly<Record<string, string | number | boolean>>;
  /**
   * Makes the task of a row. Without a `schema`, the values of a CSV file are texts. Equal rows must give equal tasks, because a row may be read more than
   * once.
   * @param index Index of the task, from 0.
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
 * `hf:openai/gsm8k` or `hf:openai/gsm8k@<revision>` is a dataset of the Hub. Its split is fetched when it is used, once, into the cache that
 * Python shares.
 * @param path `.jsonl`, `.ndjson`, `.json` (an array), `.csv`, `.tsv` or `.parquet`. All but Parquet may be packed as `.gz`, or be a member
 *   of an archive: `data.zip/train.csv`. A relative path begins at the working folder; `new URL('train.jsonl', import.meta.url)` is
 *   beside the module.
 * @throws ToolEnvError `usage.dataset` for another format, and for a split that a dataset of the Hub does not have. When the file is read:
 *   `usage.missing_file`, `usage.broken_file` (not whole, not UTF-8, changed since), `usage.broken_record` for a row that the schema or `map`
 *   refuses, `usage.zip_member`; and what `fetchFiles` of @toolenv/hub throws. Each names the file, the row and a remedy.
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
  { schema, only, map, ...ofHub }: DatasetOptions<never, Task>,
): TaskSet<Task> {
  const isOfHub = typeof path === 'string' && path.startsWith('hf:');
  const given = Object.keys(ofHub)[0];
  if (!isOfHub && given !== undefined) {
    const message = `${path}: ${given} is an option of datasets of the Hugging Face Hub, such as hf:openai/gsm8k; leave it out.`;
    throw new ToolEnvError('usage.dataset', message);
  }
  const local = path instanceof URL ? fileURLToPath(path) : path;
  if (!isOfHub) formatOf(local);
  const toTask = async ({ value: row, isOfTexts, place }: Row, index: number): Promise<Task> => {
    const typed = schema && isOfTexts ? typedTexts(row, schema) : row;
    const value = schema ? withoutFilledNulls(schema, typed) : typed;
    const [mistake] = schema ? validate(schema, value) : [];
    if (mistake) {
      const where = mistake.path || 'it';
      throw brokenRow(place, `${where} ${mistake.expected}; received ${mistake.received}. Correct the row`);
    }
    try {
      const task = await map(value as never, index);
      const absent =
        isOfTexts && !schema
          ? Object.entries(Object(task)).find(([, field]) => field === undefined)
          : undefined;
      // Each row of such a file has all columns.
      if (absent)
        throw new Error(
          `it gave no value for "${absent[0]}". The columns are ${Object.keys(value as object).join(', ')}`,
        );
      if (task !== undefined) return task;
    } catch (error) {
      throw brokenRow(place, `map failed (${messageOf(error)}). Correct the row, or map`, error);
    }
    throw brokenRow(place, 'map returned undefined. Return a task for each row');
  };
  async function* tasks(files: readonly string[]) {
    let index = 0;
    for (const file of files)
      for await (const row of formats[formatOf(file)]!(file))
        if (!only || isOf(row, only)) yield await toTask(row, index++);
    if (index === 0) throw noRows(files[0]!, only);
  }
  return taskSet(async () => {
    const files = isOfHub ? await fetchSplit(path, ofHub, Object.keys(formats)) : [local];
    const [file] = files as [string];
    if (files.length > 1 || isInArchive(file)) return tasks(files);
    await requireFile(file);
    const isText = ['.jsonl', '.ndjson'].includes(formatOf(file));
    if (only || !isText || (await isGzip(file))) return tasks(files);
    const lines = await openLines(file);
    if (lines.length === 0) throw noRows(file);
    return { length: lines.length, get: async (index) => toTask(await lines.read(index), index) };
  });
}

/** The ending of a file that can be read, without `.gz`. @throws ToolEnvError `usage.dataset`. */
function formatOf(file: string): string {
  const extension = extname(file.replace(/\.gz$/i, '')).toLowerCase();
  if (Object.hasOwn(formats, extension)) return extension;
  const remedy = `give a file that ends with ${Object.keys(formats).join(', ')}, or with .gz after it`;
  throw new ToolEnvError('usage.dataset', `${file} is of no known format: ${remedy}.`);
}

function brokenRow(place: string, problem: string, cause?: unknown): ToolEnvError {
  return new ToolEnvError('usage.broken_record', `${place}: ${problem.replaceAll('\n', ' ')}.`, { cause });
}

function noRows(file: string, only?: object): ToolEnvError {
  const which = only ? ` with ${JSON.stringify(only)}` : '';
  return new ToolEnvError(
    'usage.broken_file',
    `${file} has no rows${which}: give a file that has at least one.`,
  );
}

/** Whether a row has the wanted values. @throws ToolEnvError `usage.broken_record` for a column that it lacks. */
function isOf({ value, place }: Row, only: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(only).every(([column, wanted]) => {
    if (Object.hasOwn(value, column))
      return String((value as Record<string, unknown>)[column]) === String(wanted);
    const hint = didYouMean(column, Object.keys(value), 'Columns');
    throw brokenRow(place, `there is no "${column}", which "only" asks for. ${hint}`.replace(/\.$/, ''));
  });
}

/** A text that is no number, or that a number cannot hold exactly, stays, so that the schema refuses it with its value. */
function typedTexts(row: object, schema: JsonSchema): object {
  const properties = Object(schema.properties) as Readonly<Record<string, JsonSchema>>;
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, text]) => {
      const wanted = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const value = typeof text === 'string' ? typed(text, Object(wanted)) : text;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function typed(text: string, { type, enum: choices }: { type?: unknown; enum?: unknown }): unknown {
  const types: unknown[] = [type ?? []].flat();
  if (type === undefined && Array.isArray(choices))
    return choices.includes(text) ? text : (choices.find((choice) => String(choice) === text) ?? text);
  if (types.length === 0 || types.includes('string')) return text;
  const bare = text.trim();
  if (bare === '') return types.includes('null') ? null : undefined;
  if (types.includes('boolean') && /^(true|false)$/i.test(bare)) return bare.toLowerCase() === 'true';
  const isNumber = types.includes('number') || types.includes('integer');
  if (!isNumber || !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(bare)) return text;
  const value = Number(bare);
  // A whole number that is too large, such as an id, would become another.
  const isExact = Number.isFinite(value) && (!/^[+-]?\d+$/.test(bare) || Number.isSafeInteger(value));
  return isExact ? value : text;
}
