/** Finds a Python with the modules that a peer needs. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** This file runs from workshop/bench/dist. */
const environment = join(import.meta.dirname, '../../..', '.venv', 'bin', 'python');

/** The Python named by TOOLENV_PYTHON, or the Python of .venv, or python3. */
export function pythonCommand(): string {
  return process.env.TOOLENV_PYTHON ?? (existsSync(environment) ? environment : 'python3');
}

/** {@link pythonCommand}; `undefined` if it lacks one of the modules. */
export function findPython(modules: readonly string[]): string | undefined {
  // Searching for the modules is faster than importing them.
  const look = `import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ${JSON.stringify(modules)})))`;
  const { status } = spawnSync(pythonCommand(), ['-c', look], { stdio: 'ignore' });
  return status === 0 ? pythonCommand() : undefined;
}
