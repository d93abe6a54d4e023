/** The default of `resumeTimeout`, 8 s. `test/client/http.test.ts` tests a shorter time. */
import { test } from 'vitest';
import { expectCutCallToEnd } from '../../test/cut-call.ts';

test('ends a call whose stream the server cuts and resumes without an answer', () =>
  expectCutCallToEnd('end', {}, 10_000));
