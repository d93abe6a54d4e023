/** pythonPackages: packages in the Pythons of this machine. Nothing of them is imported or changed. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A package that a Python can import. */
export interface PythonPackage {
  /** The command that starts the Python. */
  python: string;
  /** What names this Python, such as `VIRTUAL_ENV`, or `PATH`. */
  source: string;
  /** As its metadata says, such as `2.15.0`. */
  version: string;
  /** The folder of its modules. */
  folder: string;
}

/** Finds a package without loading it: to load PyTorch takes seconds. The first entry of the path is the working folder, which may have a folder of that name. */
const question = `
import sys
if sys.path[:1] == ['']: sys.path.pop(0)
import importlib.metadata as metadata, importlib.util as util, json
spec = util.find_spec(sys.argv[1])
places = list(spec.submodule_search_locations or []) if spec else []
try: print(json.dumps({'version': metadata.version(sys.argv[1]), 'folder': places[0]}))
except (IndexError, metadata.PackageNotFoundError): pass
`;

/** In milliseconds. A Python on a network drive may take seconds. */
const timeLimit = 20_000;

/**
 * The Pythons in which packages are looked for, in this order: TOOLENV_PYTHON, the active virtual environment, `.venv` here, the active environment
 * of conda, and `python3` and `python` of PATH.
 */
export function knownPythons(): { python: string; source: string }[] {
  const { TOOLENV_PYTHON, VIRTUAL_ENV, CONDA_PREFIX } = process.env;
  const isWindows = process.platform === 'win32';
  const inFolder = isWindows ? ['Scripts', 'python.exe'] : ['bin', 'python'];
  const folders = [
    { source: 'VIRTUAL_ENV', folder: VIRTUAL_ENV, path: inFolder },
    { source: '.venv', folder: '.venv', path: inFolder },
    { source: 'CONDA_PREFIX', folder: CONDA_PREFIX, path: isWindows ? ['python.exe'] : inFolder },
  ];
  return [
    ...(TOOLENV_PYTHON ? [{ python: TOOLENV_PYTHON, source: 'TOOLENV_PYTHON' }] : []),
    ...folders.flatMap(({ source, folder, path }) => {
      const python = folder ? join(folder, ...path) : '';
      return existsSync(python) ? [{ python, source }] : [];
    }),
    { python: 'python3', source: 'PATH' },
    { python: 'python', source: 'PATH' },
  ];
}

/**
 * The package in each Python that has it. A Python is asked only when it is the next one.
 * @param pythons Default: {@link knownPythons}.
 */
export function* pythonPackages(
  name: string,
  pythons: ReturnType<typeof knownPythons> = knownPythons(),
): Generator<PythonPackage> {
  for (const { python, source } of pythons) {
    const { stdout } = spawnSync(python, ['-c', question, name], { encoding: 'utf8', timeout: timeLimit });
    const found = parsed(stdout?.trim().split('\n').at(-1) ?? '');
    if (found) yield { python, source, ...found };
  }
}

function parsed(line: string): { version: string; folder: string } | undefined {
  if (!line.startsWith('{')) return undefined;
  const { version, folder } = JSON.parse(line) as Record<string, unknown>;
  return typeof version === 'string' && typeof folder === 'string' ? { version, folder } : undefined;
}
