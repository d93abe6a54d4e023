/** `toolenv rollout`: a worker that plays episodes into a shared folder, for a trainer or by a plan. Any number of workers run at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type OpenedEnv, ToolEnvError } from '@toolenv/core';
import { untilAborted } from '@toolenv/core/tools';
import {
  agreeOnPlan,
  checkVersioned,
  mergeGroups,
  openSharedFolder,
  planOfEnv,
  type RolloutPlan,
  readPlan,
  refuseOtherPlan,
  rolloutOptions,
  runRolloutWorker,
  type SharedFolder,
  type WorkerShare,
  withVersion,
} from '@toolenv/training/runs';
import { causeRows } from '../display/evaluation-table.ts';
import { plural, scoreText } from '../display/number-text.ts';
import { warnOfIdleSampling } from '../flags/idle-sampling.ts';
import { refuseWithout } from '../flags/missing-options.ts';
import { addPluginFlags, type NamedPlugins } from '../flags/plugin-flags.ts';
import { completeFlags, readFlags, schemaFlags } from '../flags/schema-flags.ts';
import { Budget, budgetSchema } from '../run/budget.ts';
import { refuseUnscored } from '../run/evaluation-gates.ts';
import { agentFlags, type EnvFlags, envFlags, environmentHelp, openRunEnv } from '../run/open-run.ts';
import { WorkerStatus } from '../run/worker-status.ts';
import { isKnownPlayer, openForPlayer } from '../subject/known-player.ts';
import type { MakeCommand } from './commands.ts';

interface OwnFlags extends EnvFlags {
  policy: string;
  out: string;
  worker?: string;
  json?: boolean;
}

const statusSchema = {
  type: 'object',
  properties: {
    statusPort: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      description: 'serve /healthz, /readyz and /metrics for Prometheus on this port, 0 for any free port',
    },
    statusHost: {
      type: 'string',
      minLength: 1,
      default: '127.0.0.1',
      description: 'address for --status-port',
    },
  },
} as const;

export const make: MakeCommand = async (command, { words, signal }) => {
  command
    .description(
      'Plays episodes into a folder that any number of workers share, on one machine or on many. A worker may be killed at any moment: the other workers play its episodes again. With {version} in --policy, the workers play for "toolenv train --rollouts <folder>", which tells them what to play. Without {version}, they play the first tasks of a split, and merge all episodes into trajectories.jsonl.',
    )
    .argument('<environment>', environmentHelp)
    .requiredOption(
      '--policy <folder>',
      "Hugging Face folder, model of the Hugging Face Hub, openai:<url>#<model>, or reference of a policy; its options are flags. {version} stands for the name of the trainer's newest policy: <folder>/policy/{version}, or openai:<url>#{version}",
    )
    .requiredOption('--out <folder>', 'folder that all workers share')
    .option(
      '--worker <n/count>',
      'number of this worker and of all workers, such as 3/8: a worker begins with its own share of the tasks (default: from Slurm, Kubernetes or Ray)',
    )
    .option('--json', 'print one JSON object at the end');
  for (const flag of [
    ...envFlags(),
    ...agentFlags(),
    ...schemaFlags(rolloutOptions),
    ...schemaFlags(statusSchema),
    ...schemaFlags(budgetSchema),
  ])
    command.addOption(flag);
  const plugins = await addPluginFlags(command, words, { policies: ['policy'] });
  command.action((_ref: string, given: OwnFlags & Record<string, unknown>) =>
    playAsWorker(given, plugins, signal),
  );
};

async function playAsWorker(
  given: OwnFlags & Record<string, unknown>,
  { env: namedEnv, policies }: NamedPlugins,
  signal: AbortSignal,
): Promise<void> {
  const { out, policy: policyText, json = false } = given;
  const { statusPort, statusHost } = completeFlags(statusSchema, given);
  const { concurrency, retries, maxAborted, lease, drain, temperature, samples } = completeFlags(
    rolloutOptions,
    given,
  );
  refuseWithout(given, { statusHost: 'statusPort' });
  const budget = new Budget(completeFlags(budgetSchema, given));
  const share = workerShare(given.worker, process.env);
  const { plugin, options } = policies[0]!.chosen(given);
  const source = namedEnv!.chosen(given);
  if (!isKnownPlayer(policyText)) warnOfIdleSampling(namedEnv!, given, { temperature, samples });
  const folder = await openSharedFolder(out);
  const status = new WorkerStatus();
  const service = statusPort === undefined ? undefined : await status.serve(statusPort, statusHost);
  if (service) process.stderr.write(`Status at ${service.url}/metrics\n`);
  const startDraining = () => {
    status.isDraining = true;
  };
  signal.addEventListener('abort', startDraining);
  let env: OpenedEnv<unknown> | undefined;
  try {
    const hasTrainer = policyText.includes('{version}');
    const known = hasTrainer ? await trainersPlan(folder, signal) : await readPlan(folder.plan);
    checkVersioned(policyText, hasTrainer && known?.count === undefined);
    const flags = completeFlags(rolloutOptions, given);
    env = await openForPlayer(plugin, source.plugin, () =>
      openRunEnv(source, { ...given, seed: known?.seed ?? flags.seed }),
    );
    const wanted = { ...planOfEnv(env), ...planFlags(readFlags(rolloutOptions, given)) };
    if (known) refuseOtherPlan(folder.plan, known, wanted);
    const plan = known ?? ({ version: 1, ...planOfEnv(env), ...planFlags(flags) } as RolloutPlan);
    if (!known) await agreeOnPlan(folder.plan, plan);
    await runRolloutWorker({
      ...{ folder, plan, env, share, concurrency, retries, maxAborted, drain, signal },
      expiry: lease,
      openPolicy: async (version) => {
        const run = { seed: plan.seed, signal, deadline: plan.deadline };
        const opened = await untilAborted(signal, () => plugin.open(versioned(options, version), run));
        return budget.watch(opened);
      },
      onEvent: (event) => {
        status.add(event);
        if (event.type === 'ended') process.stderr.write(progressLine(status));
      },
    });
    await report(folder, plan, { status, policy: policyText, json });
  } catch (error) {
    const played = `This worker has played ${plural(status.groups, 'group')}: they are in ${out}`;
    throw budget.errorOf(error, () => `${played}, and a worker with another budget plays the rest.`);
  } finally {
    signal.removeEventListener('abort', startDraining);
    await service?.close();
    await env?.close();
  }
}

/** The plan of a trainer. Waits until the trainer has written it. */
async function trainersPlan(folder: SharedFolder, signal: AbortSignal): Promise<RolloutPlan> {
  for (let isFirst = true; ; isFirst = false) {
    const plan = await readPlan(folder.plan);
    if (plan) return plan;
    if (isFirst) process.stderr.write('Waiting for the trainer.\n');
    await sleep(1_000, undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }
}

/** Flags in which the workers of a folder may differ. */
const ownFlags = ['concurrency', 'retries', 'maxAborted', 'lease', 'drain'];

/** The values that all workers of a folder must agree on. */
function planFlags(flags: Record<string, unknown>): Partial<RolloutPlan> {
  return Object.fromEntries(Object.entries(flags).filter(([name]) => !ownFlags.includes(name)));
}

/** The options of the policy with the name of a version. */
function versioned(options: Record<string, unknown>, version: string | undefined): Record<string, unknown> {
  if (version === undefined) return options;
  const named = (value: unknown) => (typeof value === 'string' ? withVersion(value, version) : value);
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [name, named(value)]));
}

function progressLine({ groups, episodes, takenOver }: WorkerStatus): string {
  const over = takenOver > 0 ? `, ${takenOver} taken over from others` : '';
  return `${plural(groups, 'group')} with ${plural(episodes, 'episode')} played${over}\n`;
}

async function report(
  { groups, merged }: SharedFolder,
  plan: RolloutPlan,
  { status, policy, json }: { status: WorkerStatus; policy: string; json: boolean },
): Promise<void> {
  const own = { groups: status.groups, episodes: status.episodes, takenOver: status.takenOver };
  if (plan.count === undefined) {
    process.stdout.write(json ? `${JSON.stringify({ worker: own })}\n` : 'The trainer has finished.\n');
    return;
  }
  const { episodes, aborted, causes, reward, rewards } = await mergeGroups(groups, merged, {
    samples: plan.samples,
  });
  const all = { episodes: episodes + aborted, aborted, ...(aborted > 0 && { causes }), reward, rewards };
  const text = `${plural(all.episodes, 'episode')} of all workers are in ${merged}, ${aborted} of them aborted. Mean reward ${scoreText(reward)}.`;
  const rows = causeRows(all.causes).map(([name, cause]) => `  ${name}  ${cause}\n`);
  process.stdout.write(json ? `${JSON.stringify({ worker: own, ...all })}\n` : `${text}\n${rows.join('')}`);
  refuseUnscored(policy, all);
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * In this order: `--worker 3/8`; TOOLENV_WORKER, in the same form; an array job of Slurm; a task of Slurm's srun; an indexed job of
 * Kubernetes, whose manifest gives the number of workers in TOOLENV_WORKERS; RANK and WORLD_SIZE, as Ray Train and torchrun set
 * them. `undefined` if none of them says it: workers then draw where they begin.
 * @throws ToolEnvError `usage.worker`
 */
export function workerShare(flag: string | undefined, variables: Variables): WorkerShare | undefined {
  const given = flag ?? variables.TOOLENV_WORKER;
  if (given !== undefined) return readShare(given, flag === undefined ? 'TOOLENV_WORKER' : '--worker');
  const number = (name: string) => {
    const value = variables[name];
    return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
  };
  const task = number('SLURM_ARRAY_TASK_ID');
  const first = number('SLURM_ARRAY_TASK_MIN') ?? 0;
  const array =
    task === undefined ? undefined : Math.floor((task - first) / (number('SLURM_ARRAY_TASK_STEP') ?? 1));
  const known: [index: number | undefined, count: number | undefined][] = [
    [array, number('SLURM_ARRAY_TASK_COUNT')],
    [number('SLURM_PROCID'), number('SLURM_NTASKS')],
    [number('JOB_COMPLETION_INDEX'), number('TOOLENV_WORKERS')],
    [number('RANK'), number('WORLD_SIZE')],
  ];
  for (const [index, count] of known)
    if (index !== undefined && count !== undefined && index < count) return { index, count };
  return undefined;
}

function readShare(text: string, where: string): WorkerShare {
  const [, place, count] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (place !== undefined && place >= 1 && place <= count!) return { index: place - 1, count: count! };
  throw new ToolEnvError('usage.worker', `${where} ${text}: write the third of eight workers as 3/8.`);
}
