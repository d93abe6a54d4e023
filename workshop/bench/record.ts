/**
 * `npm run bench -- record`: measures what docs/benchmarks/README.md shows of CPUs but the costs, on one machine. Lines that the file of results has are
 * not measured again, so an interrupted record goes on.
 */
import { appendFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { ToolEnvError } from '@toolenv/core';
import { lineOf, readLines } from './own-process.ts';

const sides = ['--rounds 5', '--rounds 5 --runtime libtorch'];
const recorded = [
  ...sides.flatMap((side) => [`train --size 1m ${side}`, `train --size 15m ${side}`, `grpo ${side}`]),
  'train --size 100m --rounds 5',
  'rollout --size 1m --rounds 5',
  'rollout --size 15m --rounds 5',
  'rollout --size 500m --rounds 5',
  'first --rounds 5',
  'group --rounds 5',
  'lora --rounds 3',
  'grpo-tools --rounds 5',
  'smollm2 --rounds 3',
  'tools --rounds 3',
  'env',
  'gateway',
  'code --rounds 5',
];

export async function record(
  { results }: { results?: string },
  _rounds: number,
): Promise<Record<string, unknown>> {
  if (results === undefined)
    throw new ToolEnvError('usage.bench_results', 'Name the file of results: --results runs/bench.jsonl.');
  const done = new Set((await readLines<{ command: string }>(results)).map(({ command }) => command));
  for (const command of recorded) {
    if (done.has(command)) continue;
    console.error(command);
    const line = { command, ...JSON.parse(await lineOf(command.split(' '))), processor: cpus()[0]?.model };
    await appendFile(results, `${JSON.stringify(line)}\n`);
  }
  return { name: 'record', results };
}
