/** recordedOptions: what the config.json of a run says of the options of its plugins. */

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
