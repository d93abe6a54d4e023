/** Secrets that this process knows are in no text that leaves it. */
import { afterEach, expect, test, vi } from 'vitest';
import {
  jsonWithoutSecrets,
  redactSecrets,
  registerNamedSecrets,
  registerSecret,
} from '../../src/protocol/secrets.ts';
import { createRedactor } from '../../src/recording/redact.ts';
import { readKey } from '../../src/remote/model-address.ts';

afterEach(() => vi.unstubAllEnvs());

test('a secret is removed as it is, in JSON and in a URL, and what contains it goes first', () => {
  const secret = 'sk-"quoted" \\ key/7';
  expect(registerSecret(secret)).toBe(secret);
  registerSecret(`${secret}-and-more`);
  const json = JSON.stringify({ said: secret });
  expect(redactSecrets(`<${secret}> ${json} ?key=${encodeURIComponent(secret)}`)).toBe(
    '<[redacted]> {"said":"[redacted]"} ?key=[redacted]',
  );
  expect(redactSecrets(`${secret}-and-more`)).toBe('[redacted]');
  expect(createRedactor()({ said: `it is ${secret}` })).toEqual({ said: 'it is [redacted]' });
});

test('a variable that gives a key is a secret', () => {
  vi.stubEnv('SOME_KEY', 'from-a-variable-1');
  expect(readKey('SOME_KEY', 'usage.model_key')).toBe('from-a-variable-1');
  expect(redactSecrets('Bearer from-a-variable-1')).toBe('Bearer [redacted]');
});

test('headers and variables with secret names are secret, also behind their scheme', () => {
  registerNamedSecrets({
    Authorization: 'Bearer named-secret-1',
    'X-API-Key': 'named-secret-2',
    Accept: 'text/html',
  });
  expect(redactSecrets('named-secret-1 named-secret-2 text/html')).toBe('[redacted] [redacted] text/html');
});

test('JSON keeps its form: names and texts lose a secret, numbers do not', () => {
  registerSecret('12345678');
  expect(jsonWithoutSecrets({ a: 0.12345678, 'b 12345678': ['12345678'], c: null })).toBe(
    '{"a":0.12345678,"b [redacted]":["[redacted]"],"c":null}',
  );
});

test('a short value is no secret, because texts have it by chance', () => {
  expect(registerSecret('EMPTY')).toBe('EMPTY');
  expect(registerSecret(undefined)).toBeUndefined();
  expect(redactSecrets('EMPTY')).toBe('EMPTY');
});
