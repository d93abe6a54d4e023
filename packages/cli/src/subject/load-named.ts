/** Loads the policy or the trainer that a command line names: a reference, an address, a folder or a file. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { loadPlugin, namedPolicy, type PluginTypes, type PolicyDefinition } from '@toolenv/core/plugins';
import { nearest } from '@toolenv/core/schemas';
import { importPlugin } from './find-subject.ts';
import { fullName } from './full-name.ts';
import { isKnownPlayer, KnownPlayer, playerNames } from './known-player.ts';

export const defaultTrainer = '@toolenv/trainer-grpo/grpo-v1';
/** Takes advantage estimators that need a critic. */
export const criticTrainer = '@toolenv/trainer-ppo/ppo-v1';

/**
 * The reference that the name of a policy stands for, and the options that the name sets. Besides what `namedPolicy` reads, a name is that
 * of a known player (`oracle`, `random` or `idle`), the short name of a policy, or a file whose default export is a policy.
 */
export function policyReference(name: string): { ref: string; preset: Record<string, unknown> } {
  refuseRunFolder(name);
  refuseAddress(name);
  if (isModule(name) || isPlayer(name)) return { ref: name, preset: {} };
  const near = /^\w+$/.test(name) && !existsSync(name) ? nearest(name, playerNames, 2) : undefined;
  if (near !== undefined)
    throw new ToolEnvError('usage.unknown_policy', `There is no policy "${name}". Did you mean "${near}"?`);
  return namedPolicy(fullName(name, ['policies']));
}

/**
 * @param name A reference, or a file whose default export is the plugin.
 * @throws ToolEnvError What `loadPlugin` throws; `usage.not_a_plugin` for a file without such a plugin.
 */
export async function loadNamed<K extends 'policies' | 'trainers'>(
  kind: K,
  name: string,
  options?: { from: string[] },
): Promise<PluginTypes[K]> {
  if (kind === 'policies' && isPlayer(name))
    return new KnownPlayer(name) as PolicyDefinition as PluginTypes[K];
  // What is no file is refused with the reason.
  if (!isModule(name) || !existsSync(name)) return loadPlugin(kind, name, options);
  const found = await importPlugin(resolve(name));
  if (found.kind === kind) return found.plugin as PluginTypes[K];
  const expected = kind === 'policies' ? 'a policy: use definePolicy' : 'a trainer: use defineTrainer';
  throw new ToolEnvError('usage.not_a_plugin', `The default export of ${name} is not ${expected}.`);
}

/** A run has its policy in a folder of its own, and a config.json that is none of a model. */
function refuseRunFolder(name: string): void {
  if (!['config.json', 'metrics.jsonl'].every((file) => existsSync(join(name, file)))) return;
  const policy = join(name, 'policy');
  const remedy = existsSync(policy) ? `use ${policy}` : 'it has a policy when it has ended: resume it';
  throw new ToolEnvError('usage.policy_is_run', `${name} is a run: ${remedy}.`);
}

/** @throws ToolEnvError `usage.unknown_policy` for the address of a server without its protocol, and for a list of policies. */
function refuseAddress(name: string): void {
  if (existsSync(name)) return;
  if (/^https?:\/\//.test(name)) {
    const message = `--policy ${name} is the address of a server: write openai:${name.replace(/#.*/s, '')}#<model>.`;
    throw new ToolEnvError('usage.unknown_policy', message);
  }
  if (name.includes(',') && name.split(',').every((each) => existsSync(each) || isKnownPlayer(each))) {
    const message = `--policy ${name} names several policies: give --policy again for each, without commas.`;
    throw new ToolEnvError('usage.unknown_policy', message);
  }
}

/** A folder of that name is a checkpoint. */
function isPlayer(name: string): name is KnownPlayer['name'] {
  return isKnownPlayer(name) && !existsSync(name);
}

function isModule(name: string): boolean {
  return /\.[cm]?[jt]s$/.test(name) && statSync(name, { throwIfNoEntry: false })?.isDirectory() !== true;
}
