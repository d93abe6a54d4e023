/** One optimizer step on one batch. If a number is not finite, no weight changes, and the batch is saved as evidence. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { writeAtomic } from '@toolenv/core/files';
import type { AdamW, BackwardOutputs, Learner, TokenBatch, TokenGradients } from '@toolenv/core/learner';

/**
 * Accumulates the batch's gradients and steps.
 * @param out Folder of the run: a batch whose loss or gradient is not finite is written there as not-finite-batch.json.
 * @throws ToolEnvError `bug.gradient_not_finite`, before the weights are touched, naming that file.
 */
export async function optimizerStep(
  learner: Learner,
  batch: TokenBatch,
  gradients: TokenGradients,
  { out, ...optimizer }: AdamW & { out: string },
): Promise<{ gradNorm: number; criticGradNorm?: number; outputs?: BackwardOutputs }> {
  try {
    for (const [name, rows] of Object.entries(gradients)) {
      const wrong = batch.rows.findIndex(({ tokens }, b) => rows && rows[b]?.length !== tokens.length);
      if (wrong >= 0) {
        const shape = `${rows![wrong]?.length ?? 'no'} numbers for the ${batch.rows[wrong]!.tokens.length} tokens of row ${wrong}`;
        throw new ToolEnvError(
          'bug.gradient_shape',
          `The trainer gives a ${name} with ${shape}: give [rows][tokens].`,
        );
      }
      if (rows?.some((row: Float32Array) => !row.every(Number.isFinite)))
        throw new ToolEnvError('bug.gradient_not_finite', `The loss gives a ${name} that is not finite.`);
    }
    const outputs = await learner.backward(batch, gradients);
    return { ...(await learner.step(optimizer)), ...(outputs && { outputs }) };
  } catch (error) {
    if (!ToolEnvError.isInstance(error) || error.code !== 'bug.gradient_not_finite') throw error;
    const file = join(out, 'not-finite-batch.json');
    const where = await writeBatch(file, batch, gradients).then(
      () => `the batch is in ${file}`,
      (reason: unknown) => `the batch could not be written to ${file} (${messageOf(reason)})`,
    );
    throw new ToolEnvError(error.code, `${error.message} No weight was touched: ${where}.`, {
      cause: error,
    });
  }
}

/** JSON has no NaN and no infinities, so they are written as strings. */
async function writeBatch(file: string, batch: TokenBatch, gradients: TokenGradients): Promise<void> {
  const numbers = (row: ArrayLike<number>) =>
    Array.from(row, (value) => (Number.isFinite(value) ? value : String(value)));
  const rows = batch.rows.map(({ tokens, mask }, b) => ({
    tokens: numbers(tokens),
    mask: numbers(mask),
    ...Object.fromEntries(
      Object.entries(gradients).flatMap(([name, of]) => (of ? [[name, numbers(of[b])]] : [])),
    ),
  }));
  await mkdir(join(file, '..'), { recursive: true });
  await writeAtomic(file, `${JSON.stringify({ temperature: batch.temperature ?? 1, rows })}\n`);
}
