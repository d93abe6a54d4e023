/** mixEnvs: joins several environments into one, to train on the tasks of all of them. */
import { isDeepStrictEqual } from 'node:util';
import type { EnvCapabilities, EnvHandle, Split, TaskSet } from '../env/env-definition.ts';
import type { TaskDraw } from '../env/task-draw.ts';
import type { Env, EnvLimits, EnvSpec } from '../protocol/env.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import { drawByWeights } from './mix-draw.ts';

/** A task of a mix. */
export interface MixedTask<Task = unknown> {
  /** The environment's key in the argument of {@link mixEnvs}. */
  env: string;
  task: Task;
}

/**
 * An environment whose splits contain the tasks of all `envs`: those of `train` one environment after another, the others in
 * turn, so that an evaluation on the first tasks plays every environment. All must declare the same rewards. Closing the mix
 * closes them all.
 * @param envs Environments by names of your choice; each task carries the name.
 * @param options.weights How often training draws the tasks of each environment, relative to the others; 0 is never.
 *   Default: by their numbers of tasks.
 * @throws ToolEnvError `usage.mix` if there is no environment, the rewards differ, or a weight is wrong.
 */
export function mixEnvs<Task>(
  envs: Readonly<Record<string, EnvHandle<Task>>>,
  { weights }: { weights?: Readonly<Record<string, number>> | undefined } = {},
): EnvHandle<MixedTask<Task>> {
  const draw = drawOf(envs, weights);
  const spec = mixedSpec(Object.values(envs).map((env) => env.episode().spec));
  return {
    tasks: {
      train: concatenate(envs, 'train'),
      validation: inTurn(envs, 'validation'),
      test: inTurn(envs, 'test'),
    },
    episode: () => mixedEpisode(spec, envs),
    close: async () => void (await Promise.all(Object.values(envs).map((env) => env.close()))),
    capabilities: mixedCapabilities(Object.values(envs)),
    ...(draw && { draw }),
  };
}

/** `undefined` if the mix draws as any environment does. */
function drawOf(
  envs: Readonly<Record<string, EnvHandle<unknown>>>,
  weights: Readonly<Record<string, number>> | undefined,
): TaskDraw | undefined {
  if (weights === undefined && Object.values(envs).every((env) => env.draw === undefined)) return undefined;
  const wrong = (problem: string) => new ToolEnvError('usage.mix', `mixEnvs: ${problem}.`);
  const unknown = Object.keys(weights ?? {}).find((name) => !Object.hasOwn(envs, name));
  if (unknown !== undefined) throw wrong(`there is no environment "${unknown}" to weigh`);
  let offset = 0;
  const parts = Object.entries(envs).map(([name, { tasks, draw }]) => {
    const { length } = tasks.train;
    const weight = weights === undefined ? length : (weights[name] ?? 0);
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY))
      throw wrong(`the weight of ${name} is ${weight}: give a number from 0 up`);
    if (weight > 0 && length === 0) throw wrong(`${name} has a weight and no training tasks`);
    const part = { name, offset, length, weight, draw };
    offset += length;
    return part;
  });
  const drawn = parts.filter(({ weight }) => weight > 0);
  if (drawn.length === 0) throw wrong('every weight is 0');
  return (drawing) => drawByWeights(drawn, drawing);
}

/** Seedable and concurrent if all are; networked and remote if any is. */
function mixedCapabilities(envs: readonly Pick<EnvHandle<unknown>, 'capabilities'>[]): EnvCapabilities {
  const declared = envs.map(({ capabilities = {} }) => capabilities);
  return {
    seedable: declared.every(({ seedable = true }) => seedable),
    concurrent: declared.every(({ concurrent = true }) => concurrent),
    networked: declared.some(({ networked = false }) => networked),
    remote: declared.some(({ remote = false }) => remote),
  };
}

/** Declares the widest limits. Each episode keeps the limits of its own environment. */
function mixedSpec(specs: readonly EnvSpec[]): EnvSpec {
  const [first, ...others] = specs;
  if (!first)
    throw new ToolEnvError('usage.mix', 'mixEnvs: there are no environments to mix: pass at least one.');
  const other = others.find(({ rewards }) => !isDeepStrictEqual(rewards, first.rewards));
  if (other) {
    const message = `mixEnvs: ${first.name} and ${other.name} declare different rewards: make them equal with transformReward.`;
    throw new ToolEnvError('usage.mix', message);
  }
  const widest = (limit: keyof EnvLimits) => Math.max(...specs.map(({ limits }) => limits[limit]));
  return {
    ...first,
    name: specs.map(({ name }) => name).join('+'),
    limits: {
      maxTurns: widest('maxTurns'),
      maxCallsPerTurn: widest('maxCallsPerTurn'),
      toolTimeout: widest('toolTimeout'),
      maxToolCharacters: widest('maxToolCharacters'),
    },
  };
}

function concatenate<Task>(
  envs: Readonly<Record<string, EnvHandle<Task>>>,
  split: Split,
): TaskSet<MixedTask<Task>> {
  const sets = Object.entries(envs).map(([env, { tasks }]) => ({ env, tasks: tasks[split] }));
  const length = sets.reduce((total, { tasks }) => total + tasks.length, 0);
  return {
    length,
    get(index) {
      let rest = index;
      for (const { env, tasks } of sets) {
        if (rest < tasks.length) return { env, task: tasks.get(rest) };
        rest -= tasks.length;
      }
      throw new ToolEnvError('usage.task_index', `Task ${index} does not exist: there are ${length}.`);
    },
  };
}

/** One task of each environment, then the next of each; an environment that has no more is left out. */
function inTurn<Task>(
  envs: Readonly<Record<string, EnvHandle<Task>>>,
  split: Split,
): TaskSet<MixedTask<Task>> {
  const sets = Object.entries(envs).map(([env, { tasks }]) => ({ env, tasks: tasks[split] }));
  const length = sets.reduce((total, { tasks }) => total + tasks.length, 0);
  return {
    length,
    get(index) {
      // `round` rounds are over for the sets that are left: after each set ends, fewer tasks make a round.
      let [left, round] = [index, 0];
      let open = sets.filter(({ tasks }) => tasks.length > 0);
      while (left >= 0 && open.length > 0) {
        const rounds = Math.min(...open.map(({ tasks }) => tasks.length)) - round;
        if (left < rounds * open.length) {
          const { env, tasks } = open[left % open.length]!;
          return { env, task: tasks.get(round + Math.floor(left / open.length)) };
        }
        left -= rounds * open.length;
        round += rounds;
        open = open.filter(({ tasks }) => tasks.length > round);
      }
      throw new ToolEnvError('usage.task_index', `Task ${index} does not exist: there are ${length}.`);
    },
  };
}

/** An Env that delegates to an Env of the task's environment. */
function mixedEpisode<Task>(
  spec: EnvSpec,
  envs: Readonly<Record<string, EnvHandle<Task>>>,
): Env<MixedTask<Task>> {
  let current: Env<Task> | undefined;
  return {
    spec,
    async reset({ task, ...options }) {
      await current?.close();
      current = envs[task.env]!.episode();
      return current.reset({ ...options, task: task.task });
    },
    step(action, options) {
      if (!current)
        throw new ToolEnvError('bug.step_before_reset', 'step() before reset(): call reset() first.');
      return current.step(action, options);
    },
    close: async () => current?.close(),
  };
}
