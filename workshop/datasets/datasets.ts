/**
 * `npm run datasets`: writes files in the formats of HotpotQA, 2WikiMultihopQA and MuSiQue from a synthetic world, under the names that
 * the authors give theirs, for tests and to train on.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Split } from '@toolenv/core';
import { makeFolder, writing } from '@toolenv/core/recording';
import {
  bridgeQuestions,
  comparisonQuestions,
  composeQuestions,
  createWorld,
  lookupQuestions,
  type QuestionFamily,
} from '@toolenv/envs-qa';
import { parseFlags, runAsProcess } from 'toolenv';
import { aliasLines, toMusique, toMusiqueFull, toWikimultihop, worldRecords } from './world-dataset.ts';

const families: Readonly<Record<string, QuestionFamily>> = {
  bridge: bridgeQuestions,
  compose: composeQuestions,
  comparison: comparisonQuestions,
  lookup: lookupQuestions,
};

const schema = {
  type: 'object',
  properties: {
    out: { type: 'string', default: 'runs/datasets', description: 'folder of the files' },
    seed: { type: 'integer', minimum: 0, default: 1, description: 'seeds the world and its questions' },
    questions: {
      enum: ['bridge', 'compose', 'comparison', 'lookup', 'all'],
      default: 'bridge',
      description: 'family of the questions',
    },
    train: { type: 'integer', minimum: 1, default: 4000, description: 'training questions of a family' },
    dev: { type: 'integer', minimum: 1, default: 400, description: 'validation questions of a family' },
    test: { type: 'integer', minimum: 1, default: 800, description: 'test questions of a family' },
  },
} as const;

/** The world's name of each file's split. */
const splits: Readonly<Record<'train' | 'dev' | 'test', Split>> = {
  train: 'train',
  dev: 'validation',
  test: 'test',
};

await runAsProcess(async () => {
  const given = await parseFlags(schema, {
    name: 'datasets',
    description: 'Writes files in the formats of published datasets from a synthetic world.',
    argv: process.argv.slice(2),
  });
  if (!given) return;
  const { out, seed, questions } = given;
  const asked = questions === 'all' ? Object.values(families) : [families[questions]!];
  const write = async (folder: string, name: string, text: string) => {
    const path = join(out, folder, name);
    await makeFolder(join(out, folder));
    await writing(path, () => writeFile(path, text));
    process.stdout.write(`${path}\n`);
  };
  for (const [name, split] of Object.entries(splits)) {
    const items = worldRecords(asked, { seed, split, count: given[name as keyof typeof splits] });
    const records = items.map(({ record }) => record);
    await write('hotpotqa', `${name}.json`, JSON.stringify(records));
    await write('2wikimultihopqa', `${name}.json`, JSON.stringify(items.map(toWikimultihop)));
    await write('musique', `musique_ans_v1.0_${name}.jsonl`, lines(items.map(toMusique)));
    await write('musique', `musique_full_v1.0_${name}.jsonl`, lines(items.flatMap(toMusiqueFull)));
  }
  await write('2wikimultihopqa', 'id_aliases.json', lines(aliasLines(createWorld(seed))));
});

function lines(objects: readonly object[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('');
}
