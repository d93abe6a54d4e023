/** Opens an environment for a run: plugin, options and the tools of its roles. */
import { guardEnv } from '../boundary/guarded-env.ts';
import type { EnvDefinition, EnvHandle, RewardDeclarations, ToolFactory } from '../env/env-definition.ts';
import type { ToolTap } from '../env/tool-tap.ts';
import { didYouMean } from '../protocol/did-you-mean.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import { type Prompts, replacePrompts } from '../protocol/prompts.ts';
import { completeOptions } from '../schemas/complete-options.ts';
import { withPrompts } from '../wrappers/with-prompts.ts';
import { type ToolSource, toolFactory } from './tool-source.ts';

/** How to open an environment, in addition to its own options. */
export interface OpenEnvSettings {
  /** Seeds whatever the environment generates when it opens. Default 1. */
  seed?: number;
  /** Role → tool, in place of the environment's default: a factory, a tool plugin or its reference. */
  tools?: Record<string, ToolSource>;
  /** Folder to search for plugins from. Default: the working folder. */
  from?: string;
  /** Records or replays the calls of the tools: `recordEnv` or `replayEnv` of `@toolenv/core/recording`. */
  tap?: ToolTap;
  /** Texts in place of the environment's open texts, by name. */
  prompts?: Prompts;
  /** Makes other rewards from those that the environment declares: `withRewards` of its definition. */
  rewards?: (declared: RewardDeclarations) => RewardDeclarations;
  /**
   * Whether each answer of an Env is checked, as rollouts and servers do too: a broken rule of the spec throws and names the rule.
   * Default true. Checks of a definition switch it off, to see what the author's code does by itself.
   */
  guarded?: boolean;
}

/** An environment that {@link openEnv} has opened. */
export interface OpenedEnv<Task> extends EnvHandle<Task> {
  /** The environment's own options, with defaults. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Role → the tool that fills it: its reference, or its name if it is not a plugin. */
  readonly tools: Readonly<Record<string, string>>;
  /** Closes the environment at the end of a scope: `await using env = await openEnv(…)`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens an environment by reference or definition: `openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 })`. Close it when the
 * run is over, or declare it with `await using`. `openenv:<url>` is the environment of an OpenEnv server,
 * `ors:<url>#<environment>` one of an ORS server.
 * @param options The environment's own options. Its schema's defaults fill in what is absent.
 * @throws ToolEnvError `usage.unknown_plugin`, `usage.unknown_option`, `usage.bad_option`, `usage.unknown_role`,
 *   `usage.unknown_prompt`, `usage.bad_prompt`, `usage.fixed_rewards` for other rewards of an environment that does not declare them, `usage.not_recordable` if a tap is given and the environment asks it for no tool.
 */
export function openEnv(
  ref: string,
  options?: Record<string, unknown>,
  settings?: OpenEnvSettings,
): Promise<OpenedEnv<unknown>>;
export function openEnv<Task, Options>(
  definition: EnvDefinition<Task, Options>,
  options?: Partial<Options>,
  settings?: OpenEnvSettings,
): Promise<OpenedEnv<Task>>;
export async function openEnv(
  env: string | EnvDefinition<unknown, unknown>,
  options: Record<string, unknown> = {},
  settings: OpenEnvSettings = {},
): Promise<OpenedEnv<unknown>> {
  const { seed = 1, tools = {}, from = process.cwd(), tap, prompts = {}, rewards, guarded = true } = settings;
  const loaded = typeof env === 'string' ? await findEnv(env, from) : undefined;
  const declared = loaded ? loaded.plugin : (env as EnvDefinition);
  const owner = loaded?.ref ?? declared.name;
  const definition = rewards ? withRewards(declared, rewards, owner) : declared;
  const complete = completeOptions(definition.options, options, owner);
  // Before anything opens.
  replacePrompts(definition.prompts ?? {}, prompts, owner);
  checkRoles(Object.keys(tools), Object.keys(definition.roles), owner);

  const folders = loaded ? [from, loaded.folder] : [from];
  const chosen: Record<string, ToolFactory> = {};
  const names: Record<string, string> = {};
  for (const [role, fallback] of Object.entries(definition.roles)) {
    const tool = tools[role] ?? fallback;
    names[role] = typeof tool === 'string' ? tool : String((tool as { name?: string }).name ?? '');
    const load = () => toolFactory(tool, { from: folders });
    chosen[role] = tap ? (material) => tap.tool(role, async () => (await load())(material)) : await load();
  }

  const policy = async (name: string) => {
    const { openPolicy } = await import('./open-policy.ts');
    return openPolicy(name, { seed, from: folders });
  };
  const open = await definition.open({ options: complete, seed, tools: chosen, tap, policy });
  try {
    tap?.opened(owner);
  } catch (error) {
    await open.close();
    throw error;
  }
  const opened: OpenedEnv<unknown> = {
    tasks: open.tasks,
    ...(open.splits && { splits: open.splits }),
    ...(open.draw && { draw: open.draw }),
    ...(open.prompts && { prompts: open.prompts }),
    ...(open.identity && { identity: open.identity }),
    episode: () => (guarded ? guardEnv(open.episode(), definition.capabilities?.remote) : open.episode()),
    close: () => open.close(),
    [Symbol.asyncDispose]: () => open.close(),
    ref: loaded?.ref,
    packageVersion: loaded?.version,
    capabilities: definition.capabilities,
    options: complete,
    tools: names,
  };
  return Object.keys(prompts).length > 0 ? withPrompts(opened, prompts) : opened;
}

function withRewards(
  definition: EnvDefinition,
  rewards: NonNullable<OpenEnvSettings['rewards']>,
  owner: string,
): EnvDefinition {
  if (definition.withRewards) return definition.withRewards(rewards);
  const message = `${owner} scores by rules of its own, so its rewards cannot be replaced: declare it with defineToolEnv, or change its code.`;
  throw new ToolEnvError('usage.fixed_rewards', message);
}

/** Files are read only where something is named by a reference: a definition opens without them. */
async function findEnv(ref: string, from: string) {
  const { findPlugin } = await import('./plugin.ts');
  return findPlugin('envs', ref, { from });
}

function checkRoles(given: string[], roles: string[], owner: string): void {
  const unknown = given.find((role) => !roles.includes(role));
  if (unknown === undefined) return;
  const hint = didYouMean(unknown, roles, 'Roles');
  throw new ToolEnvError('usage.unknown_role', `${owner} has no role "${unknown}". ${hint}`);
}
