/** findLibtorch: the libraries of a PyTorch that is on the machine already. Nothing is imported or changed. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';

/** Prints the folder without loading PyTorch, which takes seconds. */
const question =
  'import importlib.util as u; s = u.find_spec("torch"); print(s.submodule_search_locations[0] if s else "")';

/**
 * The folder that TOOLENV_LIBTORCH names, or that of the first Python with PyTorch: TOOLENV_PYTHON, the active virtual environment, .venv here, python3.
 * @throws ToolEnvError `usage.libtorch` if there is none.
 */
export function findLibtorch(): string {
  const { TOOLENV_LIBTORCH: named, TOOLENV_PYTHON: python, VIRTUAL_ENV: active } = process.env;
  if (named) return named;
  const bin = process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python'];
  const inFolders = [active, '.venv'].flatMap((folder) => (folder ? [join(folder, ...bin)] : []));
  const pythons = [
    ...(python ? [python] : []),
    ...inFolders.filter((file) => existsSync(file)),
    'python3',
    'python',
  ];
  for (const each of pythons) {
    const { stdout } = spawnSync(each, ['-c', question], { encoding: 'utf8', timeout: 20_000 });
    const folder = stdout?.trim();
    if (folder && existsSync(join(folder, 'lib'))) return join(folder, 'lib');
  }
  const message = `No PyTorch was found (looked in ${pythons.join(', ')}): install it with pip install torch, or set TOOLENV_LIBTORCH to its folder lib.`;
  throw new ToolEnvError('usage.libtorch', message);
}
