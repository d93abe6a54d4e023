/** buildPassageIndex: makes an index of passages from a file in constant memory, and continues where an earlier call stopped. */
import '../quiet-lance.ts';
import { resolve } from 'node:path';
import { type Connection, connect, Index, Session, type Table } from '@lancedb/lancedb';
import { ToolEnvError } from '@toolenv/core';
import { ensureDir, type FolderLock, lockFolder, refuseLostFolder } from '@toolenv/core/files';
import { completeOptions } from '@toolenv/core/plugins';
import { Field, FixedSizeList, Float32, Schema, Utf8 } from 'apache-arrow';
import type { Embedder } from '../embeddings/open-embedder.ts';
import { openEmbedder } from '../embeddings/open-embedder.ts';
import { setLanceThreads } from '../lance-threads.ts';
import { type CompleteIndexOptions, type IndexOptions, indexOptionsSchema } from './index-options.ts';
import {
  bodyColumn,
  type IndexRecord,
  isWhole,
  openTable,
  passageTable,
  readRecord,
  vectorColumn,
  writeRecord,
} from './index-record.ts';
import { lanceError } from './lance-error.ts';
import type { Passage } from './passage-formats.ts';
import { openPassages, type PassageFile, readPassages } from './read-passages.ts';

export interface BuildIndexOptions extends IndexOptions {
  /** A file of passages, gzipped or not. */
  passages: string;
  /** The folder of the index, or a URI that LanceDB takes, such as `s3://bucket/index`. */
  folder: string;
  /** Called after each batch, and when a stage begins. */
  onProgress?(progress: IndexProgress): void;
  signal?: AbortSignal;
}

export interface IndexProgress {
  stage: 'adding' | 'merging' | 'indexing words' | 'indexing vectors';
  /** Passages in the index so far. */
  passages: number;
  /** Share of the file that was read, from 0 to 1. */
  share: number;
}

/** A batch has at most this many passages, and this many characters. Each batch is one commit. */
const batchPassages = 10_000;
const batchCharacters = 32 * 2 ** 20;
/** LanceDB's caches, 7 GB by default, are of no use while an index is built. */
const cacheBytes = 64n * 2n ** 20n;
/** Texts of one call of the embedder. A batch of vectors is kept in memory. */
const embeddedPassages = 2_000;
/**
 * Dimensions that the vector index keeps in one byte. LanceDB's default of 16 found 0.63 of the five nearest of 40,000 random vectors of
 * 64 dimensions, and 8 found 0.87.
 */
const quantised = 8;
/** Fewer vectors are searched one by one, which is exact. */
const minIndexedVectors = 20_000;

/**
 * Builds the index. Each batch is committed at once, so that a call after a crash, `kill -9` or a full disk continues with the
 * first passage that is missing.
 * @returns The number of passages.
 * @throws ToolEnvError `usage.passages` for a file that is broken; `usage.index` if the folder has an index of another file or
 *   with other options; `usage.folder_in_use`, `infrastructure.folder_lost`, `infrastructure.disk`, `infrastructure.search_index`, and the signal's reason.
 */
export async function buildPassageIndex(options: BuildIndexOptions): Promise<number> {
  const { passages, folder, onProgress, signal, ...given } = options;
  const complete = completeOptions(indexOptionsSchema, given, 'toolenv index');
  const file = await openPassages(passages, complete.format);
  setLanceThreads();
  if (!isUri(folder)) await ensureDir(folder);
  const embedder = await openEmbedder(complete);
  const work = `Indexing ${passages} in ${folder}`;
  let lock: FolderLock | undefined;
  try {
    const connection = await connect(folder, { session: new Session(cacheBytes, cacheBytes) });
    const source = { path: resolve(passages), bytes: file.size };
    const wanted: IndexRecord = { layout: 1, source, options: { ...complete, format: file.format } };
    const find = async () => {
      const record = await readRecord(connection);
      if (record) checkSame(record, wanted, folder);
      return { kept: record, whole: record && (await isWhole(connection, record)) };
    };
    const before = await find();
    if (before.whole) return before.kept!.passages!;
    // A folder that only reads need not be one that can be written.
    lock = isUri(folder) ? undefined : await lockFolder(folder);
    const { kept, whole } = await find();
    if (whole) return kept!.passages!;
    const record = { ...wanted, dimensions: kept?.dimensions };
    const parts = { connection, folder, file, record, embedder, onProgress, signal };
    return await new IndexBuilder(parts).build();
  } catch (error) {
    signal?.throwIfAborted();
    throw lanceError(error, work);
  } finally {
    await lock?.release();
    await embedder?.close();
  }
}

interface Work {
  folder: string;
  connection: Connection;
  file: PassageFile;
  record: IndexRecord;
  embedder: Embedder | undefined;
  onProgress: BuildIndexOptions['onProgress'];
  signal: AbortSignal | undefined;
}

class IndexBuilder {
  readonly #work: Work;
  #table: Table | undefined;
  /** Bytes of the file that were read. */
  #bytes = 0;

  constructor(work: Work) {
    this.#work = work;
  }

  async build(): Promise<number> {
    const { connection, file, record, embedder, signal } = this.#work;
    if (embedder && record.dimensions === undefined) {
      const [vector] = await embedder.embed(['dimensions'], { kind: 'passage', signal });
      record.dimensions = vector!.length;
    }
    await writeRecord(connection, record);
    const count = await this.#add();
    if (count === 0) throw new ToolEnvError('usage.passages', `${file.path} has no passages.`);
    await this.#merge(count);
    await this.#index(count);
    await refuseLostFolder(this.#work.folder);
    await writeRecord(connection, { ...record, passages: count });
    this.#table!.close();
    return count;
  }

  /** Adds the passages that are missing. */
  async #add(): Promise<number> {
    const { connection, file, embedder, signal } = this.#work;
    this.#table = await openTable(connection, passageTable);
    const present = (await this.#table?.countRows()) ?? 0;
    const most = embedder ? embeddedPassages : batchPassages;
    let count = 0;
    let characters = 0;
    let batch: Passage[] = [];
    const commit = async () => {
      await this.#commit(batch);
      batch = [];
      characters = 0;
      this.#report('adding', count);
    };
    this.#report('adding', present);
    const onBytes = (bytes: number) => {
      this.#bytes = bytes;
    };
    for await (const passage of readPassages(file, onBytes)) {
      count += 1;
      if (count === present) await this.#checkLast(passage, present);
      if (count <= present) continue;
      batch.push(passage);
      characters += passage.title.length + passage.text.length;
      if (batch.length >= most || characters >= batchCharacters) await commit();
      signal?.throwIfAborted();
    }
    if (batch.length > 0) await commit();
    const rows = (await this.#table?.countRows()) ?? 0;
    if (rows === count) return count;
    throw otherPassages(`The index has ${rows} passages, and the file has ${count}`);
  }

  /** A line of the file may have been repaired since the passages were added. Then those before it are the same. */
  async #checkLast({ id, title, text }: Passage, present: number): Promise<void> {
    const query = this.#table!.query().select(['id', bodyColumn]);
    const [last] = (await query
      .offset(present - 1)
      .limit(1)
      .toArray()) as { id: string; body: string }[];
    if (last!.id === id && last!.body === bodyOf(title, text)) return;
    throw otherPassages(`The index has other passages than ${this.#work.file.path}`);
  }

  async #commit(batch: readonly Passage[]): Promise<void> {
    const { connection, embedder, signal, record } = this.#work;
    const bodies = batch.map(({ title, text }) => bodyOf(title, text));
    const vectors = await embedder?.embed(bodies, { kind: 'passage', signal });
    const other = vectors?.find(({ length }) => length !== record.dimensions);
    if (other) {
      const message = `The embeddings have ${other.length} numbers, and those in the index ${record.dimensions}: use the model that the index was begun with, or another folder.`;
      throw new ToolEnvError('usage.embeddings', message);
    }
    const rows = batch.map(({ id, title }, index) => ({
      id,
      title,
      [bodyColumn]: bodies[index]!,
      ...(vectors && { [vectorColumn]: Array.from(vectors[index]!) }),
    }));
    await refuseLostFolder(this.#work.folder);
    if (this.#table) await this.#table.add(rows);
    else {
      const options = { schema: schemaOf(record), mode: 'overwrite' as const };
      this.#table = await connection.createTable(passageTable, rows, options);
    }
  }

  /**
   * Merges the files of the batches into files of up to a million passages. A search opens each file that has one of its hits, and with
   * 500 files, 64 searches at once opened more than 20,000.
   */
  async #merge(count: number): Promise<void> {
    this.#work.signal?.throwIfAborted();
    if ((await this.#table!.listIndices()).length > 0) return;
    this.#report('merging', count);
    await refuseLostFolder(this.#work.folder);
    await this.#table!.optimize({ cleanupOlderThan: new Date() });
  }

  async #index(count: number): Promise<void> {
    const { record, signal } = this.#work;
    const { language, stem, stopWords, asciiFolding } = record.options;
    const indexed = (await this.#table!.listIndices()).flatMap(({ columns }) => columns);
    signal?.throwIfAborted();
    await refuseLostFolder(this.#work.folder);
    if (!indexed.includes(bodyColumn)) {
      this.#report('indexing words', count);
      const config = Index.fts({
        baseTokenizer: 'simple',
        language,
        lowercase: true,
        stem,
        removeStopWords: !stopWords,
        asciiFolding,
        withPosition: false,
      });
      await this.#table!.createIndex(bodyColumn, { config });
    }
    signal?.throwIfAborted();
    if (!record.dimensions || count < minIndexedVectors || indexed.includes(vectorColumn)) return;
    this.#report('indexing vectors', count);
    await refuseLostFolder(this.#work.folder);
    const numSubVectors = record.dimensions % quantised === 0 ? record.dimensions / quantised : undefined;
    const config = Index.ivfPq({ distanceType: 'cosine', numSubVectors });
    await this.#table!.createIndex(vectorColumn, { config });
  }

  #report(stage: IndexProgress['stage'], passages: number): void {
    const { onProgress, file } = this.#work;
    onProgress?.({ stage, passages, share: Math.min(1, this.#bytes / file.size) });
  }
}

function schemaOf({ dimensions }: IndexRecord): Schema {
  const fields: Field[] = ['id', 'title', bodyColumn].map((name) => new Field(name, new Utf8(), false));
  if (dimensions !== undefined) {
    const numbers = new FixedSizeList(dimensions, new Field('item', new Float32(), true));
    fields.push(new Field(vectorColumn, numbers, false));
  }
  return new Schema(fields);
}

function bodyOf(title: string, text: string): string {
  return `${title}\n${text}`;
}

function otherPassages(what: string): ToolEnvError {
  return new ToolEnvError('usage.index', `${what}: give another folder, or delete the index.`);
}

/**
 * The file of an index that is not complete may have another size: a broken line was repaired.
 * @throws ToolEnvError `usage.index` if the folder has another index.
 */
function checkSame(kept: IndexRecord, wanted: IndexRecord, folder: string): void {
  const remedy = 'give another folder, or delete this index.';
  const isOther = kept.passages !== undefined && kept.source.bytes !== wanted.source.bytes;
  if (isOther || kept.options.format !== wanted.options.format) {
    const message = `${folder} has an index of ${kept.source.path} with ${kept.source.bytes} bytes: ${remedy}`;
    throw new ToolEnvError('usage.index', message);
  }
  const names = Object.keys({ ...kept.options, ...wanted.options }) as (keyof CompleteIndexOptions)[];
  const other = names.find((name) => kept.options[name] !== wanted.options[name]);
  if (other === undefined) return;
  const value = JSON.stringify(kept.options[other]);
  const message = `${folder} has an index whose option ${other} is ${value}: ${remedy}`;
  throw new ToolEnvError('usage.index', message);
}

/** Whether a name is no folder of this machine. */
export function isUri(folder: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(folder);
}
