/** currentTest: the test that runs now, by the interface that this version of Vitest has. */
import * as vitest from 'vitest';

/** What evaluations use of a test. */
interface CurrentTest {
  meta: object;
  context: { signal?: AbortSignal };
}

// Since Vitest 4.1, vitest/suite warns.
const runner: unknown = Object(vitest).TestRunner;
const { getCurrentTest } = (
  typeof Object(runner).getCurrentTest === 'function' ? runner : await import('vitest/suite')
) as { getCurrentTest(): CurrentTest | undefined };

/** `undefined` in hooks and outside of tests. */
export function currentTest(): CurrentTest | undefined {
  return getCurrentTest();
}
