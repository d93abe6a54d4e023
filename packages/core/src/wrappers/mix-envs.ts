/** mixEnvs: joins several environments into one, to train on the tasks of all of them. */
import { isDeepStrictEqual } from 'node:util';
import {
  type EnvCapabilities,
  type EnvHandle,
  maxConcurrency,
  type Split,
  type TaskSet,
} from '../env/env-definition.ts';
import { limitNames } from '../env/limit-options.ts';
import type { TaskDraw } from '../env/task-draw.ts';
import { taskSet } from '../env/task-source.ts';
import type { Env, EnvLimits, EnvSpec } from '../protocol/env.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import { drawByWeights, type MixPart } from './mix-draw.ts';

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
 * @throws ToolEnvError `usage.mix` if there is no environment, the rewards differ, or a weight is wrong.
 */
export function mixEnvs<Task>(
  envs: Readonly<Record<string, EnvHandle<Task>>>,
  {
    weights,
  }: {
    /**
     * How often training draws the tasks of each environment, relative to the others; 0 is never. Default: by their numbers of
     * tasks.
     */
    weights?: Readonly<Record<string, number>> | undefined;
  } = {},
): EnvHandle<MixedTask<Task>> {
  const draw = drawOf(envs, weights);
  const spec = mixedSpec(Object.values(envs).map((env) => env.episode().spec));
  return {
    tasks: {
      train: joined(envs, 'train', oneAfterAnother),
      validation: joined(envs, 'validation', inTurn),
      test: joined(envs, 'test', inTurn),
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
  for (const [name, weight] of Object.entries(weights ?? {})) {
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY))
      throw wrong(`the weight of ${name} is ${weight}: give a number from 0 up`);
  }
  const isNever = (name: string) => weights !== undefined && !weights[name];
  if (Object.keys(envs).every(isNever)) throw wrong('every weight is 0');
  return async (drawing) => {
    let offset = 0;
    const parts: MixPart[] = [];
    for (const [name, { tasks, draw }] of Object.entries(envs)) {
      const length = await tasks.train.length;
      const weight = weights === undefined ? length : (weights[name] ?? 0);
      if (weight > 0 && length === 0) throw wrong(`${name} has a weight and no training tasks`);
      parts.push({ name, offset, length, weight, draw });
      offset += length;
    }
    const drawn = parts.filter(({ weight }) => weight > 0);
    if (drawn.length === 0) throw wrong('there are no training tasks');
    return drawByWeights(drawn, drawing);
  };
}

/** Seedable if all are, as concurrent as the least of them, networked and remote if any is. */
function mixedCapabilities(envs: readonly Pick<EnvHandle<unknown>, 'capabilities'>[]): EnvCapabilities {
  const declared = envs.map(({ capabilities = {} }) => capabilities);
  const atOnce = Math.min(...declared.map(maxConcurrency));
  return {
    seedable: declared.every(({ seedable = true }) => seedable),
    concurrent: Number.isFinite(atOnce) ? atOnce : true,
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
  const widest = limitNames.map((name) => [name, Math.max(...specs.map(({ limits }) => limits[name]))]);
  const limits: EnvLimits = Object.fromEntries(widest);
  return { ...first, name: specs.map(({ name }) => name).join('+'), limits };
}

/** Which set of tasks has the task at an index of the joined split, and where. */
type FindPlace = (lengths: readonly number[], index: number) => { set: number; index: number };

/** The tasks of all environments in a split, in the order of `find`. */
function joined<Task>(
  envs: Readonly<Record<string, EnvHandle<Task>>>,
  split: Split,
  find: FindPlace,
): TaskSet<MixedTask<Task>> {
  const sets = Object.entries(envs).map(([env, { tasks }]) => ({ env, tasks: tasks[split] }));
  const lengths = () => Promise.all(sets.map(({ tasks }) => tasks.length));
  return taskSet({
    get length() {
      return lengths().then((each) => each.reduce((total, length) => total + length, 0));
    },
    async get(index) {
      const place = find(await lengths(), index);
      const { env, tasks } = sets[place.set]!;
      return { env, task: await tasks.get(place.index) };
    },
  });
}

/** All tasks of the first set, then all of the next. */
function oneAfterAnother(lengths: readonly number[], index: number): ReturnType<FindPlace> {
  let left = index;
  let set = 0;
  while (left >= lengths[set]!) left -= lengths[set++]!;
  return { set, index: left };
}

/** One task of each set, then the next of each. A set that has no more tasks is passed over. */
function inTurn(lengths: readonly number[], index: number): ReturnType<FindPlace> {
  let left = index;
  for (let round = 0; ; ) {
    const open = [...lengths.keys()].filter((set) => lengths[set]! > round);
    // The same sets take part in every round until the shortest of them ends.
    const rounds = Math.min(...open.map((set) => lengths[set]!)) - round;
    if (left < rounds * open.length)
      return { set: open[left % open.length]!, index: round + Math.floor(left / open.length) };
    left -= rounds * open.length;
    round += rounds;
  }
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
    tools: () => current?.tools?.() ?? [],
  };
}
