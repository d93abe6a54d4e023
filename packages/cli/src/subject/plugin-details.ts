/** What a plugin says of itself, without opening it. */
import {
  type EnvCapabilities,
  type EnvLimits,
  type JsonSchema,
  messageOf,
  type Prompts,
  type RewardSpec,
  ToolEnvError,
} from '@toolenv/core';
import { findPlugin, type PluginInfo, type PluginTypes } from '@toolenv/core/plugins';
import { pluginFolders } from './full-name.ts';

/** Fields that a kind of plugin lacks are absent. */
export interface Details {
  name?: string;
  description?: string;
  /** JSON Schema of the options, with defaults. */
  options?: JsonSchema;
  /** Only environments have this field and the next four. */
  rewards?: RewardSpec;
  limits?: EnvLimits;
  capabilities?: Required<EnvCapabilities>;
  /** Open texts by name. */
  prompts?: Prompts;
  /** Role → reference of the tool that fills it unless another is given. */
  roles?: Record<string, string>;
  /** Material for which a tool can be made. */
  example?: unknown;
}

export type PluginDetails = PluginInfo & Details & { error?: string };

/** A plugin that cannot be loaded has an `error`. */
export async function pluginDetails(info: PluginInfo): Promise<PluginDetails> {
  try {
    const { plugin } = await findPlugin(info.kind, info.ref, { from: pluginFolders() });
    return { ...info, ...detailsOf(plugin) };
  } catch (error) {
    return { ...info, error: messageOf(error) };
  }
}

/** @throws ToolEnvError `usage.bad_plugin` for a value that is not a plugin. */
export function detailsOf(plugin: PluginTypes[keyof PluginTypes]): Details {
  // A trainer is a function with these properties.
  if (typeof plugin?.description !== 'string') {
    const message = 'The default export is not a plugin: toolenv check says what it must be.';
    throw new ToolEnvError('usage.bad_plugin', message);
  }
  const { name, description } = plugin;
  if ('create' in plugin) return { name, description, example: plugin.example.material };
  const { options } = plugin;
  if (!('rewards' in plugin)) return { name, description, options };
  const { rewards, limits, prompts, roles, capabilities } = plugin;
  const usual = { seedable: true, concurrent: true, networked: false, remote: false };
  return {
    ...{ name, description, options, rewards, limits, roles },
    ...(prompts && { prompts }),
    capabilities: { ...usual, ...capabilities },
  };
}
