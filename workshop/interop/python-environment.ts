/** The Python for the checks: named by TOOLENV_PYTHON, or in a folder such as .venv, which is created if it is missing. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** By name: the modules that a Python must have, the file that names their packages, and the folder of the environment, where it is not .venv. */
const environments = {
  transformers: { modules: 'transformers, trl, peft', file: 'requirements.txt' },
  openenv: { modules: 'openenv, trl, verifiers', file: 'openenv.txt', folder: '.venv-openenv' },
  verifiers: { modules: 'verifiers.v1, datasets, uv', file: 'verifiers.txt', folder: '.venv-verifiers' },
  ors: { modules: 'ors, openreward', file: 'ors.txt', folder: '.venv-ors' },
  trackers: { modules: 'mlflow, wandb', file: 'trackers.txt' },
  hub: { modules: 'huggingface_hub', file: 'hub.txt', folder: '.venv-hub' },
  llama: { modules: 'gguf, xllamacpp', file: 'openai.txt' },
  // The reader of GGUF files, and no PyTorch.
  gguf: { modules: 'gguf, numpy', file: '../real-model/conversion.txt', folder: '.venv-gguf' },
  // They need Python 3.12, in PATH as python3.12 or python3.
  nemoGym: { modules: 'nemo_gym, resources_servers', file: 'nemo-gym.txt', folder: '.venv-nemo-gym' },
  skyrl: { modules: 'skyrl, jax, aiohttp', file: 'tinker.txt', folder: '.venv-tinker' },
  vllm: { modules: 'vllm', file: 'vllm.txt', folder: '.venv-vllm' },
  mcpTasks: { modules: 'fastmcp_tasks', file: 'mcp-tasks.txt', folder: '.venv-mcp-tasks' },
  mcp: { modules: 'mcp, fastmcp', file: 'mcp.txt', folder: '.venv-mcp' },
  markitdown: { modules: 'markitdown_mcp', file: 'markitdown.txt', folder: '.venv-markitdown' },
} as const satisfies Record<string, { modules: string; file: string; folder?: string }>;

/** @throws Error if the environment cannot be created; the output of pip is on stderr. */
export function pythonWith(name: keyof typeof environments): string {
  const {
    modules,
    file,
    folder: own = '.venv',
  }: { modules: string; file: string; folder?: string } = environments[name];
  const folder = join(root, own);
  const python = join(folder, 'bin', 'python');
  const requirements = join(import.meta.dirname, file);
  if (process.env.TOOLENV_PYTHON) return process.env.TOOLENV_PYTHON;
  // An environment without these modules is incomplete: continue to create it.
  if (existsSync(python) && run(python, ['-c', `import ${modules}`], 'ignore')) return python;
  console.error(`Creating ${folder} …`);
  const needsNewer = name === 'skyrl' || name === 'nemoGym';
  const maker = needsNewer && run('python3.12', ['--version'], 'ignore') ? 'python3.12' : 'python3';
  // pip alone cannot install vLLM for the CPU.
  const install =
    name === 'vllm'
      ? [join(import.meta.dirname, 'install_vllm.py'), requirements]
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
