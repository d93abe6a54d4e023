/** `npm run bench -- cost`: how the cost of an optimizer step grows with the context, the group and the model. */
import type { Benchmark } from './benchmark.ts';
import { group } from './group.ts';
import { measureBenchmark } from './measure-model.ts';
import { sizes } from './model.ts';
import { train } from './train.ts';

const contexts = [192, 512, 1024, 2048, 4096];
const groups = [1, 2, 4, 8, 16];
/** Tokens of a step, for rows of any length. */
const tokens = 4096;

export async function measureCost(
  { size = '1m' }: { size?: string },
  rounds: number,
): Promise<Record<string, unknown>> {
  const config = { ...sizes[size]!, max_position_embeddings: Math.max(...contexts) };
  const points: [Record<string, unknown>, Benchmark][] = [
    ...contexts.map((length): (typeof points)[number] => {
      return [{ context: length }, train(config, { rows: Math.floor(tokens / length), length, steps: 1 })];
    }),
    ...groups.map((rows): (typeof points)[number] => [{ group: rows }, group(config, rows)]),
    ...['1m', '15m'].map((of): (typeof points)[number] => [{ model: of }, train(sizes[of]!, { steps: 1 })]),
  ];
  const results: Record<string, unknown>[] = [];
  for (const [by, benchmark] of points) {
    const { ours, peer, ratio, withoutSharing, otherWork, versions } = await measureBenchmark(benchmark, {
      rounds,
    });
    results.push({
      ...by,
      ours,
      peer,
      ratio,
      ...(withoutSharing !== undefined && { withoutSharing }),
      otherWork,
      versions,
    });
  }
  return { name: 'cost', size, unit: 'tokens/s', results, rounds };
}
