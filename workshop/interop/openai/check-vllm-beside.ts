/** `--sampler vllm`: GRPO learns in this process and samples on a vLLM server that it starts, with an adapter and with full weights. */
import { join } from 'node:path';
import { openEnv } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import type { TransformerPolicy } from '@toolenv/policy';
import transformer, { type TransformerOptions } from '@toolenv/policy/transformer-v1';
import { grpo } from '@toolenv/trainer-grpo';
import { readMetrics, train } from '@toolenv/training';
import { check } from '../check.ts';

const checkpoint = join(import.meta.dirname, '../../../packages/checkpoints/tiny');
/** In nats. */
const tolerance = 1e-2;
const question = { messages: [{ role: 'user' as const, content: 'Which river is longer?' }], tools: [] };

/** @param python Has vLLM. */
export async function checkVllmBeside(python: string, scratch: string): Promise<void> {
  process.env.TOOLENV_VLLM = python;
  process.env.VLLM_CPU_KVCACHE_SPACE ??= '1';
  await checkRun('an adapter', { loraRank: 4 }, 3e-3, join(scratch, 'adapter'));
  await checkRun('full weights', {}, 3e-4, join(scratch, 'weights'));
}

async function checkRun(
  what: string,
  options: Partial<TransformerOptions>,
  learningRate: number,
  out: string,
): Promise<void> {
  const given = {
    ...options,
    checkpoint,
    sampler: 'vllm',
    samplerArguments: '--dtype float32 --enforce-eager',
  };
  const complete = completeOptions(transformer.options, given, transformer.name) as TransformerOptions;
  const policy = (await transformer.open(complete, { seed: 1 })) as TransformerPolicy;
  try {
    await using env = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 });
    const started = await greedy(policy);
    const after: Greedy[] = [];
    const small = { steps: 3, groupSize: 4, tasksPerStep: 4, evaluateEvery: 0, maxAborted: 0 };
    for await (const { type } of train({
      env,
      policy,
      trainer: grpo,
      out,
      ...small,
      learningRate,
    })) {
      if (type === 'update') after.push(await greedy(policy));
    }
    const distances = [started, ...after].map(({ distance }) => distance);
    check(
      distances.length === 4 && Math.max(...distances) < tolerance,
      `vLLM beside the learner, ${what}: greedy log-probabilities are the learner's before and after 3 steps, within ${Math.max(...distances).toExponential(1)}`,
      `they differ by ${distances.join(', ')}`,
    );
    const firsts = [started, ...after].map(({ first }) => first);
    const moves = firsts.slice(1).map((first, step) => Math.abs(first - firsts[step]!));
    check(
      moves.every((move) => move > 10 * Math.max(...distances)),
      `vLLM beside the learner, ${what}: each step changes what the server samples from`,
      `the first token moved by ${moves.join(', ')}`,
    );
    const steps = (await readMetrics(out)).filter(({ type }) => type === 'update');
    const gaps = steps.map(({ metrics }) => metrics['sampling/sampling_logp_difference/max']!);
    check(
      gaps.length === 3 && Math.max(...gaps) < tolerance,
      `vLLM beside the learner, ${what}: GRPO learns from the newest weights, ${gaps.map((gap) => gap.toExponential(1)).join(', ')} apart`,
      `sampler and learner are ${gaps.join(', ')} apart`,
    );
  } finally {
    await policy.close();
  }
}

interface Greedy {
  /** The log-probability of the first token, in nats. */
  first: number;
  /** The largest difference between the server's log-probabilities and the learner's. */
  distance: number;
}

async function greedy(policy: TransformerPolicy): Promise<Greedy> {
  const { tokens } = await policy.act(question, { maxTokens: 24, temperature: 0, seed: 1 });
  const { prompt, action, logprobs } = tokens!;
  const row = {
    tokens: Int32Array.of(...prompt, ...action),
    mask: new Uint8Array(prompt.length + action.length).fill(1, prompt.length),
  };
  const [ours] = (await policy.learner.forward({ rows: [row] })).logprobs;
  const apart = Array.from(logprobs, (logprob, t) => Math.abs(logprob - ours![prompt.length + t]!));
  return { first: logprobs[0]!, distance: Math.max(...apart) };
}
