/** Report of a conformance check: each rule as passed, broken or not checked. */
import { ToolEnvError } from '@toolenv/core';
import type { Ability } from '@toolenv/core/plugins';
import { type RuleId, rules } from './rules.ts';
import { Violation } from './violation.ts';

/** A broken rule, or a warning. */
export interface Finding {
  rule: RuleId;
  title: string;
  expected: string;
  received: string;
  /** How to fix it. */
  hint: string;
}

export interface Report {
  /** What was checked: a reference, a name or a path. */
  subject: string;
  /** Whether no rule is broken. Warnings do not count. */
  ok: boolean;
  /** One for each broken rule: its first violation. */
  findings: Finding[];
  /** Likely mistakes that break no rule. */
  warnings: Finding[];
  passed: RuleId[];
  /** Rules that were not checked, and why. */
  skipped: { rule: RuleId; reason: string }[];
  /** What a model can do here, in a report of its own. No rule is broken by what it cannot do. */
  abilities?: readonly Ability[];
}

/** Options of every check. */
export interface CheckOptions {
  /** Rules and warnings to check. Default: all. */
  rules?: readonly RuleId[];
  /** Rules and warnings to leave out; the report names them. */
  skip?: readonly RuleId[];
  /** Ends the check by throwing its reason. */
  signal?: AbortSignal;
  /** Called when the check of some rules begins. */
  onRules?(rules: readonly RuleId[], subject: string): void;
}

/** Prefix of the ids of all rules for one kind of subject: `ENV` for `ENV-1`. */
export type RuleFamily = Exclude<RuleId extends `${infer Family}-${number}` ? Family : never, 'WARN'>;

const allRules = Object.keys(rules) as RuleId[];

function isWarning(rule: RuleId): boolean {
  return rule.startsWith('WARN-');
}

/** Warnings that concern something else than environments, or tools as well. */
const families: { readonly [Id in RuleId]?: readonly RuleFamily[] } = {
  'WARN-7': ['ENV', 'TOOL'],
  'WARN-13': ['PLUG'],
  'WARN-14': ['PLUG'],
};

/** The rules of a family, and its warnings that are left out. */
function familyOf(family: RuleFamily, skip: readonly RuleId[] = []): RuleId[] {
  const concerns = (rule: RuleId) => families[rule] ?? ['ENV'];
  const left = allRules.filter(
    (rule) => isWarning(rule) && skip.includes(rule) && concerns(rule).includes(family),
  );
  return [...allRules.filter((rule) => rule.startsWith(`${family}-`)), ...left];
}

/** Begins what was received where nothing was. */
export const noAnswer = 'nothing within';

/** Collects the results of checks. */
export class Reporter {
  readonly #subject: string;
  readonly #family: RuleId[];
  readonly #options: CheckOptions;
  /** Rules whose check has begun. */
  readonly #begun: Set<RuleId> = new Set();
  readonly #skipped: Map<RuleId, string> = new Map();
  readonly #findings: Map<RuleId, Finding> = new Map();

  /** @param family The rules that the report covers. */
  constructor(subject: string, family: RuleFamily, options: CheckOptions) {
    this.#subject = subject;
    this.#family = familyOf(family, options.skip);
    this.#options = options;
    for (const rule of allRules) if (!this.wants(rule)) this.#skipped.set(rule, 'it was left out by request');
  }

  /** Whether one of the rules is to be checked. */
  wants(...rules: readonly RuleId[]): boolean {
    const { rules: wanted, skip } = this.#options;
    return rules.some((rule) => (wanted?.includes(rule) ?? true) && !skip?.includes(rule));
  }

  /**
   * Runs a check of some rules. A {@link Violation} that the check throws becomes a finding.
   * @param isNeeded Whether another check that is wanted depends on this check.
   * @throws Any other error of the check.
   */
  async check(rules: readonly RuleId[], run: () => unknown, isNeeded = false): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const begun = rules.filter((rule) => (isNeeded ? !this.#options.skip?.includes(rule) : this.wants(rule)));
    if (begun.length === 0) return;
    // An environment that does not answer would be waited for in every other check.
    if (this.#findings.get('ENV-28')?.received.startsWith(noAnswer)) {
      this.skip(begun, 'the environment did not answer');
      return;
    }
    for (const rule of begun) this.#begun.add(rule);
    this.#options.onRules?.(begun, this.#subject);
    try {
      await run();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.add(error);
    }
  }

  add({ rule, expected, received, hint = rules[rule].hint }: Violation): void {
    if (this.#options.skip?.includes(rule) || this.#findings.has(rule)) return;
    this.#findings.set(rule, { rule, title: rules[rule].title, expected, received, hint });
  }

  /** Records why rules cannot be checked. */
  skip(rules: readonly RuleId[], reason: string): void {
    for (const rule of rules) if (!this.#skipped.has(rule)) this.#skipped.set(rule, reason);
  }

  /** Whether a violation of the rule was found. */
  broken(rule: RuleId): boolean {
    return this.#findings.has(rule);
  }

  /** Whether the rule needs no further check: it is broken or left out. */
  settled(rule: RuleId): boolean {
    return this.broken(rule) || !this.#begun.has(rule);
  }

  get report(): Report {
    const found = allRules.flatMap((rule) => this.#findings.get(rule) ?? []);
    const findings = found.filter(({ rule }) => !isWarning(rule));
    const warnings = found.filter(({ rule }) => isWarning(rule));
    const holds = (rule: RuleId) => this.#begun.has(rule) && this.wants(rule) && !this.#findings.has(rule);
    const passed = allRules.filter((rule) => holds(rule) && !isWarning(rule));
    const skipped = this.#family
      .filter((rule) => !this.#findings.has(rule) && !passed.includes(rule))
      .map((rule) => ({ rule, reason: this.#skipped.get(rule) ?? 'the check ended earlier' }));
    return { subject: this.#subject, ok: findings.length === 0, findings, warnings, passed, skipped };
  }
}

/**
 * Fails a test in any test runner unless all checked rules hold and there are no warnings:
 * `await assertConforms(checkEnv(env, { seed: 1 }))`.
 * @throws ToolEnvError `bug.conformance` with the report as its message.
 */
export async function assertConforms(check: Report | Promise<Report>): Promise<Report> {
  const report = await check;
  if (report.ok && report.warnings.length === 0) return report;
  throw new ToolEnvError('bug.conformance', reportText(report));
}

/** The report as text: each broken rule and warning with expected, received and how to fix it. */
export function reportText({ subject, findings, warnings, passed, skipped }: Report): string {
  const head = `${subject}: ${passed.length} rules hold, ${findings.length} broken, ${skipped.length} not checked.`;
  const broken = [...findings, ...warnings].map(
    ({ rule, title, expected, received, hint }) =>
      `${rule} ${title}\n  expected  ${expected}\n  received  ${received}\n  hint      ${hint}`,
  );
  return [head, ...broken].join('\n');
}
