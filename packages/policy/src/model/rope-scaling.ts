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

/** Reads the scaling of a configuration; `undefined` means none. `refuse` makes the error for an unsupported scaling. */
export function readRopeScaling(given: unknown, refuse: (what: string) => Error): RopeScaling | undefined {
  const { type, rope_type: name = type ?? 'default', ...rest } = given as Record<string, unknown>;
  if (name === 'default') return undefined;
  if (!Object.hasOwn(required, String(name)))
    throw refuse(
      `rope_scaling of type "${name}" is not supported; supported types: ${Object.keys(required).join(', ')}`,
    );
  for (const field of required[name as RopeScaling['rope_type']]) {
    if (typeof rest[field] !== 'number')
      throw refuse(`rope_scaling of type "${name}" needs a number ${field}`);
  }
  // DeepSeek's variant of YaRN.
  if (rest.mscale || rest.mscale_all_dim) throw refuse('mscale in rope_scaling is not supported');
  return { rope_type: name, ...rest } as RopeScaling;
}
