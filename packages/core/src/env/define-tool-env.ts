/** defineToolEnv: an environment of tool calls and answers, declared once. */
import type { EnvLimits, EnvSpec } from '../protocol/env.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import { badOption } from '../schemas/complete-options.ts';
import type { ArgumentsSchema, EnvOptions, Flat, GivenEnvOptions } from '../schemas/json-schema-type.ts';
import { isStandardSchema, parse, toJsonSchema } from '../schemas/standard-schema.ts';
import type { EnvDefinition, OpenOptions, Split, TaskSet } from './env-definition.ts';
import type { Episode, EpisodeContext } from './episode.ts';
import { defaultLimits, limitNames, limitOptions } from './limit-options.ts';
import { type RewardDeclaration, rewardSpecOf } from './reward-declaration.ts';
import { type TaskSources, taskSets } from './task-source.ts';
import { ToolEnv } from './tool-env.ts';

/** An environment of tool calls and answers, as its author declares it. */
export interface ToolEnvDefinition<Task, Name extends string, Schema extends ArgumentsSchema, Shared, State>
  extends Pick<
      EnvDefinition<NoInfer<Task>>,
      'name' | 'description' | 'capabilities' | 'data' | 'oracle' | 'best' | 'label'
    >,
    Partial<Pick<EnvDefinition, 'roles'>> {
  /**
   * Schema of the environment's own options: a JSON Schema with `properties` or a Standard Schema. The limits are options
   * too, without being listed.
   */
  readonly options?: Schema;
  readonly limits?: Partial<EnvLimits>;
  /** Loads what all episodes share, once per run. */
  setup?(context: OpenOptions<EnvOptions<Schema>>): Shared | Promise<Shared>;
  /** Releases what `setup` made, at the end of the run. */
  teardown?(shared: NoInfer<Shared>): void | Promise<void>;
  /**
   * The tasks of each split, JSON values: an array, a stream that is read once, `{ length, get(index) }` whose results may be promises,
   * or a function that gives one of these. A stream is read, and a function called, when the split is used.
   */
  readonly tasks:
    | TaskSources<Task>
    | ((context: {
        options: EnvOptions<Schema>;
        seed: number;
        shared: NoInfer<Shared>;
      }) => TaskSources<Task> | Promise<TaskSources<Task>>);
  /** Makes the state that the hooks and the reward functions of an episode share. */
  state?(context: EpisodeContext<NoInfer<Task>, undefined, NoInfer<Shared>, EnvOptions<Schema>>): State;
  /** The components of the reward by name: `{ solved: { kind: 'outcome' } }`. */
  readonly rewards: {
    readonly [Reward in Name]: RewardDeclaration<
      EpisodeContext<NoInfer<Task>, NoInfer<State>, NoInfer<Shared>, EnvOptions<Schema>>
    >;
  };
  /** Begins an episode. */
  episode(
    context: EpisodeContext<NoInfer<Task>, NoInfer<State>, NoInfer<Shared>, EnvOptions<Schema>>,
  ): Episode<NoInfer<Name>> | Promise<Episode<NoInfer<Name>>>;
}

/**
 * Declares an environment. The policy calls tools or answers with a text; the environment replies, rewards and ends the
 * episode. Parsing, validation of arguments, dispatch of parallel calls, timeouts, limits, the history and its order are done.
 *
 * Types follow from the definition: a task's from `tasks`, the names of rewards from `rewards`, options from their schema.
 * State `tasks` and `state` before `rewards`, so that reward functions know their types.
 * @throws ToolEnvError `bug.environment` for an option that has the name of a limit, and for a reward whose kind, range or weight
 *   cannot be; `usage.json_schema` if the library of
 *   the options' schema provides no JSON Schema.
 */
export function defineToolEnv<
  Task,
  const Name extends string,
  const Schema extends ArgumentsSchema = { properties: Record<never, never> },
  Shared = undefined,
  State = undefined,
>(
  definition: ToolEnvDefinition<Task, Name, Schema, Shared, State>,
): EnvDefinition<Task, Flat<GivenEnvOptions<Schema> & EnvLimits>> {
  const { name, description, capabilities, roles = {}, data, oracle, best, label } = definition;
  const limits = { ...defaultLimits, ...definition.limits };
  const rewards = rewardSpecOf(name, definition.rewards);
  type Own = EnvOptions<Schema>;
  // Given as a value, the tasks are the same however often the environment is opened: a stream is read once.
  let fixed: Record<Split, TaskSet<Task>> | undefined;
  const tasksOf = async (options: Own, seed: number, shared: Shared) => {
    const { tasks } = definition;
    if (typeof tasks === 'function') return taskSets(await tasks({ options, seed, shared }));
    fixed ??= taskSets(tasks);
    return fixed;
  };
  return {
    name,
    description,
    options: optionsSchema(name, definition.options, limits),
    rewards,
    limits,
    capabilities,
    roles,
    data,
    oracle,
    best,
    label,
    async open({ options: given, seed, tools, tap }) {
      const { limits: chosen, options } = await readOptions(name, definition.options, {
        ...limits,
        ...given,
      });
      const shared = (await definition.setup?.({ options, seed, tools, tap })) as Shared;
      const spec: EnvSpec = { specVersion: 'v1', name, rewards, limits: chosen };
      let isOpen = true;
      const close = async () => {
        if (isOpen) await definition.teardown?.(shared);
        isOpen = false;
      };
      try {
        const tasks = await tasksOf(options, seed, shared);
        return { tasks, episode: () => new ToolEnv({ ...definition, spec, options, shared }), close };
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
}

/** The author's options and the limits, as one schema. */
function optionsSchema(env: string, own: ArgumentsSchema = {}, limits: EnvLimits): JsonSchema {
  const { $schema: _, ...schema } = isStandardSchema(own) ? toJsonSchema(own, `Environment ${env}`) : own;
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const taken = limitNames.find((limit) => Object.hasOwn(properties, limit));
  if (taken !== undefined) {
    const remedy = 'set its default in "limits", or rename yours';
    throw new ToolEnvError('bug.environment', `${env}: option "${taken}" is a limit already: ${remedy}.`);
  }
  return {
    additionalProperties: false,
    ...schema,
    type: 'object',
    properties: { ...properties, ...limitOptions(limits) },
  };
}

/** The limits, and the author's options with the transforms of a Standard Schema applied. */
async function readOptions<Schema extends ArgumentsSchema>(
  env: string,
  schema: Schema | undefined,
  given: Record<string, unknown>,
): Promise<{ limits: EnvLimits; options: EnvOptions<Schema> }> {
  const { maxTurns, maxCallsPerTurn, toolTimeout, maxToolCharacters, ...own } = given as typeof given &
    EnvLimits;
  const limits = { maxTurns, maxCallsPerTurn, toolTimeout, maxToolCharacters };
  if (!schema || !isStandardSchema(schema)) return { limits, options: own as EnvOptions<Schema> };
  const parsed = await parse(schema, own);
  if ('value' in parsed) return { limits, options: parsed.value as EnvOptions<Schema> };
  throw badOption(env, parsed.mistake);
}
