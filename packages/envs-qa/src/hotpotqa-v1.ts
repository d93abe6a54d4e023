/** The environment `hotpotqa-v1`: questions from files in HotpotQA's JSON format. */
import { deriveSeed, type EnvDefinition, type Split } from '@toolenv/core';
import { joinSentences, type QaRecord, readRecords } from './hotpotqa-record.ts';
import { defineQaEnv, type QaDocument, type QaMaterial, type QaOptions } from './qa-env.ts';

export interface HotpotQaOptions extends QaOptions {
  /** File of the training questions, and of each split without its own file. */
  path: string;
  validationPath?: string;
  testPath?: string;
  /** Seeds the division of `path` into splits. Independent of the run's seed, so that no run trains on another run's test questions. */
  splitSeed?: number;
}

const hotpotqa: EnvDefinition<QaRecord, HotpotQaOptions> = defineQaEnv<HotpotQaOptions>({
  name: 'hotpotqa-v1',
  description:
    'Questions from files in the JSON format of HotpotQA; the search covers the paragraphs of all contexts.',
  options: {
    path: { type: 'string', minLength: 1, description: 'File of records in the JSON format of HotpotQA.' },
    validationPath: {
      type: 'string',
      minLength: 1,
      description: 'File of the validation split. Default: 10 % of path.',
    },
    testPath: { type: 'string', minLength: 1, description: 'File of the test split. Default: 10 % of path.' },
    splitSeed: { type: 'integer', default: 0, description: 'Seeds the division of path into splits.' },
  },
  required: ['path'],
  load,
});

export default hotpotqa;

async function load({ path, validationPath, testPath, splitSeed = 0 }: HotpotQaOptions): Promise<QaMaterial> {
  const records: Record<Split, QaRecord[]> = {
    train: [],
    validation: validationPath ? await readRecords(validationPath) : [],
    test: testPath ? await readRecords(testPath) : [],
  };
  const filled: Partial<Record<Split, string>> = { validation: validationPath, test: testPath };
  for (const record of await readRecords(path)) {
    const split = splitOf(record, splitSeed);
    records[filled[split] ? 'train' : split].push(record);
  }
  return { records, documents: documentsOf(Object.values(records).flat()) };
}

/** Divides the records 80/10/10 % by a hash of their ids. */
function splitOf({ _id }: QaRecord, seed: number): Split {
  const bucket = deriveSeed(seed, 'split', _id) % 10;
  if (bucket === 0) return 'test';
  return bucket === 1 ? 'validation' : 'train';
}

/** The paragraphs of all contexts, one per title, since an article may be in many contexts. */
function documentsOf(records: readonly QaRecord[]): QaDocument[] {
  const texts = new Map<string, string>();
  for (const { context } of records) {
    for (const [title, sentences] of context)
      if (!texts.has(title)) texts.set(title, joinSentences(sentences));
  }
  return Array.from(texts, ([title, text]) => ({ title, text }));
}
