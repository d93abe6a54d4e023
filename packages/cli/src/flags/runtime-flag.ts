/** The flag of `toolenv eval` and `toolenv train` that says what computes a checkpoint's model. */
import type { JsonSchema } from '@toolenv/core';
import { completeFlags } from './schema-flags.ts';

export const runtimeSchema: JsonSchema = {
  type: 'object',
  properties: {
    runtime: {
      enum: ['onnx', 'tfjs'],
      default: 'onnx',
      description: 'what computes the model: ONNX Runtime, or TensorFlow.js as it is installed',
    },
  },
};

export type RuntimeName = 'onnx' | 'tfjs';

export function readRuntime(given: Record<string, unknown>): RuntimeName {
  return completeFlags<{ runtime: RuntimeName }>(runtimeSchema, given).runtime;
}
