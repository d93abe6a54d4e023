/** A trainer and worker processes on this machine that learn the demo's task, while workers are killed at random moments. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRng } from '@toolenv/core';
import { beta, environment, envOptions, training } from '../demo/setting.ts';

const root = join(import.meta.dirname, '../..');
const main = join(root, 'packages/cli/dist/main.js');
const policy = join(root, 'packages/checkpoints/tiny');

export interface KilledRunOptions {
  /** The folder of the run, and of what trainer and workers share. */
  out: string;
  seed: number;
  steps: number;
  workers: number;
  /** Workers that are killed, one after another, at random moments. Each is started anew. */
  kills: number;
  maxStaleness: number;
  tasksPerStep?: number;
  groupSize?: number;
}

export interface KilledRun {
  kills: number;
  seconds: number;
  /** Episodes that were learned from. */
  episodes: number;
  /** Of these, those whose (group, sample) another episode has too. */
  duplicates: number;
  /** Of those that the steps wanted, those that never came. */
  missing: number;
  /** Episodes that were played in time by no worker, and were replaced. */
  stale: number;
  /** The most updates between an episode and the step that learned from it. */
  oldest: number;
  /** Episodes of each worker process. */
  played: Record<string, number>;
  /** Exit codes of trainer and workers that were not killed. */
  codes: (number | null)[];
}

/** Trains, and resolves when all processes have ended. */
export async function killedRun(options: KilledRunOptions): Promise<KilledRun> {
  const { out, steps, workers: count, kills, maxStaleness } = options;
  const { tasksPerStep = training.tasksPerStep, groupSize = training.groupSize } = options;
  const rollouts = join(out, 'rollouts');
  const begun = performance.now();
  const env = [environment, '--env-option', `topK=${envOptions.topK}`];
  const trainer = start(
    'train',
    ...env,
    ...flags({
      ...{ policy, out: join(out, 'run'), rollouts, seed: options.seed, steps, beta },
      ...{ 'tasks-per-step': tasksPerStep, 'group-size': groupSize, 'max-staleness': maxStaleness },
      ...{ 'learning-rate': training.learningRate, 'max-tokens': training.maxTokens, 'checkpoint-every': 20 },
    }),
  );
  const worker = (place: number) =>
    start(
      'rollout',
      ...env,
      ...flags({
        ...{ policy: join(rollouts, 'policy', '{version}'), out: rollouts, worker: `${place + 1}/${count}` },
        ...{ lease: 10, concurrency: Math.ceil(((maxStaleness + 1) * tasksPerStep * groupSize) / count) },
      }),
    );
  const workers = Array.from({ length: count }, (_, place) => worker(place));
  const stopAll = () => {
    for (const { child } of [trainer, ...workers]) child.kill('SIGKILL');
  };
  try {
    const killed = await killWorkers();
    const codes = await Promise.all([trainer, ...workers].map(({ ended }) => ended));
    const seconds = (performance.now() - begun) / 1000;
    const wanted = steps * tasksPerStep * groupSize;
    return { kills: killed, seconds, codes, ...(await countEpisodes(join(out, 'run'), wanted)) };
  } finally {
    stopAll();
  }

  /** Spreads the kills over the steps of the run. */
  async function killWorkers(): Promise<number> {
    const rng = createRng(options.seed, 'scale-kills');
    for (let done = 0; done < kills; done++) {
      const step = Math.max(1, Math.floor(((done + 1) * steps) / (kills + 1)));
      while (trainer.child.exitCode === null && (await stepsOf(join(out, 'run'))) < step) await sleep(200);
      await sleep(2_000 * rng.float());
      if (trainer.child.exitCode !== null) return done;
      const place = rng.int(count);
      workers[place]!.child.kill('SIGKILL');
      await workers[place]!.ended;
      workers[place] = worker(place);
    }
    return kills;
  }
}

function flags(values: Record<string, string | number>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

interface Started {
  child: ChildProcess;
  ended: Promise<number | null>;
}

/** Errors go to stderr; the progress of the workers does not. */
function start(...args: string[]): Started {
  const child = spawn(process.execPath, [main, ...args], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-2_000);
  });
  const ended = once(child, 'close').then(([code]) => {
    if (code !== 0 && code !== null)
      process.stderr.write(`${args[0]} ended with exit code ${code}:\n${errors}\n`);
    return code as number | null;
  });
  return { child, ended };
}

async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').slice(0, -1);
}

/** Updates that are done. */
async function stepsOf(run: string): Promise<number> {
  return (await linesOf(join(run, 'metrics.jsonl'))).filter((line) => line.startsWith('{"type":"update"'))
    .length;
}

async function countEpisodes(
  run: string,
  wanted: number,
): Promise<Pick<KilledRun, 'episodes' | 'duplicates' | 'missing' | 'stale' | 'oldest' | 'played'>> {
  const places = new Set<string>();
  const played: Record<string, number> = {};
  const lines = await linesOf(join(run, 'trajectories.jsonl'));
  for (const line of lines) {
    const { group, sample, worker } = JSON.parse(line);
    places.add(`${group}/${sample}`);
    played[worker] = (played[worker] ?? 0) + 1;
  }
  const rollouts = (await linesOf(join(run, 'metrics.jsonl')))
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === 'rollout');
  const values = (name: string): number[] => rollouts.map(({ metrics }) => metrics[name] as number);
  return {
    episodes: lines.length,
    duplicates: lines.length - places.size,
    missing: wanted - places.size,
    stale: values('stale_episodes').reduce((sum, value) => sum + value, 0),
    oldest: Math.max(0, ...values('staleness/max')),
    played,
  };
}
