/**
 * docs/recipes/multihop-qa.md and examples/multihop-qa: the commands of the page run on stand-ins under the names of the real files.
 * Questions and corpus are those of a synthetic world, the model is the tiny policy, and steps are small.
 */
import { execFile } from 'node:child_process';
import { appendFile, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { bridgeQuestions, comparisonQuestions, createWorld, textOf } from '@toolenv/envs-qa';
import { readMetrics } from '@toolenv/training';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { zip } from '../../packages/core/test/zip.ts';
import {
  type EmbeddingsServer,
  startEmbeddings,
} from '../../packages/tools-search/test/embeddings-server.ts';
import { writeDatasets } from '../datasets/write-datasets.ts';
import { newFolder } from '../test/new-folder.ts';
import { shell, shellEnv } from './shell.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Flags that make the settings small: the last of two flags counts. */
const small: Readonly<Record<string, string>> = {
  'questions.flags': '--train-count 20 --validation-count 4 --env-top-k 2',
  'training.flags':
    '--max-tokens 32 --steps 2 --tasks-per-step 2 --group-size 2 --evaluate-every 1 --evaluation-episodes 2',
  'ppo.flags': '--critic-warmup 1',
  'one-gpu.flags': '--device cpu --max-tokens 32 --steps 1 --tasks-per-step 2',
  'evaluation.flags': '--env-top-k 2 --max-tokens 32 --count 3',
};

const folder = await newFolder();
let embeddings: EmbeddingsServer;
beforeAll(async () => {
  embeddings = await startEmbeddings();
  await writeStandIns();
});
afterAll(() => embeddings.close());

async function writeStandIns(): Promise<void> {
  const [data, made] = [join(folder, 'data'), join(folder, 'made')];
  const counts = { train: 60, validation: 6, test: 6 };
  await writeDatasets(made, [bridgeQuestions, comparisonQuestions], { seed: 1, counts });
  await mkdir(data);
  const text = (path: string) => readFile(join(made, path), 'utf8');
  for (const [name, split] of [
    ['hotpot_train_v1.1.json', 'train'],
    ['hotpot_dev_distractor_v1.json', 'dev'],
    ['hotpot_dev_fullwiki_v1.json', 'dev'],
  ]) {
    await cp(join(made, 'hotpotqa', `${split}.json`), join(data, name!));
  }
  const members = async (dataset: string, inside: string) => {
    const names = await readdir(join(made, dataset));
    const texts = await Promise.all(names.map((name) => text(join(dataset, name))));
    return Object.fromEntries(names.map((name, i) => [inside + name, texts[i]!]));
  };
  await writeFile(join(data, 'data_ids_april7.zip'), zip(await members('2wikimultihopqa', '')));
  await writeFile(join(data, 'musique_v1.0.zip'), zip(await members('musique', 'data/')));
  const lines = createWorld(1).documents.map((document, id) =>
    JSON.stringify({ id: `${id}`, contents: `"${document.title}"\n${textOf(document)}` }),
  );
  await writeFile(join(folder, 'wiki-18.jsonl.gz'), gzipSync(lines.join('\n')));
  await symlink(join(root, 'packages/checkpoints/tiny'), join(folder, 'Qwen2.5-3B-Instruct'));
  await cp(join(root, 'examples/multihop-qa'), join(folder, 'multihop-qa'), { recursive: true });
  for (const [name, flags] of Object.entries(small))
    await appendFile(join(folder, 'multihop-qa', name), `${flags}\n`);
}

test('the commands of the recipe run', async () => {
  const page = await readFile(join(root, 'docs/recipes/multihop-qa.md'), 'utf8');
  const blocks = page.matchAll(/<!-- not run: multihop-qa\.test\.ts runs it -->\n```sh\n([\s\S]*?)```/g);
  const script = shell + Array.from(blocks, ([, code]) => code).join('\n');
  const env = { ...process.env, ...shellEnv, EMBEDDINGS: embeddings.url };
  const { stdout } = await run('bash', ['-c', script], { cwd: folder, env, maxBuffer: 2 ** 26 }).catch(
    (error) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    },
  );
  expect(stdout).toContain('wiki-vectors has an index of');

  const algorithms = ['grpo', 'ppo', 'rloo', 'reinforce++'];
  const ablations = ['grpo-no-action-mask', 'ppo-no-action-mask', 'ppo-no-advantage-mask'];
  const runs = [...algorithms, ...ablations, 'grpo-one-gpu', 'ppo-one-gpu', 'grpo-workers'];
  const config = async (name: string) =>
    JSON.parse(await readFile(join(folder, 'runs', name, 'config.json'), 'utf8'));
  for (const name of runs) {
    const metrics = await readMetrics(join(folder, 'runs', name));
    const steps = metrics.filter(({ type }) => type === 'update').map(({ step }) => step);
    expect(steps, name).toEqual(name.endsWith('one-gpu') ? [1] : [1, 2]);
    expect(await readdir(join(folder, 'runs', name, 'policy')), name).toContain('model.safetensors');
  }
  for (const name of [...algorithms, ...ablations]) {
    const { envOptions } = await config(name);
    expect(Object.keys(envOptions), name).toEqual(['hotpotqa-v1', '2wikimultihopqa-v1']);
    const { path, aliasPath, trainCount, corpus } = envOptions['2wikimultihopqa-v1'];
    expect([path, aliasPath, trainCount, corpus]).toEqual([
      'data/data_ids_april7.zip/train.json',
      'data/data_ids_april7.zip/id_aliases.json',
      20,
      'elsewhere',
    ]);
  }
  const masks = async (name: string) => {
    const { actionMask, advantageMask } = (await config(name)).trainerOptions;
    return [actionMask, advantageMask];
  };
  expect(await masks('ppo')).toEqual([true, true]);
  expect(await masks('ppo-no-action-mask')).toEqual([false, true]);
  expect(await masks('ppo-no-advantage-mask')).toEqual([true, false]);

  for (const dataset of ['hotpotqa', '2wikimultihopqa', 'musique']) {
    const read = async (path: string) =>
      JSON.parse(await readFile(join(folder, 'runs', dataset, path), 'utf8'));
    expect(await read('naive-rag/summary.json')).toMatchObject({ episodes: 3, aborted: 0, turns: 2 });
    expect(await read('base-tool-call/summary.json')).toMatchObject({ episodes: 3, aborted: 0 });
    const { policies, differences } = await read('trained/comparison.json');
    expect(policies.map(({ policy }: { policy: string }) => policy)).toEqual([
      'Qwen2.5-3B-Instruct',
      ...algorithms.map((name) => `runs/${name}/policy`),
    ]);
    expect(differences).toHaveLength(4);
    expect((await read('grpo-and-naive-rag/comparison.json')).differences).toHaveLength(1);
  }
}, 1_800_000);
