/**
 * `npm run bench -- cost`: how the time and the memory of a step grow with the context, the group, the model, the episodes and the tools.
 * Each point is measured by a process of its own, so that its memory is that of the point. Points in the file of results are not repeated.
 */
import { appendFile, writeFile } from 'node:fs/promises';
import { ToolEnvError } from '@toolenv/core';
import type { ModelConfig } from '@toolenv/policy';
import type { Benchmark } from './benchmark.ts';
import { type Axis, type CostPoint, costCharts } from './cost-charts.ts';
import { group } from './group.ts';
import { grpo } from './grpo.ts';
import { measureBenchmark } from './measure-model.ts';
import { sizes } from './model.ts';
import { lineOf, readLines } from './own-process.ts';
import { train } from './train.ts';

/** What grows, and the values at which a step is measured. */
const axes = {
  context: [192, 512, 1024, 2048, 4096],
  group: [1, 2, 4, 8, 16],
  parameters: ['1m', '15m', '100m'],
  episodes: [16, 32, 64, 128],
  tools: [0, 2, 4],
} as const satisfies Record<Axis, readonly (number | string)[]>;

/** Tokens of a step, for rows of any length. */
const tokens = 4096;

export interface CostChoice {
  size?: string;
  /** Measures one point: `context=2048`. */
  task?: string;
  /** File of the points, beside which the charts are drawn. */
  results?: string;
}

export async function measureCost(
  { size = '1m', task, results }: CostChoice,
  rounds: number,
): Promise<Record<string, unknown>> {
  if (task !== undefined) {
    const [axis, value] = task.split('=') as [Axis, string];
    if (!axes[axis]?.some((each) => String(each) === value)) {
      const points = Object.entries(axes).map(([name, values]) => `${name}=${values.join('|')}`);
      throw new ToolEnvError('usage.bench_task', `No task "${task}": give ${points.join(', ')}.`);
    }
    return { ...(await measurePoint(size, axis, value, rounds)) };
  }
  // The charts are written beside the file, and not over it.
  if (results !== undefined && !results.endsWith('.jsonl'))
    throw new ToolEnvError('usage.bench_results', `--results is "${results}": name a .jsonl file.`);
  const known = results === undefined ? [] : await readLines<CostPoint>(results);
  for (const [axis, values] of Object.entries(axes) as [Axis, readonly (number | string)[]][])
    for (const value of values) {
      if (known.some((point) => point.size === size && point.axis === axis && point.value === value))
        continue;
      const line = await lineOf([
        'cost',
        '--size',
        size,
        '--task',
        `${axis}=${value}`,
        '--rounds',
        `${rounds}`,
      ]);
      known.push(JSON.parse(line));
      if (results !== undefined) await appendFile(results, line);
    }
  if (results !== undefined) await writeFile(results.replace(/\.jsonl$/, '.svg'), costCharts(known));
  return { name: 'cost', size, results: known };
}

async function measurePoint(size: string, axis: Axis, given: string, rounds: number): Promise<CostPoint> {
  const value = axis === 'parameters' ? given : Number(given);
  const benchmark = await benchmarkAt(sizes[size]!, axis, value);
  const modules = benchmark.peerScript === 'grpo.py' ? ['trl', 'datasets'] : [];
  const measured = await measureBenchmark(benchmark, { rounds, modules });
  const { peakMemory, otherWork, threads, versions } = measured as unknown as CostPoint;
  const { ours, peer, perRound } = measured as { ours: number; peer: number | null; perRound: number };
  const { steps = 1 } = benchmark.shape;
  const seconds = (rate: number) => Number((perRound / steps / rate).toPrecision(4));
  return {
    ...{ name: 'cost', size, axis, value },
    seconds: { ours: seconds(ours), peer: peer === null ? null : seconds(peer) },
    ...{ peakMemory, otherWork, threads, rounds, versions },
  };
}

async function benchmarkAt(config: ModelConfig, axis: Axis, value: number | string): Promise<Benchmark> {
  if (axis === 'parameters') return train(sizes[value]!, { steps: 1 });
  const at = Number(value);
  const long = { ...config, max_position_embeddings: Math.max(...axes.context) };
  switch (axis) {
    case 'context':
      return train(long, { rows: Math.floor(tokens / at), length: at, steps: 1 });
    case 'group':
      return group(long, at);
    case 'episodes':
      return grpo(config, { prompts: at / 8 });
    case 'tools':
      return grpo(long, { tools: at });
  }
}
