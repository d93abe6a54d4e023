/** recordedOptions: what the config.json of a run says of the options of its plugins. */
import { changeableOptions } from '@toolenv/core/plugins';
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

/** A policy with the options that it has added, of which `choices` may be others in a resumed run. */
export interface BegunPolicy extends ResolvedPlugin<'policies'> {
  choices?: Readonly<Record<string, unknown>>;
}

/**
 * The policy with the options of its `begin`. They are recorded, so that a resumed run has the same prompts on another day, and
 * computes as before.
 * @param recorded What the run that is resumed has recorded; `undefined` for a new run.
 */
export async function beginPolicy(
  chosen: ResolvedPlugin<'policies'>,
  recorded: { policyOptions?: unknown; policyChoices?: unknown } | undefined,
): Promise<BegunPolicy> {
  const { plugin, options } = chosen;
  const before = recorded && {
    ...Object(recorded.policyOptions),
    ...Object(recorded.policyChoices),
  };
  const fresh = Object.entries((await plugin.begin?.(options, before)) ?? {});
  const fixed = fresh
    .map(([name, value]) => {
      const given = options[name];
      return [name, given === 'auto' ? value : (given ?? (before ? before[name] : value))] as const;
    })
    .filter(([, value]) => value !== undefined);
  const mayChange = changeableOptions(plugin.options, options);
  const choices = fixed.filter(([name]) => mayChange.includes(name));
  return {
    ...chosen,
    options: { ...options, ...Object.fromEntries(fixed) },
    ...(choices.length > 0 && { choices: Object.fromEntries(choices) }),
  };
}
