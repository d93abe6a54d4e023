/** A conformance report in a terminal: which rules are broken, how to fix them, and how much was checked. */
import { type Finding, type Report, rules } from '@toolenv/testing';
import { paint } from './paint.ts';

export function reportView({ subject, ok, findings, passed, skipped }: Report): string {
  const mark = ok ? paint('green', '✔') : paint('red', '✘');
  const count = findings.length === 0 ? '' : `, ${paint('red', `${findings.length} broken`)}`;
  const head = `${mark} ${paint('bold', subject)}  ${plural(passed.length, 'rule')} hold${passed.length === 1 ? 's' : ''}${count}`;
  const left = skipped.map(({ rule, reason }) =>
    paint('dim', `  – ${rule} ${rules[rule].title}: not checked, ${reason}`),
  );
  return [head, ...findings.map(findingView), ...left].join('\n');
}

function findingView({ rule, title, expected, received, hint }: Finding): string {
  const line = (name: string, text: string) => `      ${paint('dim', name.padEnd(9))}${text}`;
  return [
    `  ${paint('red', '✘')} ${paint('bold', rule)} ${title}`,
    line('expected', expected),
    line('received', received),
    line('hint', hint),
  ].join('\n');
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
