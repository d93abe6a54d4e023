/** Writes the folder of a run with many episodes, in the form in which `toolenv train` leaves it. */
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRng, type ToolCallRecord, type Trajectory } from '@toolenv/core';
import { encodeTrajectory } from '@toolenv/core/recording';

export const episodesPerStep = 64;
const groupSize = 8;

const questions = ['Who founded Selarel?', 'Where was Ada born?', 'Which river flows through Melford?'];

/** An episode of a step: a call, its result, and an answer that is right more often in later steps. */
export function episodeOf(step: number, index: number): Trajectory & { step: number } {
  const rng = createRng(step * 1000 + index);
  const group = Math.floor(index / groupSize);
  const question = questions[(step + group) % questions.length]!;
  const isRight = rng.float() < step / (step + 4);
  const call = {
    id: 'call-0',
    name: index % 16 === 5 ? 'fetch' : 'search',
    arguments: { query: `Selarel ${index}` },
  };
  const record: ToolCallRecord = {
    call,
    text: `Founded by Ada. Document ${index} of step ${step}.`,
    milliseconds: 12.5,
    ...(index % 16 === 5
      ? {
          mistake: {
            code: 'unknown_tool',
            path: '/name',
            expected: '"search"',
            received: '"fetch"',
            hint: 'Call search.',
          },
        }
      : { result: { content: [{ type: 'text', text: 'Founded by Ada.' }] } }),
  };
  const system = { role: 'system' as const, content: 'Answer the question. Use search to find documents.' };
  const user = { role: 'user' as const, content: question };
  const tokens = (prompt: number, action: number) => ({
    prompt: Int32Array.from({ length: prompt }, (_, at) => at),
    action: Int32Array.from({ length: action }, (_, at) => 100 + at),
    logprobs: Float32Array.from({ length: action }, () => Math.log(0.005 + 0.99 * rng.float())),
  });
  const isCut = index % 32 === 9;
  return {
    version: 1,
    step,
    env: '@toolenv/envs-qa/bridge-v1',
    policy: 'tiny',
    episodeId: `${step}-${group}-${index % groupSize}`,
    index,
    task: { question },
    group,
    sample: index % groupSize,
    seed: index,
    rewardSpec: {
      em: { kind: 'outcome', range: [0, 1], weight: 1 },
      retrieved: { kind: 'process', range: [0, 1], weight: 0.1 },
    },
    steps: [
      {
        observation: { messages: [system, user], tools: [] },
        action: { text: '', toolCalls: [call], stopReason: 'tool_call', tokens: tokens(30, 8) },
        calls: [record],
        rewards: { em: null, retrieved: 0.5 },
        info: {},
      },
      {
        observation: {
          messages: [
            system,
            user,
            { role: 'assistant', content: '', toolCalls: [call] },
            { role: 'tool', content: record.text, toolCallId: call.id, name: call.name },
          ],
          tools: [],
        },
        action: { text: isRight ? 'Ada' : 'Borek', toolCalls: [], stopReason: 'stop', tokens: tokens(60, 5) },
        calls: [],
        rewards: { em: isRight ? 1 : 0, retrieved: null },
        info: {},
      },
    ],
    outcome: isCut ? { kind: 'truncated', reason: 'max_turns' } : { kind: 'terminated', reason: 'answered' },
    rewards: { em: isRight ? 1 : 0, retrieved: 0.5 },
    reward: (isRight ? 1 : 0) + 0.05,
  };
}

/** Appends the steps `from` to `to` to the folder of a run. */
export async function appendSteps(folder: string, from: number, to: number): Promise<void> {
  for (let step = from; step <= to; step++) {
    const episodes = Array.from({ length: episodesPerStep }, (_, index) => episodeOf(step, index));
    const reward = episodes.reduce((sum, each) => sum + each.reward!, 0) / episodesPerStep;
    const lines = episodes.map((each) => `${encodeTrajectory(each)}\n`).join('');
    const tokens = episodes.map(({ episodeId, steps, reward: own }) => {
      const turns = steps.map(({ action }) => ({
        advantages: Array.from(action.tokens!.action, () => own! - reward),
        entropies: Array.from(action.tokens!.action, (id) => (id % 5) / 2),
      }));
      return `${JSON.stringify({ step, episodeId, turns })}\n`;
    });
    const em = reward - 0.05;
    const metrics = [
      { type: 'rollout', step, metrics: { reward, 'rewards/em/mean': em, 'tools/call_frequency': 1 } },
      { type: 'update', step, metrics: { loss: -em / 10, entropy: 1 / step, kl: step / 1000, grad_norm: 1 } },
    ];
    await appendFile(join(folder, 'trajectories.jsonl'), lines);
    await appendFile(join(folder, 'tokens.jsonl'), tokens.join(''));
    await appendFile(
      join(folder, 'metrics.jsonl'),
      metrics.map((line) => `${JSON.stringify(line)}\n`).join(''),
    );
  }
}

/** A run with so many steps. */
export async function makeRun(
  folder: string,
  { steps, seed }: { steps: number; seed: number },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const config = {
    env: '@toolenv/envs-qa/bridge-v1',
    policy: 'tiny',
    trainer: '@toolenv/trainer-grpo/grpo-v1',
    trainerOptions: { learningRate: seed / 1e4, groupSize },
    seed,
  };
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  await appendSteps(folder, 1, steps);
}
