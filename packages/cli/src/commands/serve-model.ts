/** serveModel: `toolenv serve --openai <policy>`, which serves a policy to clients of OpenAI's and Anthropic's APIs. */
import { ToolEnvError } from '@toolenv/core';
import { untilAborted } from '@toolenv/core/tools';
import type { ServeOptions } from '@toolenv/serving';
import { importPackage } from '../flags/import-optional.ts';
import type { ResolvedPlugin } from '../flags/plugin-flags.ts';

/** The port of vLLM's own server. */
export const modelPort = 8_000;

/**
 * @param options Of `servePolicy`.
 * @throws ToolEnvError `usage.no_oracle` for the player of an environment, and what opening and serving the policy throw; then nothing
 *   stays open.
 */
export async function serveModel(
  { plugin, options: policyOptions }: ResolvedPlugin<'policies'>,
  options: ServeOptions & Record<string, unknown>,
  { seed, signal }: { seed: number; signal: AbortSignal },
): Promise<{ url: string; close(): Promise<void> }> {
  const { servePolicy } = await importPackage('gateway', 'toolenv serve --openai');
  if (plugin.name === 'oracle') {
    const message =
      'The oracle plays the tasks of an environment, and there is none here: name another policy.';
    throw new ToolEnvError('usage.no_oracle', message);
  }
  const policy = await untilAborted(signal, () => plugin.open(policyOptions, { seed, signal }));
  const close = async () => policy.close?.();
  try {
    const service = await servePolicy(policy, options);
    return { url: service.url, close: () => service.close().finally(close) };
  } catch (error) {
    await close();
    throw error;
  }
}
