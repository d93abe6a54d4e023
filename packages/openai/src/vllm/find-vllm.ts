/** findVllm: a Python with vLLM that is on the machine already. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';

/** Prints the version without importing vLLM, which takes seconds. */
const question = `
import importlib.metadata as metadata, importlib.util as util
try:
    version = metadata.version("vllm")
except metadata.PackageNotFoundError:
    version = "unknown"
print(version if util.find_spec("vllm") else "")
`;

export interface FoundVllm {
  python: string;
  /** Such as 0.32.0+cpu. */
  version: string;
}

/**
 * The Python that TOOLENV_VLLM names, or the first one with vLLM: TOOLENV_PYTHON, the active virtual environment, .venv here, python3.
 * @throws ToolEnvError `usage.vllm_missing` if there is none.
 */
export function findVllm(): FoundVllm {
  const { TOOLENV_VLLM: named, TOOLENV_PYTHON: python, VIRTUAL_ENV: active } = process.env;
  const inFolders = [active, '.venv'].flatMap((folder) => (folder ? [join(folder, 'bin', 'python')] : []));
  const others = [...(python ? [python] : []), ...inFolders.filter((file) => existsSync(file)), 'python3'];
  const pythons = named ? [named] : others;
  for (const each of pythons) {
    const { stdout } = spawnSync(each, ['-c', question], { encoding: 'utf8', timeout: 20_000 });
    const version = stdout?.trim();
    if (version) return { python: each, version };
  }
  const message = `No Python with vLLM was found (looked in ${pythons.join(', ')}): pip install vllm, set TOOLENV_VLLM to a Python that has it, or give --sampler-url.`;
  throw new ToolEnvError('usage.vllm_missing', message);
}
