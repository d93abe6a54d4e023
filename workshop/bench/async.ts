/** `npm run bench -- async`: the share of a run that the learner spends learning, with slow tools and with rollouts played ahead. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openEnv, type ToolFactory } from '@toolenv/core';
import { loadPlugin } from '@toolenv/core/plugins';
import { loadPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { train } from '@toolenv/training';
import { busyShare, warnIfBusy } from './machine.ts';

/** Milliseconds that a search takes, drawn uniformly. */
const latency = [50, 500] as const;
const steps = 8;
const shape = { tasksPerStep: 16, groupSize: 8, steps, latency };

/** The share of the time in updates, without latency, and with latency by the number of rollouts played ahead. */
export async function measureAsync(): Promise<Record<string, unknown>> {
  const busyBefore = await busyShare();
  const quick = await run({ slow: false, staleness: 0 });
  const slow: Record<string, Run> = {};
  for (const staleness of [0, 1, 2]) slow[staleness] = await run({ slow: true, staleness });
  const otherWork = Math.max(busyBefore, await busyShare());
  warnIfBusy(otherWork);
  const ratios = Object.entries(slow).map(([staleness, { busy }]) => [staleness, round(busy / quick.busy)]);
  return {
    name: 'async',
    withoutLatency: quick,
    withLatency: slow,
    /** The learner's share of the time, divided by the share without latency. */
    ratio: Object.fromEntries(ratios),
    unit: 'share of wall-clock',
    shape,
    otherWork: round(otherWork),
    versions: { node: process.version },
  };
}

interface Run {
  /** Share of the time after the first update that the learner spent learning. */
  busy: number;
  secondsPerStep: number;
}

async function run({ slow, staleness }: { slow: boolean; staleness: number }): Promise<Run> {
  const plugin = await loadPlugin('tools', '@toolenv/tools-search/search-v1');
  const search: ToolFactory = async (material) => {
    const tool = await plugin.create(material);
    if (!slow) return tool;
    return {
      ...tool,
      async execute(args, context) {
        await delay(latency[0] + context.rng.int(latency[1] - latency[0] + 1));
        return tool.execute(args, context);
      },
    };
  };
  await using env = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 }, { tools: { search } });
  await using policy = await loadPolicy('packages/tiny-policy/checkpoint');
  const trainer = grpo({ beta: 0.1, learningRate: 3e-5, maxTokens: 64, checkpointEvery: 0 });
  const { tasksPerStep, groupSize } = shape;
  const options = { steps, tasksPerStep, groupSize, maxStaleness: staleness };
  const out = await mkdtemp(join(tmpdir(), 'toolenv-bench-'));
  let learning = 0;
  let begun = 0;
  let ended = 0;
  const run = { env, policy, trainer, out, trajectories: false };
  for await (const event of train({ ...run, ...options })) {
    if (event.type !== 'update') continue;
    ended = performance.now();
    // Excluded: the first update compiles, and the first rollout cannot overlap with learning.
    if (event.step === 1) begun = ended;
    else learning += event.metrics['time/update']!;
  }
  await rm(out, { recursive: true });
  const seconds = (ended - begun) / 1000;
  return { busy: round(learning / seconds), secondsPerStep: round(seconds / (steps - 1)) };
}

function round(value: number): number {
  return Number(value.toFixed(3));
}
