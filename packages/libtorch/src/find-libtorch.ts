/** findLibtorch: the libraries of a PyTorch that is on the machine already. Nothing is imported or changed. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { knownPythons, pythonPackages } from '@toolenv/core/plugins';
import { installedFolder } from './installed-folder.ts';
import { minVersion } from './torch-versions.ts';

/** A PyTorch of this machine. */
export interface FoundLibtorch {
  /** Of its libraries: `lib` in the package `torch`. */
  folder: string;
  /** Such as `2.15.0+cpu`; empty if its files do not say it. */
  version: string;
  /** What led to it: `TOOLENV_LIBTORCH`, a Python, or `toolenv engine install libtorch`. */
  source: string;
}

/** The command that fetches PyTorch's libraries. */
export const installCommand = 'toolenv engine install libtorch';

/**
 * The folder of {@link locateLibtorch}.
 * @throws ToolEnvError `usage.libtorch` if there is none.
 */
export function findLibtorch(): string {
  const tooOld: string[] = [];
  const found = locateLibtorch((each) => tooOld.push(`${each.source} has ${each.version}`));
  if (found) return found.folder;
  throw new ToolEnvError('usage.libtorch', missingText(tooOld));
}

/**
 * The folder that TOOLENV_LIBTORCH names, or that of the first Python with a PyTorch that is new enough, in the order of `knownPythons`, or the
 * folder of `toolenv engine install libtorch`.
 * @param onOld Called with each PyTorch that is too old.
 * @throws ToolEnvError `usage.libtorch` if TOOLENV_LIBTORCH begins with `~`.
 */
export function locateLibtorch(onOld: (old: FoundLibtorch) => void = () => {}): FoundLibtorch | undefined {
  const { TOOLENV_LIBTORCH: named } = process.env;
  if (named?.startsWith('~')) {
    const message = `TOOLENV_LIBTORCH is "${named}": only a shell replaces ~, and only without quotes. Write the whole path.`;
    throw new ToolEnvError('usage.libtorch', message);
  }
  if (named) {
    const folder = resolve(named);
    return { folder, version: versionBeside(folder), source: 'TOOLENV_LIBTORCH' };
  }
  for (const { python, source, folder: parent, version: ofPackage } of pythonPackages('torch')) {
    const folder = join(parent, 'lib');
    if (!existsSync(folder)) continue;
    const version = versionBeside(folder) || ofPackage;
    const found = { folder, version, source: source === 'PATH' ? python : `${source} (${python})` };
    if (isNewEnough(version)) return found;
    onOld(found);
  }
  const folder = join(installedFolder(), 'torch', 'lib');
  return existsSync(folder) ? { folder, version: versionBeside(folder), source: installCommand } : undefined;
}

/** Why no PyTorch can be used, and what to do. */
export function missingText(tooOld: readonly string[]): string {
  const pythons = knownPythons().map(({ python }) => python);
  const old = tooOld.length > 0 ? `; ${tooOld.join(', ')}, and ${minVersion.join('.')} is needed` : '';
  return `No PyTorch was found (looked in ${pythons.join(', ')}${old}): run ${installCommand}, or pip install torch, or set TOOLENV_LIBTORCH to the folder lib of a PyTorch.`;
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > minVersion[0] || (major === minVersion[0] && minor >= minVersion[1]);
}

/** The version in `version.py` of the package `torch`, with its build: `2.15.0+cu132`. */
function versionBeside(folder: string): string {
  try {
    const text = readFileSync(join(folder, '..', 'version.py'), 'utf8');
    return /^__version__ = '([^']+)'/m.exec(text)?.[1] ?? '';
  } catch {
    return '';
  }
}
