/** makeRuns: the runs and evaluations that the pictures show. Those that are finished in the folder are kept. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { EnvHandle } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { train } from '@toolenv/training';
import { closing } from '../closing.ts';
import { environment, envOptions } from '../demo/setting.ts';
import { openFamily } from '../tiny-policy/families.ts';
import { toolenv } from '../toolenv.ts';

const root = join(import.meta.dirname, '../..');
/** Relative, because the pictures show it. */
const start = relative(process.cwd(), join(root, 'packages/checkpoints/tiny'));

export interface Runs {
  /** A run that learns, and a run whose learning rate is too high. */
  compared: readonly [string, string];
  /** A run on few tasks, each of which it plays in many steps. */
  tasks: string;
  /** Evaluations before and after the first run. */
  evaluations: readonly [string, string];
}

const options = { tasksPerStep: 12, groupSize: 8, maxTokens: 64, learningRate: 3e-4 };
const evaluation = { evaluateFirst: true, evaluateEvery: 6, evaluationEpisodes: 40 };

export async function makeRuns(folder: string): Promise<Runs> {
  const [bridge, high, few] = ['bridge', 'high-rate', 'few-tasks'].map((name) => join(folder, name));
  const [before, after] = ['eval-before', 'eval-after'].map((name) => join(folder, name));
  await trainOnce(bridge!, { ...options, ...evaluation, steps: 12 });
  await trainOnce(high!, { ...options, ...evaluation, steps: 12, learningRate: 3e-3 });
  await trainOnce(few!, { ...options, steps: 12 }, options.tasksPerStep);
  await evaluateOnce(before!, start);
  await evaluateOnce(after!, join(bridge!, 'policy'));
  return { compared: [bridge!, high!], tasks: few!, evaluations: [before!, after!] };
}

/** @param tasks Training tasks. Default: all. */
async function trainOnce(
  out: string,
  run: typeof options & { steps: number },
  tasks?: number,
): Promise<void> {
  if (existsSync(join(out, 'policy'))) return;
  await rm(out, { recursive: true, force: true });
  await using env = closing(await openFamily('bridge', 1));
  await using policy = await loadPolicy(start);
  const played = tasks === undefined ? env : withTasks(env, tasks);
  for await (const { type, step } of train({ ...run, env: played, policy, trainer: grpo, out, seed: 1 }))
    process.stdout.write(`${out}: ${type} ${step}\n`);
}

function withTasks<Task>(env: EnvHandle<Task>, length: number): EnvHandle<Task> {
  const { train, ...others } = env.tasks;
  return { ...env, tasks: { ...others, train: { length, get: (index) => train.get(index) } } };
}

async function evaluateOnce(out: string, policy: string): Promise<void> {
  if (existsSync(join(out, 'summary.json'))) return;
  await rm(out, { recursive: true, force: true });
  const played = ['--env-top-k', String(envOptions.topK), '--max-tokens', '64', '--count', '48'];
  await toolenv(['eval', environment, '--policy', policy, ...played, '--out', out]);
}
