/** JUnit's XML, of hostile text too. */
import { expect, test } from 'vitest';
import { junitXml } from '../../src/display/junit-xml.ts';

test('counts cases, and escapes what XML has no characters for', () => {
  const hostile = 'a <b> & "c" \u001b[31m \u0000 \ud800 \uffff ]]> 😀';
  const safe = 'a &lt;b&gt; &amp; &quot;c&quot; \ufffd[31m \ufffd \ufffd \ufffd ]]&gt; 😀';
  const cases = [
    { name: hostile, failure: `${hostile}\nmore` },
    { name: 'second', skipped: 'aborted' },
    { name: 'third', output: 'em 1.000\nreward 0.500' },
  ];
  expect(
    junitXml([
      { name: hostile, cases },
      { name: 'empty', cases: [] },
    ]),
  ).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" errors="0" skipped="1">
  <testsuite name="${safe}" tests="3" failures="1" errors="0" skipped="1">
    <testcase classname="${safe}" name="${safe}"><failure message="${safe}">${safe}
more</failure></testcase>
    <testcase classname="${safe}" name="second"><skipped message="aborted"/></testcase>
    <testcase classname="${safe}" name="third"><system-out>em 1.000
reward 0.500</system-out></testcase>
  </testsuite>
  <testsuite name="empty" tests="0" failures="0" errors="0" skipped="0">
  </testsuite>
</testsuites>
`);
});
