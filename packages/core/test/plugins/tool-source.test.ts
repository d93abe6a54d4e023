/** Options behind the reference of a tool. */
import { toolFactory } from '@toolenv/core/plugins';
import { expect, test } from 'vitest';

const ref = '@toolenv/tools-search/remote-search-v1';
const material = { documents: [{ title: 'A', text: 'a' }], topK: 1 };
const from = import.meta.dirname;

test('are read by the types of the schema', async () => {
  const create = await toolFactory(`${ref}?protocol=agent-r1&retries=0&timeout=2.5`, { from });
  const tool = await create(material);
  expect(tool.name).toBe('search');
  await tool.close!();
});

test.each([
  ['?retries=many', 'usage.bad_option', 'option "retries"'],
  ['?protocol=x', 'usage.bad_option', 'option "protocol"'],
  ['?retry=1', 'usage.unknown_option', 'no option "retry"'],
  ['?retries=1&retries=2', 'usage.bad_option', 'given twice'],
])('%s is refused', async (query, code, message) => {
  await expect(toolFactory(ref + query, { from })).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
  });
});

test('a tool without options takes none', async () => {
  await expect(toolFactory('@toolenv/tools-search/search-v1?folder=x', { from })).rejects.toMatchObject({
    code: 'usage.unknown_option',
  });
});
