/** writeDatasets: files in the formats of HotpotQA, 2WikiMultihopQA and MuSiQue, under the names that the authors give theirs. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Split } from '@toolenv/core';
import { ensureDir, withDiskErrors } from '@toolenv/core/files';
import { createWorld, type QuestionFamily } from '@toolenv/envs-qa';
import { aliasLines, toMusique, toMusiqueFull, toWikimultihop, worldRecords } from './world-dataset.ts';

/** The part of a file's name that stands for its split. */
const names: Readonly<Record<Split, string>> = { train: 'train', validation: 'dev', test: 'test' };

/**
 * Writes `hotpotqa/train.json`, `2wikimultihopqa/train.json`, `2wikimultihopqa/id_aliases.json`, `musique/musique_ans_v1.0_train.jsonl`,
 * `musique/musique_full_v1.0_train.jsonl`, and the same for `dev` and `test`.
 * @param counts Questions of each family in each split.
 * @returns The paths of the files.
 */
export async function writeDatasets(
  folder: string,
  families: readonly QuestionFamily[],
  { seed, counts }: { seed: number; counts: Readonly<Record<Split, number>> },
): Promise<string[]> {
  const paths: string[] = [];
  const write = async (dataset: string, file: string, text: string) => {
    const path = join(folder, dataset, file);
    await ensureDir(join(folder, dataset));
    await withDiskErrors(path, () => writeFile(path, text));
    paths.push(path);
  };
  for (const [split, name] of Object.entries(names) as [Split, string][]) {
    const items = worldRecords(families, { seed, split, count: counts[split] });
    const records = items.map(({ record }) => record);
    await write('hotpotqa', `${name}.json`, JSON.stringify(records));
    await write('2wikimultihopqa', `${name}.json`, JSON.stringify(items.map(toWikimultihop)));
    await write('musique', `musique_ans_v1.0_${name}.jsonl`, lines(items.map(toMusique)));
    await write('musique', `musique_full_v1.0_${name}.jsonl`, lines(items.flatMap(toMusiqueFull)));
  }
  await write('2wikimultihopqa', 'id_aliases.json', lines(aliasLines(createWorld(seed))));
  return paths;
}

function lines(objects: readonly object[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('');
}
