/** IndexRecord: what an index of passages says about itself. It is in the same database as the passages. */
import type { Connection, Table } from '@lancedb/lancedb';
import type { CompleteIndexOptions } from './index-options.ts';

export interface IndexRecord {
  /** Version of the layout of tables and columns. */
  layout: 1;
  /** The file that the passages come from: its size tells whether it has changed. */
  source: { path: string; bytes: number };
  options: CompleteIndexOptions;
  /** Numbers of a vector; absent without embeddings. */
  dimensions?: number;
  /** Number of passages; absent until all are indexed. */
  passages?: number;
}

const recordTable = 'about';
export const passageTable = 'passages';
/** Columns of {@link passageTable}. `body` is the title, a line break and the text. */
export const bodyColumn = 'body';
export const vectorColumn = 'vector';

/** `undefined` if the database has none. */
export async function readRecord(connection: Connection): Promise<IndexRecord | undefined> {
  if (!(await hasTable(connection, recordTable))) return undefined;
  const table = await connection.openTable(recordTable);
  const rows = (await table.query().toArray()) as { json: string }[];
  table.close();
  return rows[0] && (JSON.parse(rows[0].json) as IndexRecord);
}

export async function writeRecord(connection: Connection, record: IndexRecord): Promise<void> {
  const rows = [{ json: JSON.stringify(record) }];
  const mode = (await hasTable(connection, recordTable)) ? 'overwrite' : 'create';
  const table = await connection.createTable(recordTable, rows, { mode });
  table.close();
}

export async function hasTable(connection: Connection, name: string): Promise<boolean> {
  return (await connection.tableNames({ limit: 10_000 })).includes(name);
}

/** The name of the index of the words; `undefined` if there is none, or files of it are missing or damaged. */
export async function wordIndexOf(table: Table): Promise<string | undefined> {
  return (await table.listIndices()).find(({ columns }) => columns.includes(bodyColumn))?.name;
}

/** Whether the passages and the index of their words are there, and not only the record. */
export async function isWhole(connection: Connection, { passages }: IndexRecord): Promise<boolean> {
  if (passages === undefined || !(await hasTable(connection, passageTable))) return false;
  const table = await connection.openTable(passageTable);
  try {
    return (await table.countRows()) === passages && (await wordIndexOf(table)) !== undefined;
  } finally {
    table.close();
  }
}
