/**
 * `npm run tiny-policy`: makes the tiny policy from nothing, by public commands on files.
 *
 * This script writes an untrained checkpoint and a data file for each phase. The trainer `sft` then learns to copy names, to
 * read documents, and to play whole episodes of the good strategy. The recipes of the shipped policies end with habits from a
 * mix in which that strategy is a minority: the policy can then solve the task, but mostly does not, which leaves something for
 * reinforcement learning. The recipe `from-nothing` continues with GRPO. Worlds change from phase to phase and within a phase, so
 * that the model cannot memorise entities.
 */
import { existsSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { loadPolicy } from '@toolenv/policy';
import { parseFlags, runAsProcess } from 'toolenv';
import { envOptions } from '../demo/setting.ts';
import { whole } from '../flags.ts';
import { flagsOf } from '../run-node.ts';
import { toolenv } from '../toolenv.ts';
import { families } from './families.ts';
import { library } from './library/library.ts';
import { libraryDesign } from './library/library-tokenizer.ts';
import { type Episodes, linesForWords, sampleEpisodes } from './library/sample-episodes.ts';
import { batchSizeOf, writePhaseFile } from './phase-files.ts';
import { type Phase, type Recipe, recipeNames, recipes } from './recipes.ts';
import { writeUntrained } from './untrained.ts';

/** @param policy Folder of the policy whose tokenizer counts. */
async function episodeLengths(policy: string, episodes: Episodes): Promise<string[]> {
  await using loaded = await loadPolicy(policy);
  const lines = [...episodes].map(([name, own]) => {
    const rows = own.flatMap((episode) => loaded.encode(episode));
    const lengths = rows.map(({ tokens }) => tokens.length);
    const learned = rows.map(({ mask }) => mask.reduce((sum, bit) => sum + bit, 0));
    const cells = [name, mean(lengths), Math.max(...lengths), mean(learned)];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| episodes of | tokens | most | learned |', '| --- | --- | --- | --- |', ...lines];
}

function mean(values: readonly number[]): number {
  return Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
}

/** Seeds weights, worlds and batches. */
const seed = 20;
/** Batches of a held-out file. */
const heldOut = 8;
const { topK } = envOptions;

const schema = {
  type: 'object',
  properties: {
    recipe: { enum: recipeNames, default: 'bridge', description: 'what to make' },
    out: {
      type: 'string',
      description:
        "folder of the policy (default: the recipe's folder in this repository; for from-nothing and quarter, in the folder of --work)",
    },
    work: {
      type: 'string',
      description:
        'folder of the data and the runs; finished runs are kept, and an unfinished run resumes (default: runs/tiny-policy/<recipe>)',
    },
    threads: whole('CPU threads per operation (default: one per core)'),
  },
} as const;

await runAsProcess(async (signal) => {
  const flags = await parseFlags(schema, {
    name: 'tiny-policy',
    description: 'Makes a policy from random weights, by commands of toolenv that it prints.',
    argv: process.argv.slice(2),
    argument: 'recipe',
  });
  if (!flags) return;
  const { threads, work = join('runs', 'tiny-policy', flags.recipe) } = flags;
  const recipe: Recipe = recipes[flags.recipe];
  const { folder } = recipe;
  const out = flags.out ?? (folder ? join(import.meta.dirname, folder) : join(work, 'policy'));
  await makePolicy({ recipe, work, out, onThreads: flagsOf({ threads }) }, signal);
});

/** Values of flags, by the name of the flag. */
type Flags = Readonly<Record<string, string | number>>;

interface Setting {
  recipe: Recipe;
  /** Folder of the data and the runs. */
  work: string;
  /** Folder of the policy. */
  out: string;
  /** Flags of every run and evaluation. */
  onThreads: readonly string[];
}

async function makePolicy(setting: Setting, signal: AbortSignal): Promise<void> {
  const { recipe, work, out, onThreads } = setting;
  const started = performance.now();
  await mkdir(work, { recursive: true });
  let policy = recipe.start ? join(import.meta.dirname, recipe.start) : join(work, 'untrained');
  if (!existsSync(policy)) await begin(policy, recipe);
  for (const phase of recipe.phases) policy = await supervise(phase, policy, setting, signal);
  if (recipe.reinforce) {
    const flags = { ...recipe.reinforce, 'env-top-k': topK };
    const words = [families.bridge.ref, '--policy', policy, ...flagsOf(flags)];
    policy = await runOnce(join(work, 'grpo'), words, setting, signal);
  }
  await cp(policy, out, { recursive: true });
  const minutes = (performance.now() - started) / 60_000;
  console.log(`The policy is in ${out} after ${minutes.toFixed(1)} minutes`);
  for (const [ref, flags] of examinationsOf(recipe)) {
    const examination = { ...flags, count: 256, seed: 1 };
    await toolenv(['eval', ref, '--policy', out, ...flagsOf(examination), ...onThreads], signal);
  }
}

/** Writes the untrained policy. */
async function begin(folder: string, { library: names, shape }: Recipe): Promise<void> {
  if (!names) return writeUntrained(folder, { seed, shape });
  const episodes = await sampleEpisodes(seed);
  await writeUntrained(folder, { seed, shape, design: libraryDesign(linesForWords(episodes)) });
  console.log((await episodeLengths(folder, episodes)).join('\n'));
}

/** The environments that the finished policy plays, with their flags. */
function examinationsOf({ families: own, library: names = [] }: Recipe): [ref: string, flags: Flags][] {
  return [
    ...own.map((family): [string, Flags] => {
      const { ref, options } = families[family];
      const lists = Object.entries(options).map(([name, values]) => [name, values.join(',')]);
      return [ref, { 'env-top-k': topK, 'max-tokens': 64, ...Object.fromEntries(lists) }];
    }),
    ...names.flatMap((name): [string, Flags][] => {
      const { ref, options, maxTokens } = library[name];
      // The environment of the template has no reference here.
      if (typeof ref !== 'string') return [];
      return [[ref, { maxTokens, ...options }]];
    }),
  ];
}

/** One phase of supervised training; returns the folder of the policy. */
async function supervise(phase: Phase, from: string, setting: Setting, signal: AbortSignal): Promise<string> {
  const { recipe, work } = setting;
  const data = join(work, `${phase.name}.jsonl`);
  const evalData = join(work, `${phase.name}.held-out.jsonl`);
  const { facts } = recipe;
  const common = { facts, isOfLibrary: recipe.library !== undefined, separator: '<|im_end|>' };
  const { steps, passes = 1 } = phase;
  if (!existsSync(data)) await writePhaseFile(data, phase, { ...common, steps: steps / passes, seed });
  if (!existsSync(evalData))
    await writePhaseFile(evalData, phase, { ...common, steps: heldOut, seed: seed + 1 });
  const flags = {
    trainer: '@toolenv/trainer-sft/sft-v1',
    data,
    epochs: passes,
    'eval-data': evalData,
    'evaluate-every': 200,
    'batch-size': batchSizeOf(phase),
    'learning-rate': phase.learningRate,
    'learning-rate-schedule': 'cosine',
    'warmup-steps': phase.warmUp,
    'weight-decay': 0.01,
    'checkpoint-every': 200,
  };
  const run = join(work, phase.name);
  return runOnce(run, ['--policy', from, ...flagsOf(flags), '--no-shuffle'], setting, signal);
}

/** Trains unless the run is finished; returns the folder of the policy. */
async function runOnce(
  run: string,
  flags: readonly string[],
  { onThreads }: Setting,
  signal: AbortSignal,
): Promise<string> {
  const trained = join(run, 'policy');
  if (existsSync(trained)) return trained;
  const resume = existsSync(join(run, 'config.json')) ? ['--resume'] : [];
  await toolenv(['train', ...flags, ...onThreads, '--out', run, ...resume], signal);
  return trained;
}
