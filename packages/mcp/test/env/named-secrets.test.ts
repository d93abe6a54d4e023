import { expect, test } from 'vitest';
import { namedSecrets } from '../../src/env/init-mcp-env.ts';

const reference = (name: string) => `\x24{${name}}`;

test('a secret in the query of a URL is named, as those of headers are', () => {
  const url = 'https://host/mcp?profile=me&api_key=sk-four-leaves';
  expect(namedSecrets({ url, headers: { 'X-Key': 'sk-clover' } })).toEqual({
    server: {
      url: `https://host/mcp?profile=me&api_key=${reference('API_KEY')}`,
      headers: { 'X-Key': reference('X_KEY') },
    },
    variables: ['API_KEY', 'X_KEY'],
  });
});
