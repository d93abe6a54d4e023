/** The flags of `toolenv train` that ask for LoRA instead of training every weight. */
import type { JsonSchema } from '@toolenv/core';
import { completeFlags } from './schema-flags.ts';

export const loraSchema: JsonSchema = {
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
  },
};

export interface Lora {
  rank: number;
  alpha?: number;
  targets?: string[];
  seed: number;
}

/** @param seed Of the first adapter. */
export function readLora(given: Record<string, unknown>, seed: number): Lora | undefined {
  const flags = completeFlags<{ loraRank: number; loraAlpha?: number; loraTargets?: string[] }>(
    loraSchema,
    given,
  );
  const { loraRank: rank, loraAlpha: alpha, loraTargets: targets } = flags;
  return rank === 0 ? undefined : { rank, ...(alpha && { alpha }), ...(targets && { targets }), seed };
}
