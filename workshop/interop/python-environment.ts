/** The Python for the checks: named by TOOLENV_PYTHON, or in a folder such as .venv, which is created if it is missing. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** @throws Error if the environment cannot be created; the output of pip is on stderr. */
export function pythonWithTransformers(): string {
  return pythonWith('transformers, trl, peft', 'requirements.txt');
}

/**
 * With OpenEnv, TRL and verifiers, in an environment of their own: .venv-openenv. Throws as {@link pythonWithTransformers} does.
 */
export function pythonWithOpenEnv(): string {
  return pythonWith('openenv, trl, verifiers', 'openenv.txt', '.venv-openenv');
}

/** With the clients and servers of ORS and OpenReward: .venv-ors. Throws as {@link pythonWithTransformers} does. */
export function pythonWithOrs(): string {
  return pythonWith('ors, openreward', 'ors.txt', '.venv-ors');
}

/** With the experiment trackers. Throws as {@link pythonWithTransformers} does. */
export function pythonWithTrackers(): string {
  return pythonWith('mlflow, wandb', 'trackers.txt');
}

/** With the client of the Hugging Face Hub. Throws as {@link pythonWithTransformers} does. */
export function pythonWithHub(): string {
  return pythonWith('huggingface_hub', 'hub.txt', '.venv-hub');
}

/** With llama.cpp's server. Throws as {@link pythonWithTransformers} does. */
export function pythonWithLlama(): string {
  return pythonWith('gguf, xllamacpp', 'openai.txt');
}

/** With the reader of GGUF files and no PyTorch: .venv-gguf. Throws as {@link pythonWithTransformers} does. */
export function pythonForGguf(): string {
  return pythonWith('gguf, numpy', '../real-model/conversion.txt', '.venv-gguf');
}

/**
 * With SkyRL's Tinker server, in an environment of its own: .venv-tinker. It needs Python 3.12, in PATH as python3.12 or python3.
 * Throws as {@link pythonWithTransformers} does.
 */
export function pythonWithSkyRl(): string {
  const newer = run('python3.12', ['--version'], 'ignore') ? 'python3.12' : 'python3';
  return pythonWith('skyrl, jax, aiohttp', 'tinker.txt', '.venv-tinker', newer);
}

/** With vLLM for the CPU, in an environment of its own: .venv-vllm. Throws as {@link pythonWithTransformers} does. */
export function pythonWithVllm(): string {
  return pythonWith('vllm', 'vllm.txt', '.venv-vllm', 'python3', 'install_vllm.py');
}

/** With version 2 of MCP's Python SDK and FastMCP: .venv-mcp. Throws as {@link pythonWithTransformers} does. */
export function pythonWithMcp(): string {
  return pythonWith('mcp, fastmcp', 'mcp.txt', '.venv-mcp');
}

/** With Microsoft's MCP server of markitdown, which needs seconds to start: .venv-markitdown. Throws as {@link pythonWithTransformers} does. */
export function pythonWithMarkItDown(): string {
  return pythonWith('markitdown_mcp', 'markitdown.txt', '.venv-markitdown');
}

/**
 * @param installer A script that installs the file, where pip alone cannot.
 */
function pythonWith(
  modules: string,
  file: string,
  name = '.venv',
  maker = 'python3',
  installer?: string,
): string {
  const folder = join(root, name);
  const python = join(folder, 'bin', 'python');
  const requirements = join(import.meta.dirname, file);
  if (process.env.TOOLENV_PYTHON) return process.env.TOOLENV_PYTHON;
  // An environment without these modules is incomplete: continue to create it.
  if (existsSync(python) && run(python, ['-c', `import ${modules}`], 'ignore')) return python;
  console.error(`Creating ${folder} …`);
  const install = installer
    ? [join(import.meta.dirname, installer), requirements]
    : ['-m', 'pip', 'install', '-q', '-r', requirements];
  if (!run(maker, ['-m', 'venv', folder], 'inherit') || !run(python, install, 'inherit')) {
    throw new Error(
      `Could not create ${folder}: fix the error above, or set TOOLENV_PYTHON to a Python with ${requirements}.`,
    );
  }
  return python;
}

function run(command: string, args: string[], output: 'inherit' | 'ignore'): boolean {
  return (
    spawnSync(command, args, { stdio: ['ignore', output === 'inherit' ? 2 : 'ignore', output] }).status === 0
  );
}
