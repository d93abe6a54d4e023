/** `toolenv check <env> --trainers`: plays the first step of several trainers, and compares what they learn from. */
import { type EnvDefinition, ToolEnvError } from '@toolenv/core';
import type { TrainablePolicy } from '@toolenv/core/learner';
import { listPlugins, loadPlugin, openPolicy, type PolicyHandle, type Trainer } from '@toolenv/core/plugins';
import { compareTrainers, playsToLearn, type TrainerShare } from '@toolenv/testing';
import { readPairs } from '../flags/schema-flags.ts';
import { openSource } from '../run/open-run.ts';
import { findSubject, importPlugin } from '../subject/find-subject.ts';
import { pluginFolders } from '../subject/full-name.ts';
import { loadNamed } from '../subject/load-named.ts';

/** The step: enough for groups that differ, and short. */
const step = { tasksPerStep: 4, groupSize: 4, maxTokens: 128, concurrency: 16 };

/**
 * @param names References, or files. Empty: the installed trainers that play episodes, improve weights and need no option.
 * @throws ToolEnvError `usage.bad_flag` if the subject is not an environment, or no trainer is installed; `usage.not_trainable`; what
 *   `compareTrainers` throws.
 */
export async function checkTrainers(
  subject: string,
  names: readonly string[],
  {
    policy,
    pairs,
    envOptions,
    ...run
  }: {
    policy: string;
    pairs: readonly string[];
    envOptions: Record<string, unknown>;
    seed: number;
    signal: AbortSignal;
    onTrainer(name: string, done: number, total: number): void;
  },
): Promise<TrainerShare[]> {
  const trainers = names.length > 0 ? await namedTrainers(names) : await installedTrainers();
  const source = await environmentOf(subject);
  const { options: schema } = typeof source === 'string' ? await loadPlugin('envs', source) : source;
  const options = { ...readPairs(schema, pairs, '--option'), ...envOptions };
  await using env = await openSource({ source, options }, { seed: run.seed });
  return compareTrainers({ ...run, env, trainers, options: step, openPolicy: () => trainable(policy, run) });
}

async function environmentOf(name: string): Promise<string | EnvDefinition> {
  const subject = findSubject(name);
  if (subject.type === 'plugin' && subject.kind === 'envs') return subject.ref;
  const found = subject.type === 'module' ? await importPlugin(subject.file) : undefined;
  if (found?.kind === 'envs') return found.plugin;
  throw new ToolEnvError(
    'usage.bad_flag',
    `--trainers compares trainers in an environment, and ${name} is not an environment.`,
  );
}

async function namedTrainers(names: readonly string[]): Promise<Map<string, Trainer>> {
  const trainers = new Map<string, Trainer>();
  for (const name of names) trainers.set(name, await loadNamed('trainers', name));
  return trainers;
}

async function installedTrainers(): Promise<Map<string, Trainer>> {
  const trainers = new Map<string, Trainer>();
  for (const { kind, ref } of listPlugins(pluginFolders())) {
    if (kind !== 'trainers') continue;
    const trainer = await loadPlugin('trainers', ref);
    if (playsToLearn(trainer) && needsNoOption(trainer)) trainers.set(ref, trainer);
  }
  if (trainers.size > 0) return trainers;
  throw new ToolEnvError(
    'usage.bad_flag',
    '--trainers: no trainer is installed here. Begin with: npm install @toolenv/trainer-grpo',
  );
}

function needsNoOption({ options }: Trainer): boolean {
  return ((options.required ?? []) as readonly string[]).length === 0;
}

/** @throws ToolEnvError `usage.not_trainable`. */
async function trainable(
  name: string,
  run: { seed: number; signal: AbortSignal },
): Promise<PolicyHandle & TrainablePolicy> {
  const policy = await openPolicy(name, run);
  if (policy.learner) return policy as PolicyHandle & TrainablePolicy;
  await policy.close?.();
  throw new ToolEnvError(
    'usage.not_trainable',
    `${name} has no weights to train: name a checkpoint by --policy.`,
  );
}
