/** Wraps the runs of a runtime's programs, so that a test can watch or delay them. */
import type { Executable, Runtime } from '../../src/runtime/runtime.ts';

export function withRun(runtime: Runtime, wrap: (run: Executable['run']) => Executable['run']): Runtime {
  return {
    ...runtime,
    async compile(...program) {
      const executable = await runtime.compile(...program);
      return { ...executable, run: wrap(executable.run) };
    },
  };
}
