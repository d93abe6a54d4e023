/** The flag of `toolenv eval` and `toolenv train` that says where ONNX Runtime computes a checkpoint's model. */
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
  },
};

/** `undefined` if none was asked for: policies that are no checkpoint folders have no devices. */
export function readDevice(given: Record<string, unknown>): string | undefined {
  return readFlags(deviceSchema, given).device as string | undefined;
}
