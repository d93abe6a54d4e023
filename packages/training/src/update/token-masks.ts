/** TokenMasks: which tokens of an update are learned from. Usually the policy's own; the environment's too, for ablations. */
import type { TokenValues } from '@toolenv/core/learner';
import type { UpdateOptions } from '../options/update-options.ts';
import { carriedAdvantages, completionMask } from '../rows/completion-mask.ts';
import type { TrainingRow } from '../rows/training-row.ts';

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
  return credited === action && learned !== action ? carriedAdvantages(advantages, action) : advantages;
}
