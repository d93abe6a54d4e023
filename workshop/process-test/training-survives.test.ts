/** Training continues if tools fail or never answer. */
import { createRng, openEnv, type Tool, type ToolFactory } from '@toolenv/core';
import { loadPlugin, type Metrics, type TrainEvent } from '@toolenv/core/plugins';
import { loadPolicy } from '@toolenv/policy';
import { train } from '@toolenv/training';
import { expect, test } from 'vitest';
import { newFolder } from '../test/new-folder.ts';

const trainers = ['@toolenv/trainer-grpo/grpo-v1', '@toolenv/trainer-ppo/ppo-v1'];

/** Trains for two updates on bridge questions with the search tool changed by `wrap`. Default of `toolTimeout`, in milliseconds: the environment's. */
async function eventsOf(
  trainer: string,
  wrap: (search: Tool) => Tool,
  toolTimeout?: number,
): Promise<TrainEvent[]> {
  const plugin = await loadPlugin('tools', '@toolenv/tools-search/search-v1');
  const search: ToolFactory = async (material) => wrap(await plugin.create(material));
  await using env = await openEnv(
    '@toolenv/envs-qa/bridge-v1',
    { topK: 2, ...(toolTimeout !== undefined && { toolTimeout }) },
    { tools: { search } },
  );
  await using policy = await loadPolicy('packages/checkpoints/tiny');
  const out = await newFolder();
  const own = { steps: 2, maxAborted: 1, tasksPerStep: 4, groupSize: 4, maxTokens: 48, learningRate: 1e-4 };
  const events: TrainEvent[] = [];
  for await (const event of train<Record<string, unknown>>({ env, policy, trainer, out, ...own }))
    events.push(event);
  return events;
}

function metricsOf(events: readonly TrainEvent[], type: 'rollout' | 'update'): Metrics[] {
  return events.flatMap((event) => (event.type === type ? [event.metrics] : []));
}

test.each(trainers)('%s learns from the remaining episodes if a tool fails sometimes', async (trainer) => {
  const rng = createRng(1, 'failures');
  let failed = 0;
  const events = await eventsOf(trainer, (search) => ({
    ...search,
    async execute(args, context) {
      if (rng.float() < 0.2) {
        failed += 1;
        throw new Error('the index is being rebuilt');
      }
      return search.execute(args, context);
    },
  }));
  expect(failed).toBeGreaterThan(2);
  for (const event of events) {
    if (event.type !== 'rollout') continue;
    expect(event.trajectories).toHaveLength(16);
    const aborted = event.trajectories.filter(({ outcome }) => outcome.kind === 'aborted');
    // Each episode is tried twice, so about one in twenty-five is lost.
    expect(aborted.length).toBeLessThan(8);
    expect(aborted.every(({ reward }) => reward === null)).toBe(true);
    expect(event.metrics.aborted).toBe(aborted.length);
  }
  expect(metricsOf(events, 'update')).toHaveLength(2);
});

test.each(trainers)('%s completes if a tool never answers', async (trainer) => {
  const never = () => new Promise<never>(() => {});
  const events = await eventsOf(trainer, (search) => ({ ...search, execute: never }), 300);
  const rollouts = metricsOf(events, 'rollout');
  expect(rollouts).toHaveLength(2);
  for (const { episodes, aborted } of rollouts) {
    expect(episodes).toBe(16);
    // Episodes with a search are aborted; the others answered at once.
    expect(aborted).toBeGreaterThan(8);
  }
  expect(metricsOf(events, 'update')).toHaveLength(2);
  expect(events.at(-1)?.type).toBe('checkpoint');
});
