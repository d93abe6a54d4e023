/** What may name a kind of sandbox, and how it is opened. */
import { completeOptions } from '../schemas/complete-options.ts';
import { loadPlugin } from './plugin.ts';
import { readQuery, splitOptions } from './referenced-options.ts';
import type { SandboxHost, SandboxProvider } from './sandbox-provider.ts';

/**
 * Opens a kind of sandbox for a run.
 * @param source A provider, or the reference of one, which may be followed by its options: `@toolenv/sandbox/container-v1?image=python`.
 * @throws ToolEnvError As `loadPlugin` and `openEnv` do for references and options, and as the provider's `open` does.
 */
export async function openSandboxes(
  source: SandboxProvider | string,
  { from }: { from?: string | readonly string[] } = {},
): Promise<SandboxHost> {
  if (typeof source !== 'string') return source.open(completeOptions(source.options, {}, source.name));
  const { name: ref, query } = splitOptions(source);
  const provider = await loadPlugin('sandboxes', ref, { from });
  return provider.open(completeOptions(provider.options, readQuery(provider.options, query, ref), ref));
}
