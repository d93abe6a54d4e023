/** withoutKeys: what a report has of a run, without the keys that the run was given. */
import { createRedactor } from '@toolenv/core/recording';
import { redacted, secretNames, shortestSecret } from '@toolenv/core/secrets';
import type { ReportedRun } from './report-data.ts';

/** A name that no value has. */
const none = /(?!)/;

/**
 * Values with secret names leave the configuration, whatever they are. Elsewhere their values leave the texts, as do those of this
 * process: an episode may have a field `password` that belongs to its task.
 */
export function withoutKeys(run: ReportedRun): ReportedRun {
  const { head, ...rest } = run;
  const named = secretsIn([head.facts, head.changes, process.env]);
  const everywhere = createRedactor({ keys: none, values: named });
  return {
    head: createRedactor({ values: named })(head),
    ...everywhere(rest),
  };
}

/** The texts below secret names. */
function secretsIn(value: unknown, isSecret = false): string[] {
  if (typeof value === 'string')
    return isSecret && value.length >= shortestSecret && value !== redacted ? partsOf(value) : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => secretsIn(part, isSecret || secretNames.test(name)));
}

/** A scheme such as `Bearer` is not secret. */
function partsOf(value: string): string[] {
  const credential = /^[A-Za-z]+ +(\S+)$/.exec(value)?.[1];
  return credential !== undefined && credential.length >= shortestSecret ? [value, credential] : [value];
}
