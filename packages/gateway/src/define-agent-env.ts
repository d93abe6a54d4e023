/** defineAgentEnv: an environment whose loop an agent writes: one that exists, in any framework or language. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EnvDefinition, type EnvLimits, messageOf, ToolEnvError } from '@toolenv/core';
import { declareEnv, type EnvDeclaration } from '@toolenv/core/env';
import type { ArgumentsSchema, EnvOptions, EnvOptionsInput, Simplify } from '@toolenv/core/schemas';
import { AgentEnv, type AgentEnvParts } from './agent-env.ts';
import type { AgentContext, AgentEpisodeContext } from './agent-episode.ts';
import type { FaultSource } from './agent-fault.ts';
import { Gateway } from './gateway.ts';
import type { Malformed } from './history.ts';

/** An environment of an agent, as its author declares it. */
export interface AgentEnvDefinition<
  Task,
  Name extends string,
  Schema extends ArgumentsSchema,
  Shared,
  State,
  Result,
  Text extends string = string,
> extends Omit<
    EnvDeclaration<
      Task,
      Name,
      Schema,
      Shared,
      State,
      AgentEpisodeContext<Task, State, Shared, EnvOptions<Schema>, Awaited<Result>, NoInfer<Text>>,
      Text
    >,
    'players'
  > {
  /**
   * Runs the agent with a model at `baseURL` and `apiKey`, until it has its result. `limits.maxTurns` counts its requests, and
   * `limits.toolTimeout` is the time that it may take from an answer to its next request or its end; an agent that takes longer is truncated.
   */
  readonly agent: (
    context: AgentContext<Task, State, Shared, EnvOptions<Schema>, NoInfer<Name>, NoInfer<Text>>,
  ) => Result;
  /**
   * The file of the agent, such as `import.meta.url`. A run records its digest and that of its package.json, and a resumed run whose agent is another
   * is refused unless the change is allowed. Default: the agent is known by the version of the environment's package only.
   */
  readonly entry?: string | URL;
  /** What becomes of a turn whose calls do not parse. Default `text`. */
  readonly malformed?: Malformed;
  /**
   * Who is to blame for an error that the agent has thrown: the model, and the episode is scored, or the agent, and it is aborted. `undefined`
   * for errors that it does not know. The errors of known frameworks are known.
   */
  blame?(error: unknown): FaultSource | undefined;
}

/**
 * Declares an environment that runs an agent: an episode gives it a base URL and a key, the gateway answers with the policy in training and
 * keeps every token, and reward functions score what the agent came to. Otherwise it is declared as with `defineToolEnv`. State `tasks`, `state` and
 * `agent` before `rewards`, so that reward functions know their types. `defineAgentEnv<Task>()({ … })` takes the type of a task by hand.
 *
 * Its capabilities are by default those of an agent: it connects to a server and does not repeat from a seed. Declare `seedable: true` for an agent that does, and the
 * number of episodes that may run at once as `concurrent` where each needs a process.
 * @throws ToolEnvError as `defineToolEnv` does.
 */
export function defineAgentEnv<
  Task,
  const Name extends string,
  const Schema extends ArgumentsSchema = { properties: Record<never, never> },
  Shared = undefined,
  State = undefined,
  Result = unknown,
  const Text extends string = never,
>(
  definition: AgentEnvDefinition<Task, Name, Schema, Shared, State, Result, Text>,
): EnvDefinition<Task, Simplify<EnvOptionsInput<Schema> & EnvLimits>>;
export function defineAgentEnv<Task>(): <
  const Name extends string,
  const Schema extends ArgumentsSchema = { properties: Record<never, never> },
  Shared = undefined,
  State = undefined,
  Result = unknown,
  const Text extends string = never,
>(
  definition: AgentEnvDefinition<Task, Name, Schema, Shared, State, Result, Text>,
) => EnvDefinition<Task, Simplify<EnvOptionsInput<Schema> & EnvLimits>>;
export function defineAgentEnv(
  ...definitions: [] | [AgentEnvDefinition<unknown, string, ArgumentsSchema, unknown, unknown, unknown>]
): unknown {
  const [definition] = definitions;
  if (!definition) return defineAgentEnv;
  const capabilities = { seedable: false, networked: true, ...definition.capabilities };
  return declareEnv({ ...definition, capabilities }, ['agent', 'entry', 'malformed', 'blame'], async () => {
    const { entry } = definition;
    const identity = entry === undefined ? undefined : { agent: await agentIdentity(entry) };
    const gateway = await Gateway.open();
    return {
      ...(identity && { identity }),
      episode: (parts) =>
        new AgentEnv<unknown>({ ...(definition as unknown as AgentEnvParts), ...parts, gateway }),
      close: () => gateway.close(),
    };
  });
}

/** Recorded with a run. */
type AgentIdentity = Readonly<Record<'entry' | 'sha256', string>>;

/**
 * The name and the digest of an agent's file, with the package.json that it belongs to, so that other versions of its packages count too.
 * @throws ToolEnvError `usage.agent_entry` if the file cannot be read.
 */
async function agentIdentity(entry: string | URL): Promise<AgentIdentity> {
  const file = entry instanceof URL || entry.startsWith('file:') ? fileURLToPath(entry) : entry;
  const content = await readFile(file).catch((error) => {
    const message = `The entry of the agent cannot be read: ${messageOf(error)}: give its file, such as import.meta.url.`;
    throw new ToolEnvError('usage.agent_entry', message, { cause: error });
  });
  const sha256 = createHash('sha256')
    .update(content)
    .update(await packageOf(file));
  return { entry: basename(file), sha256: sha256.digest('hex') };
}

async function packageOf(file: string): Promise<Buffer> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const found = await readFile(join(folder, 'package.json')).catch(() => undefined);
    if (found) return found;
    if (folder === dirname(folder)) return Buffer.alloc(0);
  }
}
