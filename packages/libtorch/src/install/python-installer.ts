/** Fetching wheels by uv or pip, which know the user's index, proxy and certificates. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { ToolEnvError } from '@toolenv/core';
import { knownPythons } from '@toolenv/core/plugins';
import type { Pinned } from './wheels.ts';

/** A command that installs packages. */
export interface PythonInstaller {
  name: 'uv' | 'pip';
  command: readonly string[];
}

/** A version of Python that PyTorch has wheels for. No Python runs them, so another one may be here. */
const anyPython = '3.12';

export function findInstaller(name: 'uv' | 'pip'): PythonInstaller | undefined {
  const commands = name === 'uv' ? [['uv']] : knownPythons().map(({ python }) => [python, '-m', 'pip']);
  const found = commands.find(([program, ...words]) => {
    const { status } = spawnSync(program!, [...words, '--version'], { stdio: 'ignore', timeout: 20_000 });
    return status === 0;
  });
  return found && { name, command: found };
}

/** The words of a command that installs packages, and nothing that they depend on, into a folder. */
export function installWords(
  { name, command }: PythonInstaller,
  packages: readonly Pinned[],
  { folder, index }: { folder: string; index: string | undefined },
): string[] {
  const ofAll = ['--no-deps', '--target', folder, '--python-version', anyPython];
  const ofName =
    name === 'uv' ? ['pip', 'install', '--only-binary', ':all:'] : ['install', '--only-binary=:all:'];
  const from = index === undefined ? [] : [name === 'uv' ? '--default-index' : '--index-url', index];
  return [
    ...command,
    ...ofName,
    ...ofAll,
    ...from,
    ...packages.map((each) => `${each.name}==${each.version}`),
  ];
}

/**
 * Runs the command. Its output goes to stderr.
 * @throws ToolEnvError `infrastructure.installer` if it fails; the signal's reason.
 */
export async function runInstaller(words: readonly string[], signal: AbortSignal | undefined): Promise<void> {
  const [program = '', ...rest] = words;
  const child = spawn(program, rest, { stdio: ['ignore', 2, 2] });
  const stop = () => child.kill();
  signal?.addEventListener('abort', stop);
  try {
    const [code, by] = await once(child, 'close');
    signal?.throwIfAborted();
    if (code === 0) return;
    const message = `${words.slice(0, 3).join(' ')} failed (${by ?? `exit code ${code}`}): correct what it says, or fetch PyTorch without it by --by https.`;
    throw new ToolEnvError('infrastructure.installer', message);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
