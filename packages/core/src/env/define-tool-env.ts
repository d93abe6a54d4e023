/** defineToolEnv: an environment of tool calls and answers, declared once. */
import type { EnvLimits } from '../protocol/env.ts';
import type { ArgumentsSchema, EnvOptions, EnvOptionsInput, Simplify } from '../schemas/json-schema-type.ts';
import { declareEnv, type EnvDeclaration } from './declare-env.ts';
import type { EnvDefinition } from './env-definition.ts';
import type { Episode, EpisodeContext } from './episode.ts';
import type { PlayerDeclaration } from './player-declaration.ts';
import { ToolEnv } from './tool-env.ts';

/** Refuses what no episode has: TypeScript lets it pass in what a function returns. */
export type OnlyParts<Begun> = Begun & {
  readonly [Part in Exclude<keyof Begun, keyof Episode>]?: `An episode has no part "${Part & string}".`;
};

/** An environment of tool calls and answers, as its author declares it. */
export interface ToolEnvDefinition<
  Task,
  Name extends string,
  Schema extends ArgumentsSchema,
  Shared,
  State,
  Other extends string = string,
  Text extends string = string,
  Begun extends Episode = Episode<NoInfer<Name>, NoInfer<Other>>,
> extends EnvDeclaration<
    Task,
    Name,
    Schema,
    Shared,
    State,
    EpisodeContext<Task, State, Shared, EnvOptions<Schema>, NoInfer<Text>, NoInfer<Other>>,
    Text
  > {
  /** Other players by name: a user, an opponent. Hooks ask them by `context.player(name).ask(…)`. */
  readonly players?: {
    readonly [Player in Other]: PlayerDeclaration<
      EpisodeContext<Task, State, Shared, EnvOptions<Schema>, NoInfer<Text>, NoInfer<Other>>
    >;
  };
  /** Begins an episode. */
  readonly episode: (
    context: EpisodeContext<Task, State, Shared, EnvOptions<Schema>, NoInfer<Text>, NoInfer<Other>>,
  ) => OnlyParts<Begun> | Promise<OnlyParts<Begun>>;
}

/**
 * Declares an environment. The policy calls tools or answers with a text; the environment replies, rewards and ends the
 * episode. Parsing, validation of arguments, dispatch of parallel calls, timeouts, limits, the history and its order are done.
 *
 * Types follow from the definition: a task's from `tasks`, the names of rewards from `rewards`, options from their schema.
 * State `tasks` and `state` before `rewards`, so that reward functions know their types; or give the type of a task by hand, with
 * `defineToolEnv<Task>()({ … })`, and the others still follow.
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
  const Other extends string = never,
  const Text extends string = never,
  Begun extends Episode<NoInfer<Name>, NoInfer<Other>> = Episode<NoInfer<Name>, NoInfer<Other>>,
>(
  definition: ToolEnvDefinition<Task, Name, Schema, Shared, State, Other, Text, Begun>,
): EnvDefinition<Task, Simplify<EnvOptionsInput<Schema> & EnvLimits & { [Player in Other]: string }>>;
export function defineToolEnv<Task>(): <
  const Name extends string,
  const Schema extends ArgumentsSchema = { properties: Record<never, never> },
  Shared = undefined,
  State = undefined,
  const Other extends string = never,
  const Text extends string = never,
  Begun extends Episode<NoInfer<Name>, NoInfer<Other>> = Episode<NoInfer<Name>, NoInfer<Other>>,
>(
  definition: ToolEnvDefinition<Task, Name, Schema, Shared, State, Other, Text, Begun>,
) => EnvDefinition<Task, Simplify<EnvOptionsInput<Schema> & EnvLimits & { [Player in Other]: string }>>;
export function defineToolEnv(
  ...definitions: [] | [ToolEnvDefinition<unknown, string, ArgumentsSchema, unknown, unknown>]
): unknown {
  const [definition] = definitions;
  if (!definition) return defineToolEnv;
  return declareEnv(definition, ['episode'], () => ({
    episode: (parts) => new ToolEnv<unknown, never>({ ...definition, ...parts }),
  }));
}
