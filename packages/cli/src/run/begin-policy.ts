/** The options that a policy fixes when a run begins, such as the day that its prompts name. */
import type { ResolvedPlugin } from '../flags/plugin-flags.ts';

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
