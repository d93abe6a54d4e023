/** The flags of `toolenv eval` and `toolenv train` that say where and how ONNX Runtime computes a checkpoint's model. */
import type { JsonSchema } from '@toolenv/core';
import { readFlags } from './schema-flags.ts';

export const deviceSchema: JsonSchema = {
  type: 'object',
  properties: {
    device: {
      enum: ['auto', 'cpu', 'webgpu', 'cuda', 'dml', 'coreml'],
      description:
        'where ONNX Runtime computes it; auto is CUDA where that works, else the CPU (default: cpu)',
    },
    precision: {
      enum: ['float32', 'float16'],
      description:
        'of its matrix products there: float16 is faster on GPUs made for it; a CPU only rounds as they do (default: float32)',
    },
  },
};

export interface DeviceFlags {
  device?: string;
  precision?: string;
}

/** Without those that were not given: policies that are no checkpoint folders have none. */
export function readDevice(given: Record<string, unknown>): DeviceFlags {
  return readFlags(deviceSchema, given);
}
