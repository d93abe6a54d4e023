/** TRL's side: runs grpo.py in its own process, and the environment in this process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { EnvHandle } from '@toolenv/core';
import { drawEpisodes } from '@toolenv/training';
import type { StepReport } from './learning-curve.ts';
import { type EpisodeQuestion, ServedEpisodes } from './served-episodes.ts';
import { checkpoint, type SideOptions } from './side.ts';

export interface TrlOptions extends SideOptions {
  python: string;
  /** Number of rows in one forward and backward pass. */
  rowsAtATime: number;
  /** Turns that TRL repeats instead of sampling. */
  recorded?: readonly RecordedTurn[];
  /** Told of the rows of the first step, if it repeats turns. */
  onRows?(rows: TrlRows): void;
}

export interface RecordedTurn {
  prompt: number[];
  action: number[];
  logprobs: number[];
}

/** What TRL learns from, by its place in the batch: token ids, the mask of the policy's tokens in a completion, and each reward. */
export interface TrlRows {
  prompts: number[][];
  completions: number[][];
  masks: number[][];
  rewards: number[][];
}

/** Time that the environment took, over all steps. */
export interface ServingCost {
  /** Seconds that TRL waited for the environment. */
  waited: number;
  /** Seconds of `waited` in which the environment worked. The exchange took the rest. */
  worked: number;
  exchanges: number;
}

type Report = StepReport & { method: 'report'; failureFrequency: number; kl: number; env: ServingCost };
type Rows = TrlRows & { method: 'rows' };
type Done = { method: 'done'; versions: Record<string, string> };

/** Trains, and saves the trained policy to `out`. */
export async function trainTheirs(
  env: EnvHandle<unknown>,
  { python, rowsAtATime, setting, out, seed, threads, maxSteps, onStep, recorded, onRows }: TrlOptions,
): Promise<{ versions: Record<string, string>; serving: ServingCost }> {
  // The same questions in the same steps.
  const steps = Array.from({ length: maxSteps }, (_, step) =>
    drawEpisodes(env.tasks.train, { ...setting, seed }, step),
  );
  const first = (await Promise.all(steps)).flat().filter(({ sample }) => sample === 0);
  const tasks = await Promise.all(first.map(({ task }) => task));
  const episodes = new ServedEpisodes(env, tasks, seed);
  const { rewards, limits } = env.episode().spec;
  const weights = Object.fromEntries(Object.entries(rewards).map(([name, { weight }]) => [name, weight]));
  const { maxTurns } = limits;
  const saved = join(out, 'trl');
  const openings = await episodes.openings();

  const child = spawn(python, [join(import.meta.dirname, 'grpo.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, OMP_NUM_THREADS: String(threads) },
  });
  const exited = once(child, 'exit');
  // Writing to a process that has ended fails. Its end is reported below.
  child.stdin.on('error', () => {});
  const say = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
  say({
    checkpoint,
    out: saved,
    seed,
    threads,
    setting,
    weights,
    maxTurns,
    maxSteps,
    rowsAtATime,
    recorded,
    // The model's context minus the longest question.
    maxCompletionLength: 960,
    tasks: openings.map((prompt, task) => ({ prompt, task })),
  });

  const serving: ServingCost = { waited: 0, worked: 0, exchanges: 0 };
  let versions: Record<string, string> | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const question = JSON.parse(line) as EpisodeQuestion | Report | Done | Rows;
    if (question.method === 'report') {
      const { method: _, env: cost, ...report } = question;
      for (const name of ['waited', 'worked', 'exchanges'] as const) serving[name] += cost[name];
      say({ stop: onStep(report) });
    } else if (question.method === 'rows') {
      onRows?.(question);
      say({});
    } else if (question.method === 'done') {
      versions = question.versions;
      say({});
    } else say(await episodes.answer(question));
  }
  await exited;
  if (!versions) throw new Error(`${python} ended before TRL had finished training: see its message above.`);
  await asOurs(saved, out);
  return { versions, serving };
}

/** Copies the weights that transformers wrote into a folder with the other files of the initial checkpoint. */
async function asOurs(saved: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await cp(checkpoint, folder, { recursive: true });
  await copyFile(join(saved, 'model.safetensors'), join(folder, 'model.safetensors'));
}
