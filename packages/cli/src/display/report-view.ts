/** A conformance report in a terminal: which rules are broken, what else is likely wrong, and how to fix it. */
import type { Ability } from '@toolenv/core/plugins';
import { type Finding, type Report, rules } from '@toolenv/testing';
import { plural } from './number-text.ts';
import { paint } from './paint.ts';
import { safeLine } from './terminal-text.ts';

export function reportView(report: Report): string {
  const { subject, ok, findings, warnings, passed, skipped, abilities } = report;
  if (abilities) return abilitiesView(subject, abilities);
  const counts = [`${plural(passed.length, 'rule')} hold${passed.length === 1 ? 's' : ''}`];
  if (findings.length > 0) counts.push(paint('red', `${findings.length} broken`));
  if (warnings.length > 0) counts.push(paint('yellow', plural(warnings.length, 'warning')));
  const head = `${markOf({ ok, warnings })} ${paint('bold', safeLine(subject))}  ${counts.join(', ')}`;
  const left = skipped.map(({ rule, reason }) =>
    paint('dim', `  – ${rule} ${rules[rule].title}: not checked, ${reason}`),
  );
  const found = findings.map((finding) => findingView(finding, cross()));
  const warned = warnings.map((warning) => findingView(warning, exclamation()));
  return [head, ...found, ...warned, ...left].join('\n');
}

function abilitiesView(subject: string, abilities: readonly Ability[]): string {
  const lines = abilities.map(
    ({ name, does, how }) =>
      `  ${does ? paint('green', '✔') : exclamation()} ${name.padEnd(16)}${safeLine(how)}`,
  );
  return [paint('bold', safeLine(subject)), ...lines].join('\n');
}

const cross = () => paint('red', '✘');
const exclamation = () => paint('yellow', '!');

function markOf({ ok, warnings }: Pick<Report, 'ok' | 'warnings'>): string {
  if (!ok) return cross();
  return warnings.length > 0 ? exclamation() : paint('green', '✔');
}

function findingView({ rule, title, expected, received, hint }: Finding, mark: string): string {
  const line = (name: string, text: string) => `      ${paint('dim', name.padEnd(9))}${safeLine(text)}`;
  return [
    `  ${mark} ${paint('bold', rule)} ${title}`,
    line('expected', expected),
    line('received', received),
    line('hint', hint),
  ].join('\n');
}
