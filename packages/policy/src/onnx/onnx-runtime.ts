/** Runs programs on ONNX Runtime. */
import { availableParallelism } from 'node:os';
import { ToolEnvError } from '@toolenv/core';
import { type InferenceSession, InferenceSession as Sessions } from 'onnxruntime-node';
import { chooseDevice, type Device } from '../device.ts';
import type { Program } from '../ops.ts';
import type { Executable, GradientRequest, Runtime, Tensors } from '../runtime.ts';
import { buildModel } from './build-model.ts';
import { OnnxOps } from './onnx-ops.ts';
import { reasonOf } from './reason.ts';
import { runSession } from './run-session.ts';

export interface OnnxRuntimeOptions {
  /** Threads of one operation. Default: ONNX Runtime's choice, one per physical core. */
  threads?: number;
  /** Default `cpu`. What a device cannot compute, the CPU does. */
  device?: Device;
}

/** @throws ToolEnvError `usage.device`, here or when a program is compiled, for a device that cannot be used. */
export function onnxRuntime({ threads, device: asked = 'cpu' }: OnnxRuntimeOptions = {}): Runtime {
  const device = chooseDevice(asked);
  const sessionOptions: InferenceSession.SessionOptions = {
    executionProviders: device === 'cpu' ? ['cpu'] : [device, 'cpu'],
    graphOptimizationLevel: 'all',
    ...(threads !== undefined && { intraOpNumThreads: threads }),
    logSeverityLevel: 3,
    extra: { session: { intra_op: { allow_spinning: '1' }, force_spinning_stop: '1' } },
  };
  return {
    name: `onnxruntime-${device}`,
    // The WebGPU provider of 1.30 crashes the process on an empty tensor.
    refusesEmpty: device !== 'cpu',
    ...(device === 'cpu' && { threads: threads ?? availableParallelism() }),
    async compile(program: Program, request?: GradientRequest, constants?: Tensors): Promise<Executable> {
      const { model, inputs } = buildModel(new OnnxOps(device), program, request, constants);
      const session = await Sessions.create(model, sessionOptions).catch((error: unknown) => {
        if (device === 'cpu') throw error;
        const message = `Device ${device} cannot be used (${reasonOf(error)}): choose another, as cpu.`;
        throw new ToolEnvError('usage.device', message, { cause: error });
      });
      return { run: (given) => runSession(session, inputs, given), close: () => session.release() };
    },
  };
}
