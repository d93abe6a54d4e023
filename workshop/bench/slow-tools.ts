/**
 * `npm run bench -- tools`: rollouts whose tools take time. One sampler waits for all tools of a turn, as it must where bits depend on the
 * batch; the other one goes on. Their samples are compared bit by bit.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createRng, type Rng } from '@toolenv/core';
import { type Model, onnxRuntime, type Runtime, Sampler } from '@toolenv/policy';
import { busyShare, warnIfBusy } from './machine.ts';
import { median } from './median.ts';
import { randomModel, randomTokens, sizes } from './model.ts';

const shape = { conversations: 64, prompt: 96, turns: [2, 6], said: [8, 56], answer: 24 } as const;

/** Seconds that a tool takes. */
const tools: Record<string, (rng: Rng) => number> = {
  '0.3 s': () => 0.3,
  // A Pareto distribution: the median is 0.16 s, and a call in a hundred takes over 2 s.
  'long tail': (rng) => Math.min(4, 0.1 / (1 - rng.float()) ** (2 / 3)),
  none: () => 0,
};

export async function measureSlowTools(
  { size = '1m' }: { size?: string },
  rounds: number,
): Promise<Record<string, unknown>> {
  const model = randomModel(sizes[size]!);
  const runtime = onnxRuntime();
  const sides = { goesOn: runtime, waits: { ...runtime, hasIndependentRows: false } };
  const busy = await busyShare();
  const results: Record<string, unknown>[] = [];
  for (const [name, seconds] of Object.entries(tools)) {
    const times = { goesOn: [] as number[], waits: [] as number[] };
    let equalBits = true;
    for (let round = 0; round < rounds; round++) {
      const played: string[] = [];
      for (const side of ['goesOn', 'waits'] as const) {
        const start = performance.now();
        played.push(await rollout(sides[side], model, seconds, round));
        times[side].push((performance.now() - start) / 1000);
      }
      equalBits &&= played[0] === played[1];
    }
    const [goesOn, waits] = [median(times.goesOn), median(times.waits)];
    const rounded = (value: number) => Number(value.toFixed(3));
    results.push({
      tools: name,
      goesOn: rounded(goesOn),
      waits: rounded(waits),
      ratio: rounded(waits / goesOn),
      equalBits,
    });
  }
  warnIfBusy(busy);
  return { name: 'tools', size, unit: 's', shape, results, rounds };
}

/** Plays all conversations at once. @returns Their tokens and log-probabilities. */
async function rollout(
  runtime: Runtime,
  model: Model,
  seconds: (rng: Rng) => number,
  round: number,
): Promise<string> {
  const sampler = new Sampler(runtime, model);
  const conversations = Array.from({ length: shape.conversations }, async (_, index) => {
    const rng = createRng(3, 'conversation', round, index);
    const between = ([least, most]: readonly [number, number]) => least + rng.int(most - least + 1);
    const { vocab_size: vocabulary } = model.config;
    const history = [...randomTokens(vocabulary, shape.prompt, 'prompt', round, index)];
    const samples: number[] = [];
    const turns = between(shape.turns);
    for (let turn = 0; turn < turns; turn++) {
      const { tokens, logprobs } = await sampler.sample({
        prompt: Int32Array.from(history),
        maxTokens: between(shape.said),
        temperature: 1,
        seed: turn * shape.conversations + index,
        stopTokens: [],
        episodeId: `episode ${index}`,
      });
      samples.push(...tokens, ...logprobs);
      if (turn < turns - 1) await delay(1000 * seconds(rng));
      history.push(...tokens, ...randomTokens(vocabulary, shape.answer, 'answer', round, index, turn));
    }
    sampler.forget(`episode ${index}`);
    return samples;
  });
  const samples = await Promise.all(conversations);
  await sampler.close();
  return JSON.stringify(samples);
}
