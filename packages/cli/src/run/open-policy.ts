/** Opens what `--policy` names: a Hugging Face folder, or the reference of a policy plugin. */
import { existsSync } from 'node:fs';
import { type Policy, ToolEnvError } from '@toolenv/core';
import type { Learner } from '@toolenv/core/learner';
import { completeOptions, loadPlugin, type PolicyHandle } from '@toolenv/core/plugins';
import type { DeviceFlags } from '../flags/device-flag.ts';
import type { LearnerFlags } from '../flags/learner-flags.ts';
import type { RuntimeName } from '../flags/runtime-flag.ts';
import { readPairs } from '../flags/schema-flags.ts';
import { importPackage } from './import-package.ts';
import type { Memory } from './memory-check.ts';

/** The part of `@toolenv/policy` that the commands use; it is loaded by name, so that they run without it. */
interface PolicyPackage {
  loadPolicy(
    folder: string,
    options: { learner?: LearnerFlags; runtime?: object } & DeviceFlags,
  ): Promise<{
    policy: Policy;
    learner: Learner & { memory?: Memory; close?(): Promise<void> };
  }>;
  tfjsRuntime(): Promise<object>;
}

export interface OpenPolicyOptions extends DeviceFlags {
  /** `key=value` options of a policy plugin. */
  pairs?: readonly string[];
  /** How a checkpoint folder is trained. */
  learner?: LearnerFlags;
  /** Computes a checkpoint folder's model. Default `onnx`. */
  runtime?: RuntimeName;
}

/**
 * @throws ToolEnvError `usage.missing_package` if folders cannot be read here, or what loading the policy throws.
 */
export async function openPolicy(
  name: string,
  options: OpenPolicyOptions = {},
): Promise<PolicyHandle & { memory?: Memory }> {
  const { pairs = [], learner: flags, runtime = 'onnx', device, precision } = options;
  const ofOnnx = { device, precision };
  if (/-v[1-9]\d*$/.test(name) && !existsSync(name)) {
    const flag = firstGiven({
      ...ofOnnx,
      runtime: runtime === 'onnx' ? undefined : runtime,
      'lora-rank': flags?.lora?.rank,
      'token-budget': flags?.tokenBudget,
      'gradient-checkpointing': flags?.gradientCheckpointing ? '' : undefined,
    });
    if (flag) {
      const message = `${flag}: ${name} is not a checkpoint folder; remove it.`;
      throw new ToolEnvError('usage.unknown_option', message);
    }
    const definition = await loadPlugin('policies', name);
    const given = readPairs(definition.options, pairs, '--policy-option', name);
    return definition.open(completeOptions(definition.options, given, name));
  }
  if (pairs.length > 0) {
    const message = `--policy-option ${pairs[0]}: a checkpoint folder has no options; remove it.`;
    throw new ToolEnvError('usage.unknown_option', message);
  }
  const flag = firstGiven(ofOnnx);
  if (flag && runtime === 'tfjs') {
    const message = `${flag}: it is ONNX Runtime's; with --runtime tfjs, the package that is installed decides. Remove one.`;
    throw new ToolEnvError('usage.unknown_option', message);
  }
  const { loadPolicy, tfjsRuntime } = await importPackage<PolicyPackage>(
    '@toolenv/policy',
    'reading a checkpoint folder',
  );
  const { policy, learner } = await loadPolicy(name, {
    learner: flags,
    ...(runtime === 'tfjs' && { runtime: await tfjsRuntime() }),
    ...(device !== undefined && { device }),
    ...(precision !== undefined && { precision }),
  });
  return {
    policy,
    learner,
    memory: learner.memory,
    async close() {
      await Promise.resolve(learner.close?.()).finally(() => policy.close?.());
    },
  };
}

/** As it was given on the command line. */
function firstGiven(flags: Record<string, string | number | undefined>): string | undefined {
  const given = Object.entries(flags).find(([, value]) => value !== undefined);
  return given && `--${given.join(' ')}`.trim();
}
