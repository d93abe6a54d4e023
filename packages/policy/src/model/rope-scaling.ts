/** The part of a config.json that stretches rotary positions over longer contexts. */

/** As in a config.json. Positions are interpolated; `llama3` and `yarn` spare the fast frequencies. */
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

/** The scaling that a configuration asks for. `refuse` makes the error for one that is not known here. */
export function readRopeScaling(given: unknown, refuse: (what: string) => Error): RopeScaling | undefined {
  const { type, rope_type: name = type ?? 'default', ...rest } = given as Record<string, unknown>;
  if (name === 'default') return undefined;
  if (!Object.hasOwn(required, String(name)))
    throw refuse(`rope_scaling of type "${name}" is not supported, only ${Object.keys(required).join(', ')}`);
  for (const field of required[name as RopeScaling['rope_type']]) {
    if (typeof rest[field] !== 'number')
      throw refuse(`rope_scaling of type "${name}" needs a number ${field}`);
  }
  // YaRN as DeepSeek scales it.
  if (rest.mscale || rest.mscale_all_dim) throw refuse('mscale in rope_scaling is not supported');
  return { rope_type: name, ...rest } as RopeScaling;
}
