/** vLLM on the CPU over the tiny policy, in processes of its own. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { answering, killGroup } from '../programs.ts';

export interface VllmServer {
  /** Where an OpenAI client begins. */
  url: string;
  stop(): Promise<void>;
}

/** Seconds: on two cores, vLLM takes one to three minutes to begin. */
const maxToBegin = 600;

/**
 * Serves the checkpoint under the name `tiny`.
 * @param folder Keeps the log and the tokenizer.
 * @throws Error if the server ends, or does not answer within ten minutes.
 */
export async function startVllm(
  python: string,
  checkpoint: string,
  contextLength: number,
  folder: string,
): Promise<VllmServer> {
  const port = await freePort();
  const log = join(folder, 'vllm.log');
  const tokenizer = join(folder, 'tokenizer');
  await mkdir(tokenizer);
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) {
    await copyFile(join(checkpoint, name), join(tokenizer, name));
  }
  const output = openSync(log, 'a');
  const args = [
    ...['-m', 'vllm.entrypoints.cli.main', 'serve', checkpoint, '--served-model-name', 'tiny'],
    // Beside a config.json of Qwen2, transformers 5 puts Qwen's own rules in place of those in tokenizer.json.
    ...['--tokenizer', tokenizer],
    ...['--host', '127.0.0.1', '--port', String(port), '--dtype', 'float32', '--enforce-eager'],
    ...['--max-model-len', String(contextLength), '--max-logprobs', '20'],
    // vLLM 0.32 ends if it reads a prompt in pieces for a request with a seed.
    '--no-enable-chunked-prefill',
    ...['--enable-auto-tool-choice', '--tool-call-parser', 'hermes'],
  ];
  const child = spawn(python, args, {
    detached: true,
    stdio: ['ignore', output, output],
    env: {
      ...process.env,
      VLLM_CPU_KVCACHE_SPACE: '1',
      VLLM_NO_USAGE_STATS: '1',
      HF_HUB_OFFLINE: '1',
    },
  });
  closeSync(output);
  // The engine is a process of the server's.
  const stop = () => killGroup(child);
  const url = `http://127.0.0.1:${port}`;
  const otherwise = () => readFileSync(log, 'utf8').slice(-2000);
  await answering(`${url}/health`, child, otherwise, maxToBegin).catch(async (error) => {
    await stop();
    throw error;
  });
  return { url: `${url}/v1`, stop };
}
