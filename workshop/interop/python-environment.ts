/** The Python that the checks run on: what TOOLENV_PYTHON names, else .venv, which is made if missing. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../..', '.venv');
const python = join(folder, 'bin', 'python');
const requirements = join(import.meta.dirname, 'requirements.txt');

/** @throws Error if the environment cannot be made; what pip said is on stderr. */
export function pythonWithTransformers(): string {
  if (process.env.TOOLENV_PYTHON) return process.env.TOOLENV_PYTHON;
  // Only a finished environment has them all: one whose making was interrupted is gone on with.
  if (existsSync(python) && run(python, ['-c', 'import transformers, trl, peft'], 'ignore')) return python;
  console.error(`Making ${folder} …`);
  if (
    !run('python3', ['-m', 'venv', folder], 'inherit') ||
    !run(python, ['-m', 'pip', 'install', '-q', '-r', requirements], 'inherit')
  ) {
    throw new Error(
      `Could not make ${folder}: mend what is said above, or name a Python with ${requirements} in TOOLENV_PYTHON.`,
    );
  }
  return python;
}

function run(command: string, args: string[], output: 'inherit' | 'ignore'): boolean {
  return (
    spawnSync(command, args, { stdio: ['ignore', output === 'inherit' ? 2 : 'ignore', output] }).status === 0
  );
}
