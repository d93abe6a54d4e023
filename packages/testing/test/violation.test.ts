import { ToolEnvError } from '@toolenv/core';
import { expect, test } from 'vitest';
import { brief } from '../src/violation.ts';

test('a value in a report shows the messages of the errors in it', () => {
  const cause = new ToolEnvError('infrastructure.judge', 'The judge is asleep.');
  expect(brief({ kind: 'aborted', cause })).toBe(
    '{"kind":"aborted","cause":"infrastructure.judge: The judge is asleep."}',
  );
});
