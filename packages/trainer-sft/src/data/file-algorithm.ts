/** fileAlgorithm: how every trainer of this package learns from a file, in an order that a resumed run repeats. */
import type { TokenRow } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import type { DataAlgorithm, RunOptions } from '@toolenv/training';
import type { DataOptions } from '../sft-options.ts';
import { Batches } from './batches.ts';
import { checksum, refuseOtherData } from './checksum.ts';

export interface FileAlgorithm<Item> {
  /** What the file has. */
  items: readonly Item[];
  rowsOf(items: readonly Item[]): TokenRow[];
  options: DataOptions & RunOptions;
  /** Of the run. */
  seed: number;
  /** Learns from a batch. */
  learn(batch: Item[]): Promise<Metrics>;
  evaluate?: DataAlgorithm['evaluate'];
}

export function fileAlgorithm<Item>(of: FileAlgorithm<Item>): DataAlgorithm {
  const { items, rowsOf, options, seed, learn, evaluate } = of;
  const tokensOf = (some: readonly Item[]) =>
    rowsOf(some).reduce((sum, { tokens }) => sum + tokens.length, 0);
  const lengths = items.map((item) => tokensOf([item]));
  const batches = new Batches(lengths, { ...options, seed });
  const memory = { data: checksum(rowsOf(items)), num_tokens: 0 };
  const refuse = refuseOtherData(memory, options.data);
  return {
    memory,
    steps: options.steps || batches.steps(options.epochs),
    async learn({ step }) {
      refuse();
      const { indices, epoch } = batches.at(step);
      const batch = indices.map((index) => items[index]!);
      const metrics = await learn(batch);
      memory.num_tokens += tokensOf(batch);
      return { ...metrics, num_tokens: memory.num_tokens, epoch };
    },
    ...(evaluate && { evaluate }),
  };
}
