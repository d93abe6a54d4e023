/** IndexRecord: what an index of passages says about itself. It is in the same database as the passages. */
import type { Connection, Table } from '@lancedb/lancedb';
import { messageOf } from '@toolenv/core';
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
  const table = await openTable(connection, recordTable);
  if (!table) return undefined;
  const rows = (await table.query().toArray()) as { json: string }[];
  table.close();
  return rows[0] && (JSON.parse(rows[0].json) as IndexRecord);
}

export async function writeRecord(connection: Connection, record: IndexRecord): Promise<void> {
  const rows = [{ json: JSON.stringify(record) }];
  const table = await connection.createTable(recordTable, rows, { mode: 'overwrite' });
  table.close();
}

/** `undefined` if there is none. A folder without a version is what a process left that ended before its first commit. */
export async function openTable(connection: Connection, name: string): Promise<Table | undefined> {
  if (!(await connection.tableNames({ limit: 10_000 })).includes(name)) return undefined;
  try {
    return await connection.openTable(name);
  } catch (error) {
    if (/was not found/.test(messageOf(error))) return undefined;
    throw error;
  }
}

/** The name of the index of the words; `undefined` if there is none, or files of it are missing or damaged. */
export async function wordIndexOf(table: Table): Promise<string | undefined> {
  return (await table.listIndices()).find(({ columns }) => columns.includes(bodyColumn))?.name;
}

/** Whether the passages and the index of their words are there, and not only the record. */
export async function isWhole(connection: Connection, { passages }: IndexRecord): Promise<boolean> {
  const table = passages === undefined ? undefined : await openTable(connection, passageTable);
  if (!table) return false;
  try {
    return (await table.countRows()) === passages && (await wordIndexOf(table)) !== undefined;
  } finally {
    table.close();
  }
}
