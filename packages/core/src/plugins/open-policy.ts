/** Opens a policy that something else than the command line names, such as the judge of an environment. */
import { existsSync } from 'node:fs';
import type { Policy } from '../protocol/policy.ts';
import { completeOptions } from '../schemas/complete-options.ts';
import { loadPlugin } from './plugin.ts';
import type { OpeningRun, PolicyDefinition, PolicyHandle } from './policy-definition.ts';
import { parseAddressed } from './reference.ts';
import { readQuery, splitOptions } from './referenced-options.ts';

/** The policy that opens Hugging Face folders. */
export const referencePolicy = '@toolenv/policy/transformer-v1';

/** A policy, a definition of one, or its name as {@link namedPolicy} reads it, which may be followed by options: `<name>?<option>=<value>`. */
export type PolicySource = Policy | PolicyDefinition | string;

/**
 * The reference that the name of a policy stands for, and the options that the name sets. A name is a reference; `<scheme>:<address>`,
 * such as `openai:<url>#<model>`; or a folder or a name of the Hugging Face Hub, which the reference policy opens. `hf:` is before a name of the
 * Hub that ends as a reference does.
 */
export function namedPolicy(name: string): { ref: string; preset: Record<string, unknown> } {
  const addressed = existsSync(name) || name.startsWith('hf:') ? undefined : parseAddressed(name);
  if (addressed) return { ref: addressed.ref, preset: { address: addressed.address } };
  const isReference = /^(?!hf:).*-v[1-9]\d*$/s.test(name) && !existsSync(name);
  return isReference ? { ref: name, preset: {} } : { ref: referencePolicy, preset: { checkpoint: name } };
}

/**
 * Closing the handle closes what was opened here: a policy that was given open stays open.
 * @throws ToolEnvError What `loadPlugin` throws, `usage.unknown_option` and `usage.bad_option`, and what opening the policy throws.
 */
export async function openPolicy(
  source: PolicySource,
  { from, ...run }: OpeningRun & { from?: string | readonly string[] },
): Promise<PolicyHandle> {
  if (typeof source === 'object' && 'act' in source) {
    const { spec } = source;
    return {
      spec,
      act: (observation, options) => source.act(observation, options),
      endEpisode: (episodeId) => source.endEpisode?.(episodeId),
      get usage() {
        return (source as PolicyHandle).usage!;
      },
    };
  }
  if (typeof source === 'object') return source.open(completeOptions(source.options, {}, source.name), run);
  const { name, query } = splitOptions(source);
  const { ref, preset } = namedPolicy(name);
  const definition = await loadPlugin('policies', ref, { from });
  const options = { ...readQuery(definition.options, query, ref), ...preset };
  return definition.open(completeOptions(definition.options, options, ref), run);
}
