/** The families of questions that the small policies learn and the studies ask. */
import { type EnvHandle, openEnv, type ToolPlugin } from '@toolenv/core';
import type { SearchMaterial } from '@toolenv/tools-search';
import { envOptions } from '../demo/setting.ts';

/** The environment of each family, with its own options. */
export const families = {
  lookup: { ref: '@toolenv/envs-qa/lookup-v1', options: {} },
  bridge: { ref: '@toolenv/envs-qa/bridge-v1', options: {} },
  comparison: { ref: '@toolenv/envs-qa/comparison-v1', options: {} },
  compose: { ref: '@toolenv/envs-qa/compose-v1', options: {} },
  'one-hop claims': { ref: '@toolenv/envs-qa/claims-v1', options: { hops: [1] } },
  'two-hop claims': { ref: '@toolenv/envs-qa/claims-v1', options: { hops: [2] } },
  'three-hop claims': { ref: '@toolenv/envs-qa/claims-v1', options: { hops: [3] } },
} as const;

export type Family = keyof typeof families;

export interface FamilyOptions {
  /** Turns of an episode. Default: those of the family. */
  maxTurns?: number;
  /** Default: a search that never fails. */
  search?: ToolPlugin<SearchMaterial>;
}

/** @param seed Seeds the world, which all families share. */
export function openFamily(
  family: Family,
  seed: number,
  { maxTurns, search }: FamilyOptions = {},
): Promise<EnvHandle<unknown>> {
  const { ref, options } = families[family];
  const tools = search && { search };
  return openEnv(ref, { ...envOptions, ...options, ...(maxTurns && { maxTurns }) }, { seed, tools });
}
