/** ONNX Runtime in worker threads: several runs at a time, each in one thread. */
import type { Program } from '../ops.ts';
import type { Executable, GradientRequest, Runtime, Tensors } from '../runtime.ts';
import { buildModel } from './build-model.ts';
import { OnnxOps } from './onnx-ops.ts';
import { type SentProgram, SessionThread } from './session-thread.ts';

export interface ThreadedRuntime extends Runtime {
  readonly concurrency: number;
  /** Ends the threads; the next run starts others. */
  close(): Promise<void>;
}

/** A run goes to the thread that has the fewest. */
export function threadedOnnxRuntime(threads: number): ThreadedRuntime {
  const pool = Array.from({ length: threads }, () => new SessionThread());
  let programs = 0;
  return {
    name: 'onnxruntime-cpu',
    concurrency: threads,
    async compile(program: Program, request?: GradientRequest): Promise<Executable> {
      const { model, inputs } = buildModel(new OnnxOps(), program, request);
      const sent: SentProgram = { program: programs++, model, names: inputs };
      return {
        run(given: Tensors) {
          const idlest = pool.reduce((a, b) => (b.load < a.load ? b : a));
          return idlest.run(sent, given);
        },
        async close() {
          for (const thread of pool) thread.closeProgram(sent.program);
        },
      };
    },
    async close() {
      await Promise.all(pool.map((thread) => thread.close()));
    },
  };
}
