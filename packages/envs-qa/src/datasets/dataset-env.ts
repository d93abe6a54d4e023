/** defineDatasetEnv: questions from the files of a dataset, sampled and divided into splits. */
import {
  createRng,
  deriveSeed,
  type EnvDefinition,
  type JsonSchema,
  type PublishedData,
  type Rng,
  type Split,
  type TaskSources,
} from '@toolenv/core';
import { defineQaEnv, type QaFamily, type QaOptions } from '../qa-env.ts';
import { documentsOf, type QaRecord, type QaTask } from '../qa-record.ts';
import { type RecordFormat, streamRecords } from './read-records.ts';

export interface DatasetOptions extends QaOptions {
  /** File of the training questions, and of each split without its own file. */
  path: string;
  validationPath?: string;
  testPath?: string;
  /** Records of each split, drawn by `sampleSeed`. Default: all. */
  trainCount?: number;
  validationCount?: number;
  testCount?: number;
  sampleSeed?: number;
  /**
   * What is searched: the paragraphs of all `contexts`, those of the `question` alone, as in the distractor setting, or an index that
   * the search tool has `elsewhere`, as Wikipedia in the fullwiki setting.
   */
  corpus?: 'contexts' | 'question' | 'elsewhere';
}

export interface Dataset<Options>
  extends Pick<QaFamily<Options>, 'name' | 'description' | 'f1' | 'maxTurns' | 'mayBeUnanswerable'> {
  format: RecordFormat;
  data: PublishedData;
  /** Default of the option. Default: `contexts`. */
  corpus?: DatasetOptions['corpus'];
  /** Options in addition to {@link DatasetOptions}. */
  options?: Record<string, JsonSchema>;
  /** Completes the records that were drawn. */
  complete?(records: readonly QaRecord[], options: Options): Promise<void>;
}

export function defineDatasetEnv<Options extends DatasetOptions = DatasetOptions>({
  format,
  corpus = 'contexts',
  options = {},
  complete,
  ...family
}: Dataset<Options>): EnvDefinition<QaTask, Options> {
  return defineQaEnv<Options, QaTask>({
    ...family,
    options: { ...datasetOptions(format.name, corpus), ...options },
    required: ['path'],
    async load(given) {
      const isAsked = ({ answerable }: QaRecord) => family.mayBeUnanswerable || answerable !== false;
      const drawn = await drawRecords(given, format, isAsked);
      const all = Object.values(drawn).flat();
      // A file need not have records of every split.
      const records: TaskSources<QaTask> = Object.fromEntries(
        Object.entries(drawn).filter(([, found]) => found.length > 0),
      );
      await complete?.(all, given);
      const searched = given.corpus ?? corpus;
      if (searched === 'question') return { records, documents: 'own' };
      const documents = searched === 'elsewhere' ? searched : documentsOf(all);
      // Trajectories hold their tasks.
      for (const task of all as QaTask[]) delete task.context;
      return { records, documents };
    },
  });
}

function datasetOptions(format: string, corpus: string): Record<string, JsonSchema> {
  const file = { type: 'string', minLength: 1 };
  const count = { type: 'integer', minimum: 0 };
  const all = 'drawn by sampleSeed (default: all)';
  return {
    path: {
      ...file,
      description: `file of records in the JSON format of ${format}, also packed as .gz, or a member of an archive, such as data.zip/train.json`,
    },
    validationPath: { ...file, description: 'file of the validation split (default: 10 % of path)' },
    testPath: { ...file, description: 'file of the test split (default: 10 % of path)' },
    trainCount: { ...count, description: `training questions, ${all}` },
    validationCount: { ...count, description: `validation questions, ${all}` },
    testCount: { ...count, description: `test questions, ${all}` },
    sampleSeed: { type: 'integer', default: 0, description: 'seeds the choice of questions' },
    corpus: {
      enum: ['contexts', 'question', 'elsewhere'],
      default: corpus,
      description:
        "what is searched: the paragraphs of all contexts, those of the question alone, or the search tool's own index",
    },
  };
}

/** Streams each file once, and holds the records that are drawn. A file of which none is drawn is not read. */
async function drawRecords(
  { path, validationPath, testPath, sampleSeed = 0, ...counts }: DatasetOptions,
  format: RecordFormat,
  isAsked: (record: QaRecord) => boolean,
): Promise<Record<Split, QaRecord[]>> {
  const samples: Record<Split, Sample<QaRecord>> = {
    train: new Sample(counts.trainCount, sampleSeed),
    validation: new Sample(counts.validationCount, sampleSeed),
    test: new Sample(counts.testCount, sampleSeed),
  };
  const own: Partial<Record<Split, string>> = { validation: validationPath, test: testPath };
  for (const [split, file] of Object.entries(own) as [Split, string | undefined][]) {
    if (file === undefined || samples[split].size === 0) continue;
    for await (const record of streamRecords(file, format)) if (isAsked(record)) samples[split].add(record);
  }
  const shared = (Object.keys(samples) as Split[]).filter((split) => own[split] === undefined);
  if (shared.some((split) => samples[split].size > 0)) {
    for await (const record of streamRecords(path, format)) {
      if (!isAsked(record)) continue;
      const split = splitOf(record);
      samples[shared.includes(split) ? split : 'train'].add(record);
    }
  }
  return { train: samples.train.items, validation: samples.validation.items, test: samples.test.items };
}

/**
 * Divides the records 80/10/10 % by a hash of their ids, whatever the run's seed, so that no run trains on another run's test questions.
 * Both records of a question of MuSiQue-Full have one id.
 */
function splitOf({ _id }: QaRecord): Split {
  const bucket = deriveSeed(0, 'split', _id) % 10;
  if (bucket === 0) return 'test';
  return bucket === 1 ? 'validation' : 'train';
}

/**
 * n of a stream's items, each with equal chance, without holding the others. Equal seeds and streams give equal samples. Without a size
 * it keeps all items, in their order.
 */
class Sample<Item> {
  readonly items: Item[] = [];
  /** Most items. */
  readonly size: number;
  readonly #rng: Rng;
  #seen = 0;

  constructor(size: number = Number.POSITIVE_INFINITY, seed = 0) {
    this.size = size;
    this.#rng = createRng(seed, 'sample');
  }

  /** Algorithm R (Vitter 1985): the k-th item enters with chance size / k, in place of a random one. */
  add(item: Item): void {
    this.#seen++;
    if (this.items.length < this.size) {
      this.items.push(item);
      return;
    }
    const place = this.#rng.int(this.#seen);
    if (place < this.size) this.items[place] = item;
  }
}
