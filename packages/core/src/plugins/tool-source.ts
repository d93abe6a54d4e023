/** What may fill a role of an environment, and its factory. */
import type { ToolFactory } from '../env/env-definition.ts';
import { completeOptions } from '../schemas/complete-options.ts';

/**
 * A factory, a plugin, or the reference of a plugin, which may be followed by its options:
 * `@toolenv/tools-search/index-search-v1?folder=wiki`. Environment and tool agree on the material, which no type can follow
 * here.
 */
export type ToolSource = ToolFactory<never> | { create: ToolFactory<never> } | string;

/**
 * The factory of a tool. Throws as `loadPlugin` does.
 * @throws ToolEnvError `usage.unknown_option`, `usage.bad_option` for the options behind a reference.
 */
export async function toolFactory(
  source: ToolSource,
  { from }: { from?: string | readonly string[] } = {},
): Promise<ToolFactory> {
  if (typeof source === 'function') return source as ToolFactory;
  if (typeof source !== 'string') return (material) => source.create(material as never);
  // Files are read only for a reference.
  const { loadPlugin } = await import('./plugin.ts');
  const { readQuery, splitOptions } = await import('./referenced-options.ts');
  const { name: ref, query } = splitOptions(source);
  const plugin = await loadPlugin('tools', ref, { from });
  const schema = plugin.options ?? { type: 'object', properties: {} };
  const options = completeOptions(schema, readQuery(schema, query, ref), ref);
  return (material) => plugin.create(material as never, options);
}
