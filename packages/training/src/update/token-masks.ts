/** TokenMasks: which tokens of an update are learned from. Usually the policy's own; the environment's too, for ablations. */
import type { TokenValues } from '@toolenv/core/learner';
import type { TrainingRow } from '../rows/training-row.ts';
import type { UpdateOptions } from '../trainer/update-options.ts';

/** Each [B][T]. */
export interface TokenMasks {
  /** 1 where the policy generated the token. */
  action: Uint8Array[];
  /** 1 where the token has a policy gradient: `action`, or the completion mask without the option `actionMask`. */
  learned: Uint8Array[];
  /** 1 where returns and advantages are computed: `action`, or the completion mask without the option `advantageMask`. */
  credited: Uint8Array[];
}

type MaskOptions = Pick<UpdateOptions, 'actionMask' | 'advantageMask'>;

export function tokenMasks(rows: readonly Pick<TrainingRow, 'mask'>[], options: MaskOptions): TokenMasks {
  const action = rows.map(({ mask }) => mask);
  const wide = action.map(completionMask);
  return {
    action,
    learned: options.actionMask ? action : wide,
    credited: options.advantageMask ? action : wide,
  };
}

/** The advantages [B][T] at `learned`: where only actions were credited, the environment's tokens get those of the action before. */
export function learnedAdvantages<Values extends TokenValues>(
  advantages: Values,
  { action, learned, credited }: TokenMasks,
): Values | Float64Array[] {
  return credited === action && learned !== action ? broadcastAdvantages(advantages, action) : advantages;
}

/**
 * 1 from the first token that the policy generated to the last, including the environment's tokens between them. TRL's
 * completion mask; verl's response mask is the action mask.
 * @param mask [T] 1 where the policy generated the token.
 */
export function completionMask(mask: Uint8Array): Uint8Array {
  const wide = new Uint8Array(mask.length);
  const first = mask.indexOf(1);
  return first === -1 ? wide : wide.fill(1, first, mask.lastIndexOf(1) + 1);
}

/**
 * Advantages for the environment's tokens too: each has that of the action token before it, as in a trainer that gives every
 * token the advantage of its episode.
 * @param advantages [B][T] at `mask` = 1.
 * @param mask [B][T] 1 where the policy generated the token.
 * @returns [B][T] at the completion mask.
 */
export function broadcastAdvantages(advantages: TokenValues, mask: readonly Uint8Array[]): Float64Array[] {
  return mask.map((row, b) => {
    let last = 0;
    const carried = completionMask(row);
    return Float64Array.from(row, (bit, t) => {
      if (bit === 1) last = advantages[b]![t]!;
      return carried[t] === 1 ? last : 0;
    });
  });
}
