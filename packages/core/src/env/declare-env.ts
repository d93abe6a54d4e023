/** declareEnv: what all environments have that their authors declare: options and limits, tasks, rewards, and what their episodes share. */

import { unknownPart } from '../protocol/did-you-mean.ts';
import type { Env, EnvLimits, EnvSpec } from '../protocol/env.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import { type Prompts, replacePrompts } from '../protocol/prompts.ts';
import { badOption } from '../schemas/complete-options.ts';
import type { ArgumentsSchema, EnvOptions, EnvOptionsInput, Simplify } from '../schemas/json-schema-type.ts';
import { isStandardSchema, parse, toJsonSchema } from '../schemas/standard-schema.ts';
import type { EnvDefinition, EnvHandle, OpenOptions } from './env-definition.ts';
import type { EpisodeContext } from './episode.ts';
import { defaultLimits, limitNames, limitOptions } from './limit-options.ts';
import { openPlayers, type PlayerBinding, playerOptions, scriptsOf } from './open-players.ts';
import { openScores, scoreOptionsOf, scoreToolsOf } from './open-scores.ts';
import type { PlayerDeclaration } from './player-declaration.ts';
import { type RewardDeclaration, rewardSpecOf, type ScoredReward } from './reward-declaration.ts';
import { namedSplits, type TaskSources, taskSets } from './task-source.ts';

/** What an author declares of an environment, whoever writes the loop of its episodes. `Scored` is what reward functions receive. */
export interface EnvDeclaration<
  Task,
  Name extends string,
  Schema extends ArgumentsSchema,
  Shared,
  State,
  Scored,
  Text extends string = string,
> extends Pick<
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
  /**
   * Open texts by name, such as the instructions: `{ system: 'Answer in one word.' }`. A run may replace them, and a prompt trainer
   * improves them. `context.prompt(name)` gives the text of the episode.
   */
  readonly prompts?: { readonly [Prompt in Text]: string };
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
  readonly state?: (
    context: EpisodeContext<Task, undefined, Shared, EnvOptions<Schema>, NoInfer<Text>>,
  ) => State;
  /** Other players by name: a user, an opponent. Hooks ask them by `context.player(name).ask(…)`. */
  readonly players?: Readonly<Record<string, PlayerDeclaration<Scored>>>;
  /** The components of the reward by name: `{ solved: { kind: 'outcome' } }`. */
  readonly rewards: { readonly [Reward in Name]: RewardDeclaration<Scored> };
}

/** What the episodes of an open environment are made from. */
export interface EpisodeParts {
  spec: EnvSpec;
  options: unknown;
  shared: unknown;
  /** The open texts, unless an episode is given others. */
  prompts: Prompts;
  /** The declared rewards, whose scores can be asked. */
  rewards: Readonly<Record<string, ScoredReward<never>>>;
  /** Who plays the declared players. */
  seats: ReadonlyMap<string, PlayerBinding>;
}

/** Plays the episodes of an environment while it is open. */
export interface EpisodeMaker<Task> {
  episode(parts: EpisodeParts): Env<Task>;
  readonly identity?: EnvHandle<Task>['identity'];
  close?(): void | Promise<void>;
}

/** What every kind of environment may declare. */
export const definitionParts: readonly string[] = [
  ...['name', 'description', 'options', 'limits', 'capabilities', 'data', 'roles', 'prompts', 'players'],
  ...['setup', 'teardown', 'tasks', 'state', 'rewards', 'oracle', 'best', 'label'],
];

/**
 * The definition of a declared environment.
 * @param own What only this kind of environment declares. The first must be a function.
 * @param begin Called each time that the environment opens.
 * @throws ToolEnvError as `defineToolEnv` does.
 */
export function declareEnv<
  Task,
  Name extends string,
  Schema extends ArgumentsSchema,
  Shared,
  State,
  Scored,
  Text extends string,
>(
  declared: EnvDeclaration<Task, Name, Schema, Shared, State, Scored, Text>,
  own: readonly string[],
  begin: () => EpisodeMaker<Task> | Promise<EpisodeMaker<Task>>,
): EnvDefinition<Task, Simplify<EnvOptionsInput<Schema> & EnvLimits>> {
  expectParts(declared, own);
  const { name, description, capabilities, data, oracle, best, label } = declared;
  const limits = { ...defaultLimits, ...declared.limits };
  const rewards = rewardSpecOf(name, declared.rewards);
  const scoreTools = scoreToolsOf(name, declared.rewards);
  const players = declared.players ?? {};
  const prompts = replacePrompts(declared.prompts ?? {}, declared.prompts ?? {}, name);
  const asked = { ...scoreOptionsOf(scoreTools), ...playerOptions(name, players) };
  const roles = {
    ...Object.fromEntries([...scoreTools].map(([role, { tool }]) => [role, tool])),
    ...declared.roles,
  };
  type Own = EnvOptions<Schema>;
  // Given as a value, the tasks are the same however often the environment is opened: a stream is read once.
  let fixed: Pick<EnvHandle<Task>, 'tasks' | 'splits'> | undefined;
  const tasksOf = async (options: Own, seed: number, shared: Shared) => {
    const { tasks } = declared;
    if (typeof tasks === 'function') return setsOf(await tasks({ options, seed, shared }));
    fixed ??= setsOf(tasks);
    return fixed;
  };
  return {
    name,
    description,
    options: optionsSchema(name, declared.options, { asked, limits }),
    rewards,
    limits,
    capabilities,
    ...(declared.prompts && { prompts }),
    ...(declared.players && { players: scriptsOf(players) }),
    roles,
    data,
    oracle,
    best,
    label,
    withRewards: (change) => declareEnv({ ...declared, rewards: change(declared.rewards) }, own, begin),
    async open({ options: given, seed, tools, tap, policy }) {
      const { own, others } = apart({ ...limits, ...given }, asked);
      const { limits: chosen, options } = await readOptions(name, declared.options, own);
      const shared = (await declared.setup?.({ options, seed, tools, tap })) as Shared;
      let maker: EpisodeMaker<Task> | undefined;
      let scores: Awaited<ReturnType<typeof openScores>> | undefined;
      let table: Awaited<ReturnType<typeof openPlayers>> | undefined;
      let isOpen = true;
      const close = async () => {
        if (!isOpen) return;
        isOpen = false;
        await maker?.close?.();
        await scores?.close();
        await table?.close();
        await declared.teardown?.(shared);
      };
      try {
        const sets = await tasksOf(options, seed, shared);
        scores = await openScores(declared.rewards, scoreTools, others, tools);
        table = await openPlayers(players, others, { policy, tap });
        const { seats } = table;
        const learned = [...seats].filter(([, { kind }]) => kind === 'self').map(([player]) => player);
        const spec: EnvSpec = {
          specVersion: 'v1',
          name,
          rewards,
          limits: chosen,
          ...(learned.length > 0 && { players: learned }),
        };
        const made = await begin();
        maker = made;
        const { identity } = made;
        const scored = scores.rewards;
        return {
          ...sets,
          episode: () => made.episode({ spec, options, shared, prompts, rewards: scored, seats }),
          close,
          ...(declared.prompts && { prompts }),
          ...(identity && { identity }),
        };
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
}

function setsOf<Task>(sources: TaskSources<Task>): Pick<EnvHandle<Task>, 'tasks' | 'splits'> {
  return { tasks: taskSets(sources), splits: namedSplits(sources) };
}

/** Where a part belongs that is not of the definition. */
function placeOfPart(part: string, own: readonly string[]): string | undefined {
  if ((limitNames as readonly string[]).includes(part)) return 'It belongs into "limits".';
  const ofEpisode = ['messages', 'tools', 'onAnswer', 'onToolResults', 'close'];
  return own[0] === 'episode' && ofEpisode.includes(part) ? 'Return it from "episode".' : undefined;
}

/** @throws ToolEnvError `bug.environment` for a part that is missing, and for one that would be overlooked. */
function expectParts(declared: object, own: readonly string[]): void {
  const parts = declared as Readonly<Record<string, unknown>>;
  const env = String(parts.name ?? 'The environment');
  const wrong = (problem: string) =>
    new ToolEnvError('bug.environment', `${env}: the definition has ${problem}`);
  const known = [...definitionParts, ...own];
  const unknown = unknownPart(declared, known);
  const place = Object.keys(declared)
    .filter((part) => !known.includes(part))
    .map((part) => placeOfPart(part, own))[0];
  if (unknown) throw wrong(place ? unknown.replace(/ (Parts: .*|Did you mean .*)$/, ` ${place}`) : unknown);
  const missing = ['name', 'description', 'tasks', 'rewards', own[0]!].find((part) => !parts[part]);
  if (missing !== undefined) throw wrong(`no "${missing}": add it.`);
  if (typeof parts[own[0]!] !== 'function')
    throw wrong(`a part "${own[0]}" that is no function: give a function.`);
  const within = { limits: limitNames, capabilities: ['seedable', 'concurrent', 'networked', 'remote'] };
  for (const [part, known] of Object.entries(within)) {
    const overlooked = unknownPart(Object(parts[part]), known);
    if (overlooked) throw new ToolEnvError('bug.environment', `${env}: "${part}" has ${overlooked}`);
  }
}

/** The options of the author and the limits, and the options of the tools that score and of the players. */
function apart(
  given: Record<string, unknown>,
  asked: Record<string, JsonSchema>,
): { own: Record<string, unknown>; others: Record<string, unknown> } {
  const part = (isOther: boolean) =>
    Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(asked, name) === isOther));
  return { own: part(false), others: part(true) };
}

/** Of these, a schema of options has one. */
const schemaWords = /^(type|properties|required|additionalProperties|title|description|\$.*|.*Of|not|if)$/;

/** The author's options, the limits, and the options of the tools that score and of the players, as one schema. */
function optionsSchema(
  env: string,
  own: ArgumentsSchema = {},
  { asked, limits }: { asked: Record<string, JsonSchema>; limits: EnvLimits },
): JsonSchema {
  const { $schema: _, ...schema } = isStandardSchema(own) ? toJsonSchema(own, `Environment ${env}`) : own;
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const names = Object.keys(schema);
  if (names.length > 0 && !names.some((name) => schemaWords.test(name))) {
    const remedy = `write options: { properties: { ${names[0]}: { default: ${JSON.stringify(schema[names[0]!])} } } }`;
    throw new ToolEnvError('bug.environment', `${env}: "options" is no JSON Schema: ${remedy}.`);
  }
  const taken = limitNames.find((limit) => Object.hasOwn(properties, limit));
  if (taken !== undefined) {
    const remedy = 'set its default in "limits", or rename yours';
    throw new ToolEnvError('bug.environment', `${env}: option "${taken}" is a limit already: ${remedy}.`);
  }
  const reserved = new Set<string>([...limitNames, ...Object.keys(properties)]);
  const doubled = Object.keys(asked).find((option) => reserved.has(option));
  if (doubled !== undefined) {
    const message = `${env}: option "${doubled}" belongs to a player, or to the tool of a score: rename yours, the player, or the role of the score.`;
    throw new ToolEnvError('bug.environment', message);
  }
  return {
    additionalProperties: false,
    ...schema,
    type: 'object',
    properties: { ...properties, ...asked, ...limitOptions(limits) },
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
