/** Sampling options as the fields of a request. Every field is sent, because servers have defaults of their own. */
import { type SamplingOptions, ToolEnvError } from '@toolenv/core';
import type { Json } from './answer.ts';
import { withoutRefused } from './capabilities.ts';

/** llama.cpp reads 2³² − 1 as "any seed", vLLM takes 63 bits. */
const seeds = 2 ** 31;

/** @throws ToolEnvError `usage.model_request` or `usage.constrain_calls` for an option that the server does not have. */
export function samplingFields(
  { maxTokens, temperature, topP = 1, topK, minP = 0, constrainCalls, seed }: SamplingOptions,
  refused: ReadonlySet<string>,
  who: string,
): Json {
  refuseConstrainedCalls({ constrainCalls }, who);
  const needed = { top_p: topP !== 1, top_k: topK !== undefined, min_p: minP !== 0 };
  for (const [name, isNeeded] of Object.entries(needed)) {
    if (!isNeeded || !refused.has(name)) continue;
    throw new ToolEnvError('usage.model_request', `${who} has no ${name}: leave the option out.`);
  }
  const fields = {
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    // −1 is all tokens: llama.cpp's default is 40, and vLLM takes that of the checkpoint.
    top_k: topK ?? -1,
    min_p: minP,
    seed: ((seed % seeds) + seeds) % seeds,
  };
  return withoutRefused(fields, refused);
}

/** @throws ToolEnvError `usage.constrain_calls` if the option is on: the grammar of a server is its own. */
export function refuseConstrainedCalls(
  { constrainCalls }: Pick<SamplingOptions, 'constrainCalls'>,
  who: string,
): void {
  if (!constrainCalls) return;
  const message = `${who} draws its tokens elsewhere, where calls cannot be constrained: leave constrainCalls out.`;
  throw new ToolEnvError('usage.constrain_calls', message);
}
