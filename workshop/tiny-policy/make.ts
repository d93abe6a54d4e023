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
import { messageOf } from '@toolenv/core';
import { runAsProcess } from 'toolenv';
import { envOptions } from '../demo/setting.ts';
import { batchSizeOf, referenceOf, writePhaseFile } from './phase-files.ts';
import { type Phase, type Recipe, recipes } from './recipes.ts';
import { writeUntrained } from './untrained.ts';

/** Seeds weights, worlds and batches. */
const seed = 20;
/** Batches of a held-out file. */
const heldOut = 8;
const { topK } = envOptions;
const cli = join(import.meta.dirname, '../../packages/cli/src/main.ts');

const help = `Makes a policy from random weights, by commands of toolenv, which it prints. An interrupted recipe goes on.

Usage: npm run tiny-policy -- [recipe] [flags]

Recipes (default: bridge): ${Object.keys(recipes).join(', ')}

--out      folder of the policy (default: the recipe's folder in this repository; for from-nothing, in the folder of --work)
--work     folder of the data and the runs (default: runs/tiny-policy/<recipe>)
--threads  threads of the CPU for one operation (default: one for each core)`;

await runAsProcess(async (signal) => {
  const making = readMaking();
  if (making) await makePolicy(making, signal);
});

interface Making {
  recipe: Recipe;
  /** Folder of the data and the runs. */
  work: string;
  /** Folder of the policy. */
  out: string;
  /** Flags of every run. */
  onThreads: readonly string[];
}

/** `undefined` if help was asked for, or the command line is wrong. */
function readMaking(): Making | undefined {
  try {
    const { values, positionals } = parseArgs({
      options: {
        out: { type: 'string' },
        work: { type: 'string' },
        threads: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowPositionals: true,
    });
    if (values.help) {
      console.log(help);
      return undefined;
    }
    const [name = 'bridge', ...more] = positionals;
    if (more.length > 0 || !Object.hasOwn(recipes, name))
      return refuse(`No recipe "${positionals.join(' ')}": one of ${Object.keys(recipes).join(', ')}.`);
    const recipe: Recipe = recipes[name as keyof typeof recipes];
    const { work = join('runs', 'tiny-policy', name), threads } = values;
    const usual = recipe.folder ? join(import.meta.dirname, recipe.folder) : join(work, 'policy');
    const onThreads = threads === undefined ? [] : ['--threads', threads];
    return { recipe, work, out: values.out ?? usual, onThreads };
  } catch (error) {
    return refuse(messageOf(error));
  }
}

function refuse(why: string): undefined {
  console.error(why);
  process.exitCode = 2;
}

async function makePolicy(making: Making, signal: AbortSignal): Promise<void> {
  const { recipe, work, out } = making;
  const started = performance.now();
  await mkdir(work, { recursive: true });
  let policy = join(work, 'untrained');
  if (!existsSync(policy)) await writeUntrained(policy, seed);
  for (const phase of recipe.phases) policy = await supervise(phase, policy, making, signal);
  if (recipe.reinforce) {
    const flags = { ...recipe.reinforce, 'env-top-k': topK };
    const words = [referenceOf('bridge'), '--policy', policy, ...flagsOf(flags)];
    policy = await runOnce(join(work, 'grpo'), words, making, signal);
  }
  await cp(policy, out, { recursive: true });
  const minutes = (performance.now() - started) / 60_000;
  console.log(`The policy is in ${out} after ${minutes.toFixed(1)} minutes`);
  for (const family of recipe.families) {
    const examination = { 'env-top-k': topK, count: 256, 'max-tokens': 64, seed: 1 };
    await toolenv(['eval', referenceOf(family), '--policy', out, ...flagsOf(examination)], signal);
  }
}

/** One phase of supervised training; returns the folder of the policy. */
async function supervise(phase: Phase, from: string, making: Making, signal: AbortSignal): Promise<string> {
  const { recipe, work } = making;
  const data = join(work, `${phase.name}.jsonl`);
  const evalData = join(work, `${phase.name}.held-out.jsonl`);
  const common = { facts: recipe.facts, topK, separator: '<|im_end|>' };
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
  return runOnce(run, ['--policy', from, ...flagsOf(flags), '--no-shuffle'], making, signal);
}

/** Trains unless the run is finished; returns the folder of the policy. */
async function runOnce(
  run: string,
  flags: readonly string[],
  { onThreads }: Making,
  signal: AbortSignal,
): Promise<string> {
  const trained = join(run, 'policy');
  if (existsSync(trained)) return trained;
  const resume = existsSync(join(run, 'config.json')) ? ['--resume'] : [];
  await toolenv(['train', ...flags, ...onThreads, '--out', run, ...resume], signal);
  return trained;
}

function flagsOf(options: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(options).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
}

/** Runs a command to its end. If `signal` aborts, the command keeps what it has done and ends. */
async function toolenv(words: readonly string[], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  console.log(`\n$ npx toolenv ${words.join(' ')}`);
  const node = ['--import', 'tsx', '--conditions=@toolenv/source', cli];
  const child = spawn(process.execPath, [...node, ...words], { stdio: 'inherit' });
  const stop = () => child.kill();
  signal.addEventListener('abort', stop);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  if (code !== 0) throw new Error(`The command ended with ${code}.`);
}
