/** Finds what gives the tokens of a run their texts: the tokenizer of its policy. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import type { PolicyDefinition } from '@toolenv/core/plugins';
import type { TokenTexts } from '@toolenv/view';
import type { RecordedRun } from '@toolenv/view/recorded';
import { pluginFolders } from '../subject/full-name.ts';
import { loadNamed, policyReference } from '../subject/load-named.ts';

/**
 * @param given The policy that the command line names. Default: what the run trained, else what it began with.
 * @throws ToolEnvError What loading the named policy throws.
 */
export async function tokenTextsOf({ folder, facts }: RecordedRun, given?: string): Promise<TokenTexts> {
  if (given !== undefined) return { texts: await textsOf(given, {}) };
  const exported = folder === undefined ? '' : join(folder, 'policy');
  const isReference = policyReference(facts.policy ?? '').ref === facts.policy;
  const name = !isReference && existsSync(join(exported, 'tokenizer.json')) ? exported : facts.policy;
  if (name === undefined)
    return { note: 'Tokens are shown as ids: name the policy with --policy to see their texts.' };
  // A model of the Hub as it was in the run.
  const isUnpinned = name === facts.policy && facts.revision !== undefined && !name.includes('@');
  const pinned = isUnpinned ? `${name}@${String(facts.revision)}` : name;
  try {
    return { texts: await textsOf(pinned, facts.policyOptions ?? {}) };
  } catch (error) {
    if (!ToolEnvError.isInstance(error)) throw error;
    return { note: `Tokens are shown as ids, because their texts are not known: ${messageOf(error)}` };
  }
}

async function textsOf(
  name: string,
  options: Record<string, unknown>,
): Promise<(ids: Int32Array) => string[]> {
  const { ref, preset } = policyReference(name);
  const policy: PolicyDefinition = await loadNamed('policies', ref, { from: pluginFolders() });
  if (!policy.tokenTexts) {
    throw new ToolEnvError('usage.no_token_texts', `${ref} does not say what its tokens mean.`);
  }
  return policy.tokenTexts({ ...options, ...preset });
}
