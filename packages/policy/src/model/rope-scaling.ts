/** The part of a config.json that scales rotary positions for longer contexts. */

/**
 * As in a config.json. Positions are interpolated; `llama3` and `yarn` leave high frequencies unchanged. Of LongRoPE's two lists of factors
 * (arXiv 2402.13753) the short one is used, for the context that the model was first trained with. The long one would change the probabilities
 * of early tokens once a text has become longer than that.
 */
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
    }
  | {
      rope_type: 'longrope';
      /** What each frequency is divided by. */
      short_factor: readonly number[];
      original_max_position_embeddings: number;
      attention_factor: number;
    };

const required: Record<RopeScaling['rope_type'], readonly string[]> = {
  linear: ['factor'],
  llama3: ['factor', 'low_freq_factor', 'high_freq_factor', 'original_max_position_embeddings'],
  yarn: ['factor'],
  longrope: ['original_max_position_embeddings'],
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

/**
 * Reads the scaling of a configuration; `undefined` means none. `refuse` makes the error for an unsupported scaling.
 * @param context The positions that the scaled model has.
 */
export function readRopeScaling(
  given: unknown,
  context: unknown,
  refuse: (what: string) => Error,
): RopeScaling | undefined {
  const { type, rope_type: named = type ?? 'default', ...rest } = given as Record<string, unknown>;
  if (named === 'default') return undefined;
  // The name of the first files of Phi-3.
  const name = named === 'su' ? 'longrope' : named;
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
  if (name === 'longrope') return longRope(rest, context, refuse);
  // DeepSeek's variant of YaRN.
  if (rest.mscale || rest.mscale_all_dim) throw refuse('mscale in rope_scaling is not supported');
  return { rope_type: name, ...rest } as RopeScaling;
}

function longRope(
  { short_factor: short, factor, attention_factor: attention, ...rest }: Record<string, unknown>,
  context: unknown,
  refuse: (what: string) => Error,
): RopeScaling {
  const isFactor = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value > 0;
  if (!Array.isArray(short) || !short.every(isFactor))
    throw refuse('short_factor of rope_scaling must be a list of numbers above 0');
  const original = Number(rest.original_max_position_embeddings);
  const longer = Number(factor ?? Number(context) / original);
  return {
    rope_type: 'longrope',
    short_factor: short as number[],
    original_max_position_embeddings: original,
    attention_factor: Number(
      attention ?? (longer <= 1 ? 1 : Math.sqrt(1 + Math.log(longer) / Math.log(original))),
    ),
  };
}
