/** weightsDigest: a short name of a policy's weights, which are equal if their names are. */
import { readFile, rm } from 'node:fs/promises';
import type { TransformerPolicy } from '@toolenv/policy';

const folder = '/digested';
/** Characters of the name. */
const length = 12;

export async function weightsDigest(policy: TransformerPolicy): Promise<string> {
  try {
    await policy.save(folder);
    const bytes = await readFile(`${folder}/model.safetensors`);
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes)));
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0'))
      .join('')
      .slice(0, length);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
