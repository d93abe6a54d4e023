/**
 * `npm run tiny-policy`: makes the tiny policy from nothing, by public commands on files.
 *
 * This script writes an untrained checkpoint and a data file for each phase. The trainer `sft` then learns to copy names, to
 * read documents, and to play whole episodes of the good strategy. The recipes of the shipped policies end with habits from a
 * mix in which that strategy is a minority: the policy can then solve the task, but mostly does not, which leaves something for
 * reinforcement learning. The recipe `from-nothing` goes on with GRPO. Worlds change from phase to phase and within a phase, so
 * that the model cannot memorise entities.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { envOptions } from '../demo/setting.ts';
import { batchSizeOf, referenceOf, writePhaseFile } from './phase-files.ts';
import { type Phase, recipes } from './recipes.ts';
import { writeUntrained } from './untrained.ts';

/** Seeds weights, worlds and batches. */
const seed = 20;
/** Batches of a held-out file. */
const heldOut = 8;
const { topK } = envOptions;
const cli = join(import.meta.dirname, '../../packages/cli/src/main.ts');

const { values: args, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Folder for the policy. Default: the recipe's folder in this repository, or in the working folder for `from-nothing`. */
    out: { type: 'string' },
    /** Folder for the data and the runs. Finished runs are kept, and an unfinished run goes on. */
    work: { type: 'string' },
    /** Threads of the CPU for one operation. Default: one for each core. */
    threads: { type: 'string' },
  },
});

const [name = 'bridge'] = positionals;
if (!Object.hasOwn(recipes, name))
  throw new RangeError(`${name}: name a recipe, one of ${Object.keys(recipes).join(', ')}.`);
const { families, facts, phases, reinforce, folder } = recipes[name as keyof typeof recipes];
const onThreads = args.threads === undefined ? [] : ['--threads', args.threads];
const work = args.work ?? join('runs', 'tiny-policy', name);
const out = args.out ?? (folder ? join(import.meta.dirname, folder) : join(work, 'policy'));

const started = performance.now();
await mkdir(work, { recursive: true });
let policy = join(work, 'untrained');
if (!existsSync(policy)) await writeUntrained(policy, seed);
for (const phase of phases) policy = await supervise(phase, policy);
if (reinforce) {
  const run = join(work, 'grpo');
  const flags = { ...reinforce, 'env-top-k': topK };
  policy = await runOnce(run, [referenceOf('bridge'), '--policy', policy, ...flagsOf(flags)]);
}
await cp(policy, out, { recursive: true });
const minutes = (performance.now() - started) / 60_000;
console.log(`The policy is in ${out} after ${minutes.toFixed(1)} minutes`);
for (const family of families) {
  const examination = { 'env-top-k': topK, count: 256, 'max-tokens': 64, seed: 1 };
  await toolenv(['eval', referenceOf(family), '--policy', out, ...flagsOf(examination)]);
}

/** One phase of supervised training; returns the folder of the policy. */
async function supervise(phase: Phase, from: string): Promise<string> {
  const data = join(work, `${phase.name}.jsonl`);
  const evalData = join(work, `${phase.name}.held-out.jsonl`);
  const common = { facts, topK, separator: '<|im_end|>' };
  if (!existsSync(data)) await writePhaseFile(data, phase, { ...common, steps: phase.steps, seed });
  if (!existsSync(evalData))
    await writePhaseFile(evalData, phase, { ...common, steps: heldOut, seed: seed + 1 });
  const flags = {
    trainer: '@toolenv/trainer-sft/sft-v1',
    data,
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
  return runOnce(run, ['--policy', from, ...flagsOf(flags), '--no-shuffle']);
}

/** Trains unless the run is finished; returns the folder of the policy. */
async function runOnce(run: string, flags: readonly string[]): Promise<string> {
  const trained = join(run, 'policy');
  if (existsSync(trained)) return trained;
  const resume = existsSync(join(run, 'config.json')) ? ['--resume'] : [];
  await toolenv(['train', ...flags, ...onThreads, '--out', run, ...resume]);
  return trained;
}

function flagsOf(options: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(options).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
}

async function toolenv(words: readonly string[]): Promise<void> {
  console.log(`\n$ npx toolenv ${words.join(' ')}`);
  const node = ['--import', 'tsx', '--conditions=@toolenv/source', cli];
  const child = spawn(process.execPath, [...node, ...words], { stdio: 'inherit' });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`The command ended with ${code}.`);
}
