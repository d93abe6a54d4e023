/** SkyRL's Tinker server on the CPU over a random model, in processes of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { freePort } from '../free-port.ts';
import { answering, killGroup, mustRun } from '../programs.ts';

export interface SkyRlServer {
  url: string;
  /** The base model's folder, which is its name too. */
  model: string;
  /** Where the server keeps a model's checkpoints: `<model>/sampler_weights/<name>.tar.gz`. */
  checkpoints: string;
  /** Kills the server and its engine as `kill -9` does. */
  kill(): Promise<void>;
  /** Begins again on the same database, under the same address. */
  restart(): Promise<void>;
}

/** Batches of one size, so that the server compiles few programs. */
const backend = {
  max_lora_adapters: 6,
  max_lora_rank: 8,
  sample_max_num_sequences: 8,
  train_micro_batch_size: 8,
};

/** @throws Error if the model cannot be written; Python's output is on stderr. */
export async function writeModel(
  python: string,
  kind: 'qwen3' | 'llama',
  tinyPolicy: string,
  folder: string,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  mustRun(python, join(import.meta.dirname, 'write_model.py'), kind, tinyPolicy, folder);
}

/**
 * @param folder Keeps the database, the checkpoints, the log and what was compiled.
 * @throws Error if the server does not listen within five minutes. The engine behind it takes longer.
 */
export async function startSkyRl(python: string, model: string, folder: string): Promise<SkyRlServer> {
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  let child = await start(python, model, folder, port);
  // The server is a group of processes: uv, the API and the engine, which uv starts too.
  const kill = () => killGroup(child);
  return {
    url: `http://127.0.0.1:${port}`,
    model,
    checkpoints: join(folder, 'checkpoints'),
    kill,
    async restart() {
      await kill();
      child = await start(python, model, folder, port);
    },
  };
}

async function start(python: string, model: string, folder: string, port: number): Promise<ChildProcess> {
  const log = join(folder, 'server.log');
  const bin = dirname(python);
  const output = openSync(log, 'a');
  const args = [
    // The server starts its engine by the same command line.
    ...['run', '--no-project', '--active', '-m', 'skyrl.tinker.api'],
    ...['--base-model', model, '--backend', 'jax', '--backend-config', JSON.stringify(backend)],
    ...['--checkpoints-base', join(folder, 'checkpoints'), '--database-url', `sqlite:///${folder}/tinker.db`],
    ...['--host', '127.0.0.1', '--port', String(port)],
  ];
  const child = spawn(join(bin, 'uv'), args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', output, output],
    env: {
      ...process.env,
      VIRTUAL_ENV: dirname(bin),
      PATH: `${bin}:${process.env.PATH}`,
      JAX_PLATFORMS: 'cpu',
      JAX_COMPILATION_CACHE_DIR: join(folder, 'compiled'),
      JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: '0',
      HF_HUB_OFFLINE: '1',
      UV_OFFLINE: '1',
    },
  });
  closeSync(output);
  const url = `http://127.0.0.1:${port}/api/v1/healthz`;
  await answering(url, child, () => readFileSync(log, 'utf8').slice(-2000), 300);
  return child;
}
