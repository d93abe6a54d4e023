/** The options of a learner, and the memory that it needs with them. */
import type { MemoryEstimate } from '@toolenv/core/plugins';
import type { ModelConfig } from '../model/model-config.ts';
import { parameterShapes } from '../model/parameter-shapes.ts';
import { adapterShapes, type LoraOptions } from './lora.ts';
import { defaultTokenBudget, type TrainingOptions, trainingMemory } from './training-memory.ts';

export interface LearnerOptions {
  /**
   * Padded tokens in a batch; a longer row has a batch of its own. Default: as many as have 1.5 GiB of activations,
   * or five times the size of the weights if that is more; at most 4096.
   */
  tokenBudget?: number;
  /** Keep only each layer's input and recompute the layer for its gradient: less memory, a third more work. Default false. */
  gradientCheckpointing?: boolean;
  /** Train an adapter and keep the model's own weights fixed. Default: train all weights. */
  lora?: LoraOptions;
}

/** `TransformerLearner.memory` of a model that is not here yet. @throws ToolEnvError `usage.lora`. */
export function memoryBefore(
  config: ModelConfig,
  { gradientCheckpointing = false, tokenBudget, lora }: LearnerOptions = {},
): MemoryEstimate {
  const trained = lora ? adapterShapes(config, lora).shapes : parameterShapes(config);
  return memoryOf(config, {
    tokenBudget: tokenBudget ?? defaultTokenBudget(config, { gradientCheckpointing, trained }),
    gradientCheckpointing,
    trained,
    isAdapter: lora !== undefined,
  });
}

/** An estimate for a learner that is there. */
export function memoryOf(
  config: ModelConfig,
  { isAdapter, ...options }: TrainingOptions & { tokenBudget: number; isAdapter: boolean },
): MemoryEstimate {
  const savers = {
    ...(!isAdapter && { loraRank: 16 }),
    ...(!options.gradientCheckpointing && { gradientCheckpointing: true }),
    ...(options.tokenBudget > 512 && { tokenBudget: 512 }),
  };
  return { ...trainingMemory(config, options), savers };
}
