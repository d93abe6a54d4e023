/** recordedOptions: what the config.json of a run says of the options of its plugins. */
import type { ResolvedPlugin } from '../flags/plugin-flags.ts';

/**
 * The options that a run has recorded for a plugin, if it is still the same plugin.
 * @param part What config.json calls the plugin.
 */
export function recordedOptions(
  config: Readonly<Record<string, unknown>> | undefined,
  part: 'env' | 'policy' | 'trainer',
  name: unknown,
): Record<string, unknown> {
  if (config?.[part] !== name) return {};
  const options = Object.entries(Object(config?.[`${part}Options`]));
  // A secret is not recorded.
  return Object.fromEntries(options.filter(([, value]) => !JSON.stringify(value).includes('[redacted]')));
}

/**
 * The policy with these options. They are recorded with the others, so that a resumed run has the same prompts on another day.
 * @param recorded What the run that is resumed has recorded; `undefined` for a new run.
 */
export async function beginPolicy(
  chosen: ResolvedPlugin<'policies'>,
  recorded: { policyOptions?: unknown } | undefined,
): Promise<ResolvedPlugin<'policies'>> {
  const { plugin, options } = chosen;
  const fresh = (await plugin.begin?.(options)) ?? {};
  const before = recorded && ((recorded.policyOptions ?? {}) as Record<string, unknown>);
  const fixed = Object.entries(fresh)
    .map(([name, value]) => [name, options[name] ?? (before ? before[name] : value)] as const)
    .filter(([, value]) => value !== undefined);
  return { ...chosen, options: { ...options, ...Object.fromEntries(fixed) } };
}
