/** What may fill a role of an environment, and its factory. */
import type { ToolFactory } from '../env/env-definition.ts';
import { loadPlugin } from './plugin.ts';

/**
 * A factory, a plugin, or the reference of a plugin. Environment and tool agree on the material, which no type can follow
 * here.
 */
export type ToolSource = ToolFactory<never> | { create: ToolFactory<never> } | string;

/** The factory of a tool. Throws as {@link loadPlugin} does. */
export async function toolFactory(
  source: ToolSource,
  options: { from?: string | readonly string[] } = {},
): Promise<ToolFactory> {
  if (typeof source === 'function') return source as ToolFactory;
  const plugin = typeof source === 'string' ? await loadPlugin('tools', source, options) : source;
  return (material) => plugin.create(material as never);
}
