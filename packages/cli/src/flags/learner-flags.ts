/** The flags of `toolenv train` for the learner of a checkpoint folder. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import { completeFlags } from './schema-flags.ts';

export const learnerSchema: JsonSchema = {
  type: 'object',
  properties: {
    loraRank: {
      type: 'integer',
      minimum: 0,
      default: 0,
      description: 'train LoRA adapters of this rank; 0 trains every weight',
    },
    loraAlpha: {
      type: 'number',
      exclusiveMinimum: 0,
      description: 'adapters count alpha / rank times (default: twice the rank)',
    },
    loraTargets: {
      type: 'array',
      items: { type: 'string' },
      description: 'the projections that are adapted, as q_proj,v_proj (default: all)',
    },
    gradientCheckpointing: {
      type: 'boolean',
      default: false,
      description: 'compute each layer again for its gradient: less memory, a third more work',
    },
    tokenBudget: {
      type: 'integer',
      minimum: 1,
      description:
        'padded tokens computed at a time (default: as 1.5 GiB or 5 times the weights hold, at most 4096)',
    },
  },
};

export interface LearnerFlags {
  lora?: { rank: number; alpha?: number; targets?: string[]; seed: number };
  gradientCheckpointing: boolean;
  tokenBudget?: number;
}

/**
 * @param seed Of the first adapter.
 * @throws ToolEnvError `usage.bad_flag` for what is said of adapters that there are not.
 */
export function readLearnerFlags(given: Record<string, unknown>, seed: number): LearnerFlags {
  const flags = completeFlags<{
    loraRank: number;
    loraAlpha?: number;
    loraTargets?: string[];
    gradientCheckpointing: boolean;
    tokenBudget?: number;
  }>(learnerSchema, given);
  const {
    loraRank: rank,
    loraAlpha: alpha,
    loraTargets: targets,
    gradientCheckpointing,
    tokenBudget,
  } = flags;
  if (rank === 0 && (alpha !== undefined || targets !== undefined)) {
    const flag = alpha === undefined ? '--lora-targets' : '--lora-alpha';
    throw new ToolEnvError('usage.bad_flag', `${flag}: give --lora-rank too, as --lora-rank 16.`);
  }
  const lora = { rank, ...(alpha && { alpha }), ...(targets && { targets }), seed };
  return { gradientCheckpointing, ...(rank > 0 && { lora }), ...(tokenBudget && { tokenBudget }) };
}
