/** What the recording and the tests do with a server: one walk through sampling, training, saving and loading. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Action } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';
import { openChat } from '@toolenv/policy/chat';
import type { ConnectionOptions } from '../src/connection.ts';
import { tinkerPolicy } from '../src/open-policy.ts';
import type { TinkerPolicy } from '../src/tinker-policy.ts';

const tinyPolicy = join(import.meta.dirname, '../../../packages/checkpoints/tiny');

export const rows: TokenRow[] = [
  { tokens: Int32Array.of(5, 80, 301, 12, 77, 640, 9, 33), mask: Uint8Array.of(0, 0, 0, 1, 1, 1, 0, 1) },
  { tokens: Int32Array.of(5, 81, 44, 502, 3, 700), mask: Uint8Array.of(0, 0, 1, 1, 0, 1) },
];
/** ∂loss/∂logprobs where the mask is 1; elsewhere they are ignored. */
export const slopes: Float32Array[] = rows.map(({ mask }, b) =>
  Float32Array.from(mask, (bit, t) => (bit === 1 ? ((b + 2 * t) % 5) / 4 - 0.4 : Number.NaN)),
);

export async function openPolicy(connection: ConnectionOptions): Promise<TinkerPolicy> {
  return tinkerPolicy({ ...connection, tokens: await openChat(tinyPolicy), rank: 8, seed: 1 });
}

export interface Walk {
  first: Action;
  again: Action;
  /** [B][T] before the first step. */
  logprobs: Float32Array[];
  /** Of the reference, after the first step. */
  reference: Float32Array[];
  /** Of the first step, of the step after saving, and of that step after loading. */
  norms: number[];
}

const step = { learningRate: 0.01 };

export async function walk(policy: TinkerPolicy): Promise<Walk> {
  const { learner } = policy;
  const observation = { messages: [{ role: 'user' as const, content: 'Which river is longer?' }], tools: [] };
  const act = () => policy.act(observation, { maxTokens: 6, temperature: 1, seed: 5 });
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-tinker-'));
  try {
    const [first, again] = [await act(), await act()];
    const { logprobs } = await learner.forward({ rows });
    const start = await learner.reference();
    const advance = async () => {
      await learner.backward({ rows }, { dLogprobs: slopes });
      return (await learner.step(step)).gradNorm;
    };
    const norms = [await advance()];
    const { logprobs: reference } = await start.forward({ rows });
    await learner.save(folder);
    norms.push(await advance());
    await learner.load(folder);
    norms.push(await advance());
    return { first, again, logprobs, reference, norms };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
