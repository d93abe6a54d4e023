/** The part of a config.json that scales rotary positions for longer contexts. */

/** As in a config.json. Positions are interpolated; `llama3` and `yarn` leave high frequencies unchanged. */
export type RopeScaling =
  | { rope_type: 'linear'; factor: number }
  | {
      rope_type: 'llama3';
      factor: number;
      low_freq_factor: number;
      high_freq_factor: number;
      original_max_position_embeddings: number;
    }
  | {
      rope_type: 'yarn';
      factor: number;
      original_max_position_embeddings?: number;
      attention_factor?: number;
      beta_fast?: number;
      beta_slow?: number;
      truncate?: boolean;
    };

const required: Record<RopeScaling['rope_type'], readonly string[]> = {
  linear: ['factor'],
  llama3: ['factor', 'low_freq_factor', 'high_freq_factor', 'original_max_position_embeddings'],
  yarn: ['factor'],
};

const numbers = [
  'factor',
  'low_freq_factor',
  'high_freq_factor',
  'original_max_position_embeddings',
  'attention_factor',
  'beta_fast',
  'beta_slow',
] as const;

/** Reads the scaling of a configuration; `undefined` means none. `refuse` makes the error for an unsupported scaling. */
export function readRopeScaling(given: unknown, refuse: (what: string) => Error): RopeScaling | undefined {
  const { type, rope_type: name = type ?? 'default', ...rest } = given as Record<string, unknown>;
  if (name === 'default') return undefined;
  if (typeof name !== 'string' || !Object.hasOwn(required, name))
    throw refuse(
      `rope_scaling of type "${String(name).slice(0, 40)}" is not supported; supported types: ${Object.keys(required).join(', ')}`,
    );
  for (const field of required[name as RopeScaling['rope_type']]) {
    if (rest[field] === undefined) throw refuse(`rope_scaling of type "${name}" needs a number ${field}`);
  }
  for (const field of numbers) {
    const value = rest[field];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0)
      throw refuse(`${field} of rope_scaling must be a number above 0`);
  }
  if (name === 'llama3' && Number(rest.high_freq_factor) <= Number(rest.low_freq_factor))
    throw refuse('high_freq_factor of rope_scaling must be above low_freq_factor');
  // DeepSeek's variant of YaRN.
  if (rest.mscale || rest.mscale_all_dim) throw refuse('mscale in rope_scaling is not supported');
  return { rope_type: name, ...rest } as RopeScaling;
}
