/** Opens the environment that a command names, with its `--env-option key=value` and `--tool role=reference` pairs. */
import { type EnvHandle, openEnv, ToolEnvError } from '@toolenv/core';
import { findPlugin } from '@toolenv/core/plugins';
import { Option } from 'commander';
import { readPairs } from '../flags/schema-flags.ts';

/** What the flags of {@link envFlags} give. */
export interface EnvFlags {
  envOption?: string[];
  tool?: string[];
}

/** The flags of every command that opens an environment. */
export function envFlags(): Option[] {
  return [
    new Option('--env-option <key=value...>', "set the environment's options"),
    new Option(
      '--tool <role=reference...>',
      "put another tool plugin into a role, in place of the environment's own",
    ),
  ];
}

export async function openRunEnv(
  ref: string,
  { seed, envOption = [], tool = [] }: EnvFlags & { seed: number },
): Promise<EnvHandle<unknown>> {
  const { plugin } = await findPlugin('envs', ref);
  const options = readPairs(plugin.options, envOption, '--env-option', ref);
  return openEnv(ref, { seed, options, tools: Object.fromEntries(tool.map(readTool)) });
}

function readTool(pair: string): [role: string, ref: string] {
  const at = pair.indexOf('=');
  if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
  const message = `--tool ${pair}: write it as role=reference, as search=@toolenv/tools-search/search-v1.`;
  throw new ToolEnvError('usage.bad_flag', message);
}
