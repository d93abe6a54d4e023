/** Finds a Python that has PyTorch and transformers. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const candidates = [process.env.TOOLENV_PYTHON, join(import.meta.dirname, '..', '.venv', 'bin', 'python'), 'python3'];

/** The command: what TOOLENV_PYTHON names, else that of .venv, else python3; `undefined` if it lacks a module. */
export function findPython(): string | undefined {
  const [first] = candidates.filter((path) => path !== undefined && (path === 'python3' || existsSync(path)));
  // Looking for the modules is quicker than importing them.
  const look = 'import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ["torch", "transformers"])))';
  return spawnSync(first!, ['-c', look]).status === 0 ? first : undefined;
}
