/** Packages that depend on this one, so that they are no dependencies of this one: they are imported by name. */
import { ToolEnvError } from '@toolenv/core';
import type { EngineReport, OpeningRun } from '@toolenv/core/plugins';
import type { Runtime } from './runtime/runtime.ts';

interface LibtorchPackage {
  libtorchRuntime(
    options: Pick<OpeningRun, 'signal'> & {
      threads?: number | undefined;
      precision?: 'float32' | 'bfloat16' | undefined;
    },
  ): Promise<Runtime>;
  libtorchEngines(): Promise<EngineReport[]>;
  choosePrecision(options: {
    threads?: number | undefined;
  }): Promise<{ precision: 'float32' | 'bfloat16'; why: string }>;
}

export const libtorchPackage = '@toolenv/libtorch';

/** @throws ToolEnvError `usage.runtime_missing` if the package is not installed. */
export function loadLibtorch(): Promise<LibtorchPackage> {
  return loadDependent(libtorchPackage);
}

/** @throws ToolEnvError `usage.runtime_missing` if the package is not installed. */
export async function loadDependent<Exports>(entry: `@toolenv/${string}`): Promise<Exports> {
  const name = entry.split('/', 2).join('/');
  try {
    return await import(entry);
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    const message = `${name} is not installed: npm install ${name}.`;
    throw new ToolEnvError('usage.runtime_missing', message, { cause: error });
  }
}

/** Whether the package itself is missing. The errors of Yarn's Plug'n'Play have no code. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  const isNamed = message.includes(`'${name}'`);
  return (code === 'ERR_MODULE_NOT_FOUND' && isNamed) || message.includes(`tried to access ${name} `);
}
