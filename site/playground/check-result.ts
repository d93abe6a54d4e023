/** Checks the reader's environment against the rules of the spec that can be checked in a tab. */
import type { EnvDefinition } from '@toolenv/core';
import type { ToolSource } from '@toolenv/core/plugins';
import { checkEnv } from '@toolenv/testing';
import type { CheckResult } from './messages.ts';

/** A tab does not know which sockets and timers are open. */
const unknownInTab = ['ENV-34', 'ENV-36', 'WARN-7'] as const;

/** Fuzzed actions: enough to meet the common mistakes within seconds. */
const actions = 100;

export async function checkResult(
  definition: EnvDefinition<unknown>,
  tools: Record<string, ToolSource>,
): Promise<CheckResult> {
  const report = await checkEnv(definition, { tools, actions, skip: unknownInTab, from: '/' });
  const findings = [...report.findings, ...report.warnings].map(
    ({ rule, title, expected, received, hint }) =>
      `${rule}, ${title}: expected ${expected}, received ${received}. ${hint}`,
  );
  return { ok: report.ok, passed: report.passed.length, findings };
}
