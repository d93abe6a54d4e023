/**
 * `npm run interop -- vllm`: plays and trains on a real vLLM server on the CPU, which serves the tiny policy. Its environment takes
 * 6 GB, so `npm run interop -- openai` leaves it out.
 */
import { join } from 'node:path';
import { collect, openEnv, rollout } from '@toolenv/core';
import { openAiPolicy } from '@toolenv/openai';
import { scratchFolder } from '../../scratch-folder.ts';
import { check } from '../check.ts';
import { checkServer } from './check-server.ts';
import { checkVllmBeside } from './check-vllm-beside.ts';
import { startVllm, type VllmServer } from './vllm-server.ts';

const checkpoint = join(import.meta.dirname, '../../../packages/checkpoints/tiny');

/** @param python Has the packages of vllm.txt. */
export async function checkVllm(python: string): Promise<void> {
  await using scratch = await scratchFolder();
  let server: VllmServer | undefined;
  try {
    server = await startVllm(python, checkpoint, 1024, scratch.path);
    await checkServer({ name: 'vLLM', url: server.url }, scratch.path);
    await checkNativeCalls(server.url);
  } finally {
    await server?.stop();
  }
  await checkVllmBeside(python, scratch.path);
}

/** The tiny policy knows its tools without being told of them, so the probe for tools would find none. */
async function checkNativeCalls(url: string): Promise<void> {
  const policy = await openAiPolicy({ url, toolCalls: 'native' });
  await using env = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 });
  const episodes = Array.from({ length: 8 }, (_, group) => ({
    task: env.tasks.test.get(group),
    group,
    sample: 0,
  }));
  const sampling = { maxTokens: 64, temperature: 0 };
  const played = await collect(rollout({ env, policy, episodes, concurrency: 4, sampling, seed: 1 }));
  const aborted = played.filter(({ outcome }) => outcome.kind === 'aborted').length;
  const calls = played.flatMap(({ steps }) => steps.flatMap(({ action }) => action.toolCalls));
  const searches = calls.filter((call) => 'name' in call && call.name === 'search').length;
  check(
    aborted === 0 && searches >= 8,
    `vLLM, chat: the server parses calls of tools, ${searches} in 8 episodes`,
    `${searches} of ${calls.length} calls are searches, ${aborted} episodes were aborted`,
  );
}
