/** digestOf: which weights a run began with. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';

/**
 * The first digits of the SHA-256 of a policy's weights.
 * @throws ToolEnvError `usage.no_policy` if the folder has no weights.
 */
export async function digestOf(folder: string): Promise<string> {
  const weights = await readFile(join(folder, 'model.safetensors')).catch((cause: unknown) => {
    const remedy = 'npm run tiny-policy makes it: workshop/README.md says with which recipe.';
    throw new ToolEnvError('usage.no_policy', `${folder} has no policy. ${remedy}`, { cause });
  });
  return createHash('sha256').update(weights).digest('hex').slice(0, 12);
}
