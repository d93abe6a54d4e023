/** Opens what `--policy` names: a Hugging Face folder, or the reference of a policy plugin. */
import { existsSync } from 'node:fs';
import {
  completeOptions,
  type Learner,
  loadPlugin,
  type OpenPolicy,
  type Policy,
  ToolEnvError,
} from '@toolenv/core';
import { importPackage } from './import-package.ts';
import { readPairs } from './schema-flags.ts';

/** The part of `@toolenv/policy` that the commands use; it is loaded by name, so that they run without it. */
interface PolicyPackage {
  loadPolicy(folder: string): Promise<{
    policy: Policy;
    learner: Learner & { close?(): Promise<void> };
  }>;
}

/**
 * @param pairs `key=value` options of a policy plugin.
 * @throws ToolEnvError `usage.missing_package` if folders cannot be read here, or what loading the policy throws.
 */
export async function openPolicy(name: string, pairs: readonly string[] = []): Promise<OpenPolicy> {
  if (/-v[1-9]\d*$/.test(name) && !existsSync(name)) {
    const definition = await loadPlugin('policies', name);
    const options = readPairs(definition.options, pairs, '--policy-option', name);
    return definition.open(completeOptions(definition.options, options, name));
  }
  if (pairs.length > 0) {
    const message = `--policy-option ${pairs[0]}: a checkpoint folder has no options; remove it.`;
    throw new ToolEnvError('usage.unknown_option', message);
  }
  const { loadPolicy } = await importPackage<PolicyPackage>('@toolenv/policy', 'reading a checkpoint folder');
  const { policy, learner } = await loadPolicy(name);
  return {
    policy,
    learner,
    async close() {
      await learner.close?.();
      await policy.close?.();
    },
  };
}
