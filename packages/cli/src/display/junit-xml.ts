/** junitXml: results as JUnit's XML, which CI services read. */
import { redactSecrets } from '@toolenv/core/secrets';

export interface TestSuite {
  name: string;
  cases: readonly TestCase[];
}

export interface TestCase {
  name: string;
  /** Why it failed; absent if it passed. */
  failure?: string | undefined;
  /** Why it has no result. */
  skipped?: string | undefined;
  /** Printed with the case. */
  output?: string | undefined;
}

/** The elements and attributes that Jenkins, GitHub's and GitLab's readers have in common. */
export function junitXml(suites: readonly TestSuite[]): string {
  const counts = countsOf(suites.flatMap(({ cases }) => cases));
  const lines = suites.flatMap(({ name, cases }) => [
    `  <testsuite name="${escapeXml(name)}" ${countsOf(cases)}>`,
    ...cases.map((each) => caseXml(name, each)),
    '  </testsuite>',
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    ...lines,
    '</testsuites>',
    '',
  ].join('\n');
}

function countsOf(cases: readonly TestCase[]): string {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const skipped = cases.filter((each) => each.skipped !== undefined).length;
  return `tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}"`;
}

function caseXml(suite: string, { name, failure, skipped, output }: TestCase): string {
  const parts = [
    ...(failure === undefined
      ? []
      : [`<failure message="${escapeXml(failure.split('\n')[0]!)}">${escapeXml(failure)}</failure>`]),
    ...(skipped === undefined ? [] : [`<skipped message="${escapeXml(skipped)}"/>`]),
    ...(output === undefined ? [] : [`<system-out>${escapeXml(output)}</system-out>`]),
  ];
  return `    <testcase classname="${escapeXml(suite)}" name="${escapeXml(name)}">${parts.join('')}</testcase>`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text that a model or a tool may have written. XML 1.0 has no control characters and no half of a surrogate pair (section 2.2). */
function escapeXml(text: string): string {
  return redactSecrets(text)
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}')
    .replaceAll(/[&<>"]/g, (character) => entities[character]!);
}
