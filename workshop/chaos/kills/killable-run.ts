/** A short run of `toolenv train` that can be killed, and a fingerprint of its result that must not depend on kills. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = join(import.meta.dirname, '../../..');
const steps = 4;

export const trainers = ['grpo', 'ppo', 'distill', 'es'] as const;

const policy = join(root, 'packages/checkpoints/tiny');
/** A teacher that is the student has nothing to say at first: the rewards have. */
const teacher = { teacher: policy, 'reward-coefficient': 1 };

export interface KillableRun {
  trainer?: (typeof trainers)[number];
  resume?: boolean;
  /** More flags. */
  more?: Readonly<Record<string, string | number>>;
}

/** The words of `toolenv train` on a small scale. */
export function trainWords(out: string, { trainer = 'grpo', resume = false, more }: KillableRun): string[] {
  const flags = {
    policy,
    trainer: `@toolenv/trainer-${trainer}/${trainer}-v1`,
    steps,
    seed: 7,
    out,
    'checkpoint-every': 1,
    'tasks-per-step': 2,
    'max-tokens': 48,
    'learning-rate': 1e-3,
    ...(trainer === 'es' ? { pairs: 2 } : { 'group-size': 4 }),
    ...(trainer === 'distill' && teacher),
    ...more,
  };
  const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return ['train', '@toolenv/envs-qa/bridge-v1', ...words, ...(resume ? ['--resume'] : [])];
}

/** Runs the built command, and kills it with SIGKILL after `killAfter` milliseconds. Resolves to the exit code. */
export async function train(out: string, { killAfter, ...run }: KillableRun & { killAfter?: number } = {}) {
  const main = join(root, 'packages/cli/dist/main.js');
  const child = spawn(process.execPath, [main, ...trainWords(out, run)], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (killAfter === undefined) return ended;
  await Promise.race([ended, sleep(killAfter)]);
  child.kill('SIGKILL');
  return ended;
}

/** The share of a run that is left: its steps without a checkpoint, and its end. */
export async function shareLeft(out: string): Promise<number> {
  const checkpoints = await readdir(join(out, 'checkpoints')).catch(() => []);
  const done = checkpoints.map((name) => Number(/^step-(\d+)$/.exec(name)?.[1] ?? 0));
  return 1 - Math.max(0, ...done) / (steps + 1);
}

/** Digests of the final weights, optimizer state and critic, of every sampled token, and every metric except times. */
export async function fingerprint(out: string): Promise<Record<string, string>> {
  const digest = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
  const checkpoint = join(out, 'checkpoints', `step-${steps}`);
  const tensors = (await readdir(checkpoint)).filter((name) => name.endsWith('.safetensors'));
  const metrics = (await readFile(join(out, 'metrics.jsonl'), 'utf8')).replaceAll(
    /"((step_)?time|memory\/|tokens_per_second)[^,}]*,?/g,
    '',
  );
  const trajectories = (await readFile(join(out, 'trajectories.jsonl'), 'utf8')).replaceAll(
    /"milliseconds":[^,}]*/g,
    '',
  );
  return {
    ...Object.fromEntries(
      await Promise.all(tensors.map(async (name) => [name, digest(await readFile(join(checkpoint, name)))])),
    ),
    metrics,
    trajectories: digest(trajectories),
  };
}
