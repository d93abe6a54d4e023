/** `npm run bench -- memory`: the estimated and the measured peak memory of an optimizer step, each in a process of its own. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onnxRuntime, TransformerLearner } from '@toolenv/policy';
import { randomModel, randomTokens, sizes, unsavedCheckpoint } from './model.ts';

interface Batch {
  rows: number;
  length: number;
  gradientCheckpointing: boolean;
  lora: boolean;
}

const lengths = [192, 2048];
/** Tokens of a batch, so that the largest model fits into a few gigabytes. */
const tokensOf: Record<string, number> = {
  '1m': 4096,
  '15m': 4096,
  '100m': 2048,
  '135m': 2048,
  '500m': 2048,
};

export async function measureMemory({ size = '1m' }: { size?: string }): Promise<Record<string, unknown>> {
  const variants = [false, true].flatMap((lora) =>
    [false, true].map((gradientCheckpointing) => ({ lora, gradientCheckpointing })),
  );
  // Without an adapter and checkpointing, the largest model needs more memory than most machines have.
  const fitting = size === '500m' ? [{ lora: true, gradientCheckpointing: true }] : variants;
  const results = lengths.flatMap((length) =>
    fitting.map((variant) => {
      const batch = { rows: Math.max(1, Math.floor(tokensOf[size]! / length)), length, ...variant };
      const output = execFileSync(process.execPath, [
        fileURLToPath(import.meta.url),
        JSON.stringify({ size, batch }),
      ]);
      return { ...batch, ...JSON.parse(String(output)) };
    }),
  );
  return { name: 'memory', size, unit: 'bytes', results };
}

/** The peak without that of an empty process that has loaded the same modules. */
async function measure(size: string, { rows: count, length, gradientCheckpointing, lora }: Batch) {
  const { rss: idle } = process.memoryUsage();
  const config = { ...sizes[size]!, max_position_embeddings: Math.max(...lengths) };
  const model = randomModel(config);
  const learner = new TransformerLearner(onnxRuntime(), model, unsavedCheckpoint(model), {
    tokenBudget: count * length,
    gradientCheckpointing,
    ...(lora && { lora: { rank: 16 } }),
  });
  const rows = Array.from({ length: count }, (_, row) => ({
    tokens: randomTokens(config.vocab_size, length + 1, 'row', row),
    mask: new Uint8Array(length + 1).fill(1, 1),
  }));
  const dLogprobs = rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit / length));
  await learner.backward({ rows }, { dLogprobs });
  await learner.step({ learningRate: 1e-5 });
  const estimate = learner.memoryFor(length).total;
  // Node reports kilobytes on every system.
  const peak = 1024 * process.resourceUsage().maxRSS - idle;
  return { estimate: Math.round(estimate), peak, ratio: Number((estimate / peak).toFixed(2)) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { size, batch } = JSON.parse(process.argv[2]!) as { size: string; batch: Batch };
  console.log(JSON.stringify(await measure(size, batch)));
}
