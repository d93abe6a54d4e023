import { expect, test } from 'vitest';
import { refusal } from '../src/reply.ts';

test('a refusal quotes the server as a part of its sentence', () => {
  const bytes = Buffer.from('{"detail": "Out of memory."}');
  const error = refusal({ status: 400, isBytes: false, bytes }, 'http://host', 'forward');
  expect(error.message).toBe(
    "http://host answers forward with status 400: Out of memory. The server's log has the cause.",
  );
  expect(error.cause).toEqual({ status: 400, detail: 'Out of memory' });
});
