/** Opens what a run needs: the environment, whose tools may be recorded or replayed, and the policy. */
import { type OpenedEnv, openEnv, ToolEnvError } from '@toolenv/core';
import { completeOptions, findPlugin, type PolicyDefinition, type PolicyHandle } from '@toolenv/core/plugins';
import { recordEnv, replayEnv, type ToolTap } from '@toolenv/core/recording';
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

/** What the flags of {@link recordingFlags} give. */
export interface RecordingFlags {
  record?: string;
  replay?: string;
}

export function recordingFlags(): Option[] {
  return [
    new Option('--record <file>', "record every call of the environment's tools into a new file"),
    new Option(
      '--replay <file>',
      "answer the calls of the environment's tools from a recording, without the tools",
    ).conflicts('record'),
  ];
}

export interface OpenRun {
  env: OpenedEnv<unknown>;
  policy: PolicyHandle;
  /** Ends a recording, or refuses a replay that made fewer calls than its recording. For runs that ended well. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** @throws ToolEnvError What opening the environment, its recording or the policy throws; then nothing stays open. */
export async function openRun(
  ref: string,
  { plugin, options }: { plugin: PolicyDefinition; options: Record<string, unknown> },
  { record, replay, ...flags }: EnvFlags & RecordingFlags & { seed: number },
): Promise<OpenRun> {
  const tap = record ? recordEnv(record) : replay ? await replayEnv(replay) : undefined;
  const env = await openRunEnv(ref, { ...flags, tap });
  try {
    const policy = await plugin.open(options, { seed: flags.seed });
    return {
      env,
      policy,
      finish: async () => tap?.finish(),
      close: () => policy.close().finally(() => env.close()),
    };
  } catch (error) {
    await env.close();
    throw error;
  }
}

export async function openRunEnv(
  ref: string,
  { seed, tap, envOption = [], tool = [] }: EnvFlags & { seed: number; tap?: ToolTap },
): Promise<OpenedEnv<unknown>> {
  const options = await envOptions(ref, envOption);
  return openEnv(ref, options, { seed, tools: Object.fromEntries(tool.map(readTool)), tap });
}

/** The environment's own options, with defaults. */
export async function envOptions(
  ref: string,
  pairs: readonly string[] = [],
): Promise<Record<string, unknown>> {
  const { plugin } = await findPlugin('envs', ref);
  return completeOptions(plugin.options, readPairs(plugin.options, pairs, '--env-option'), ref);
}

function readTool(pair: string): [role: string, ref: string] {
  const at = pair.indexOf('=');
  if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
  const message = `--tool ${pair}: write it as role=reference, as search=@toolenv/tools-search/search-v1.`;
  throw new ToolEnvError('usage.bad_flag', message);
}
