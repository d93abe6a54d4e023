/** Opens the environment that a command names, with its `--env-option key=value` pairs. */
import { findPlugin, type OpenEnv, openEnv } from '@toolenv/core';
import { readPairs } from './schema-flags.ts';

export async function openRunEnv(
  ref: string,
  { seed, pairs = [] }: { seed: number; pairs?: readonly string[] },
): Promise<OpenEnv<unknown>> {
  const { plugin } = await findPlugin('envs', ref);
  return openEnv(ref, { seed, options: readPairs(plugin.options, pairs, '--env-option', ref) });
}
