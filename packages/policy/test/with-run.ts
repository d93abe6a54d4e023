/** A runtime whose programs run as a test wants them to. */
import type { Executable, Runtime } from '../src/runtime/runtime.ts';

export function withRun(runtime: Runtime, wrap: (run: Executable['run']) => Executable['run']): Runtime {
  return {
    ...runtime,
    async compile(...program) {
      const executable = await runtime.compile(...program);
      return { ...executable, run: wrap(executable.run) };
    },
  };
}
