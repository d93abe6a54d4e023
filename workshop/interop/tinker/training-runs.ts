/** Whole runs on SkyRL's server: a toy reward that rises, a server that is killed, and many samples at once. */
import { join } from 'node:path';
import { defineToolEnv, openEnv, ToolEnvError } from '@toolenv/core';
import type { TrainablePolicy } from '@toolenv/core/learner';
import { openChat } from '@toolenv/policy/chat';
import { checkPolicy } from '@toolenv/testing';
import { type TinkerPolicy, tinkerPolicy } from '@toolenv/tinker';
import { grpo } from '@toolenv/trainer-grpo';
import { readMetrics, train } from '@toolenv/training';
import { closing } from '../../closing.ts';
import { check } from '../check.ts';
import type { SkyRlServer } from './skyrl-server.ts';

/** Rewards words of the first half of the alphabet, which a random model writes half of the time. */
const alphabet = defineToolEnv({
  name: 'alphabet-v1',
  description: 'Write words that begin with a to m.',
  options: { properties: {} },
  limits: { maxTurns: 1 },
  tasks: () => {
    const split = (length: number) => ({ length, get: (index: number) => ({ index }) });
    return { train: split(64), validation: split(8), test: split(8) };
  },
  rewards: { early: { kind: 'outcome', score: ({ answer }) => early(answer ?? '') } },
  episode: () => ({ messages: 'Write.', tools: [] }),
  oracle: () => ['a b c d'],
});

function early(text: string): number {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  return words.filter((word) => word[0]! <= 'm').length / Math.max(1, words.length);
}

/** One size of a batch, and of a context, so that the server compiles few programs. */
const options = {
  trainer: grpo,
  tasksPerStep: 2,
  groupSize: 16,
  maxTokens: 8,
  learningRate: 2e-3,
  maxGradNorm: 0,
  klEvery: 0,
  evaluateEvery: 0,
  checkpointEvery: 1,
  seed: 1,
} as const;

async function open({ url, model }: SkyRlServer, retries = 5): Promise<TinkerPolicy> {
  return tinkerPolicy({ url, tokens: await openChat(model), rank: 8, retries });
}

export async function checkSampling(server: SkyRlServer): Promise<void> {
  await using policy = closing(await open(server));
  const observation = { messages: [{ role: 'user' as const, content: 'Write.' }], tools: [] };
  const actions = await Promise.all(
    Array.from({ length: 64 }, (_, seed) => policy.act(observation, { maxTokens: 8, temperature: 1, seed })),
  );
  const texts = new Set(actions.map(({ tokens }) => tokens!.action.join(' ')));
  check(texts.size > 60, 'SkyRL: 64 samples at once end, with seeds of their own', `${texts.size} differ`);
  const report = await checkPolicy(policy, { maxTokens: 8, timeout: 600_000 });
  check(report.ok, 'SkyRL: the policy conforms', JSON.stringify(report.findings));
}

/** Ten steps; the server is killed after the fourth. */
export async function checkRun(server: SkyRlServer, scratch: string): Promise<void> {
  const out = join(scratch, 'run');
  await using env = await openEnv(alphabet);
  const fault = await runUntil(server, { env, out, steps: 10 }, 4);
  check(fault.startsWith('infrastructure.'), `SkyRL: kill -9 of the server stops the run (${fault})`, fault);
  const before = (await readMetrics(out)).filter(({ type }) => type === 'update').length;
  await server.restart();
  const resumed = await runUntil(server, { env, out, steps: 10, resume: true }, undefined);
  const lines = await readMetrics(out);
  const updates = lines.filter(({ type }) => type === 'update').map(({ step }) => step);
  check(
    before >= 4 && resumed === 'finished' && updates.join() === '1,2,3,4,5,6,7,8,9,10',
    `SkyRL: the run keeps its ${before} steps and resumes to the tenth`,
    `${resumed}, ${before} steps, then ${updates.join()}`,
  );
  const rewards = lines.filter(({ type }) => type === 'rollout').map(({ metrics }) => metrics.reward!);
  const [first, last] = [rewards[0]!, rewards.at(-1)!];
  check(
    last > first + 0.15,
    `SkyRL: ten steps raise the reward: ${rewards.map((reward) => reward.toFixed(2)).join(' ')}`,
    rewards.join(' '),
  );
  const gaps = lines.map(({ metrics }) => metrics['sampling/sampling_logp_difference/max']);
  const gap = Math.max(...gaps.filter((each): each is number => each !== undefined));
  check(
    gap >= 0 && gap < 1e-4,
    `SkyRL: sampler and learner agree within ${gap.toExponential(1)}`,
    String(gap),
  );
}

/** A random model hardly ever ends its turn: a text that was cut counts as an answer. */
function answering(policy: TinkerPolicy): TrainablePolicy {
  return {
    spec: policy.spec,
    learner: policy.learner,
    act: async (observation, sampling) => ({
      ...(await policy.act(observation, sampling)),
      toolCalls: [],
      stopReason: 'stop',
    }),
    endEpisode: (id) => policy.endEpisode(id),
  };
}

/** @returns `finished`, or the code of the error that ended the run. */
async function runUntil(
  server: SkyRlServer,
  run: { env: Awaited<ReturnType<typeof openEnv>>; out: string; steps: number; resume?: boolean },
  killedAfter: number | undefined,
): Promise<string> {
  await using policy = closing(await open(server, 2));
  try {
    for await (const event of train({ ...run, ...options, policy: answering(policy) })) {
      if (event.type === 'checkpoint' && event.step === killedAfter) await server.kill();
    }
    return 'finished';
  } catch (error) {
    return ToolEnvError.isInstance(error) ? error.code : String(error);
  }
}
