/** Finds a Python that has PyTorch and transformers. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const environment = join(import.meta.dirname, '..', '.venv', 'bin', 'python');

/** What TOOLENV_PYTHON names, else that of .venv, else python3; `undefined` if it lacks a module. */
export function findPython(): string | undefined {
  const command = process.env.TOOLENV_PYTHON ?? (existsSync(environment) ? environment : 'python3');
  // Looking for the modules is quicker than importing them.
  const look =
    'import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ["torch", "transformers"])))';
  return spawnSync(command, ['-c', look]).status === 0 ? command : undefined;
}
