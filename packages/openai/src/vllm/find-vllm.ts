/** findVllm: a Python with vLLM that is on the machine already. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';

/** Answers without importing vLLM, which takes seconds. */
const question = 'import importlib.util as u; print("yes" if u.find_spec("vllm") else "no")';

/**
 * The Python that TOOLENV_VLLM names, or the first one with vLLM: TOOLENV_PYTHON, the active virtual environment, .venv here, python3.
 * @throws ToolEnvError `usage.vllm_missing` if there is none.
 */
export function findVllm(): string {
  const { TOOLENV_VLLM: named, TOOLENV_PYTHON: python, VIRTUAL_ENV: active } = process.env;
  const inFolders = [active, '.venv'].flatMap((folder) => (folder ? [join(folder, 'bin', 'python')] : []));
  const others = [...(python ? [python] : []), ...inFolders.filter((file) => existsSync(file)), 'python3'];
  const pythons = named ? [named] : others;
  for (const each of pythons) {
    const { stdout } = spawnSync(each, ['-c', question], { encoding: 'utf8', timeout: 20_000 });
    if (stdout?.trim() === 'yes') return each;
  }
  const message = `No Python with vLLM was found (looked in ${pythons.join(', ')}): pip install vllm, set TOOLENV_VLLM to a Python that has it, or give --sampler-url.`;
  throw new ToolEnvError('usage.vllm_missing', message);
}
