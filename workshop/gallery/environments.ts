/** The environments that the packages of the repository declare, and what the gallery needs to play each of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bridgeQuestions } from '@toolenv/envs-qa';
import { toMusiqueFull, worldRecords } from '../datasets/world-dataset.ts';
import { writeProblems } from '../datasets/write-problems.ts';

const root = join(import.meta.dirname, '../..');

export interface Environment {
  /** `@toolenv/envs-qa/bridge-v1`. */
  ref: string;
  /** `bridge-v1`. */
  name: string;
  /** Folder of its package: `envs-qa`. */
  folder: string;
  /** Options without which it has no tasks. */
  options?: Promise<Record<string, unknown>>;
  /** What the command in the gallery adds, such as the file of tasks. */
  flags?: string;
  /** Folder of a task that is drawn in place of an episode, because an episode needs containers. */
  task?: string;
  /** It plays the environments of a server: it has no episode of its own to draw. */
  isRemote?: boolean;
  /** Folder of a recorded run in this environment. */
  run?: string;
}

const recorded = 'packages/training/test/diagnosis/recorded/healthy';

/** What single environments need. */
const needs: Readonly<Record<string, () => Partial<Environment>>> = {
  'bridge-v1': () => ({ run: `${recorded}/grpo-fast`, flags: '--env-top-k 2' }),
  'lookup-v1': () => ({ run: `${recorded}/lookup`, flags: '--env-top-k 2' }),
  'gsm8k-v1': () => ({ options: problems(), flags: '--path data/train.jsonl' }),
  'hotpotqa-v1': () => ({ options: recordsOfWorld(), flags: '--path hotpot_train_v1.1.json' }),
  '2wikimultihopqa-v1': () => ({ options: recordsOfWorld(), flags: '--path train.json' }),
  'musique-v1': () => ({ options: recordsOfWorld(true), flags: '--path musique_ans_v1.0_train.jsonl' }),
  'musique-full-v1': () => ({ options: recordsOfWorld(true), flags: '--path musique_full_v1.0_train.jsonl' }),
  'harbor-v1': () => ({ task: 'examples/harbor/reverse', flags: '--tasks tasks' }),
  'openenv-v1': () => ({ isRemote: true, flags: '--address http://127.0.0.1:8000' }),
  'verifiers-v1': () => ({ isRemote: true, flags: '--address glossary' }),
  'nemo-gym-v1': () => ({
    isRemote: true,
    flags: '--address http://127.0.0.1:11001 --path data/train.jsonl',
  }),
  'ors-v1': () => ({ isRemote: true, flags: '--address http://127.0.0.1:8080#maths' }),
};

/** Sorted by package and name. */
export function declaredEnvironments(): Environment[] {
  return readdirSync(join(root, 'packages'))
    .sort()
    .flatMap((folder) => {
      const json = readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8');
      const { name, toolenv }: { name: string; toolenv?: { envs?: Record<string, string> } } =
        JSON.parse(json);
      return Object.keys(toolenv?.envs ?? {}).map((env) => ({ ref: `${name}/${env}`, name: env, folder }));
    });
}

/** The environment with what it needs to be played. */
export function playable(environment: Environment): Environment {
  return { ...environment, ...needs[environment.name]?.() };
}

/** Questions of a synthetic world in the format of HotpotQA or MuSiQue: a picture may not copy a published file. */
async function recordsOfWorld(isMusique = false): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-gallery-'));
  const items = worldRecords([bridgeQuestions], { seed: 1, split: 'validation', count: 60 });
  const path = join(folder, isMusique ? 'records.jsonl' : 'records.json');
  const lines = items.flatMap(toMusiqueFull).map((each) => JSON.stringify(each));
  await writeFile(path, isMusique ? lines.join('\n') : JSON.stringify(items.map(({ record }) => record)));
  return { path };
}

async function problems(): Promise<Record<string, unknown>> {
  return writeProblems(await mkdtemp(join(tmpdir(), 'toolenv-gallery-')));
}
