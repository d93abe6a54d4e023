import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defineTool, type Tool, type ToolContext } from '../../src/index.ts';
import { toolSearch } from '../../src/tools/tool-search.ts';

const tool = (name: string, description: string): Tool =>
  defineTool({ name, description, inputSchema: { type: 'object' }, execute: () => name });
const tools = [
  tool('list_issues', 'Lists the issues of a project.'),
  tool('createIssue', 'Opens a new ticket.'),
  tool('send_mail', 'Sends a message to a person.'),
  tool('close_issue', 'Ends an issue.'),
];

const names = (offered: () => readonly Tool[]) => offered().map(({ name }) => name);
async function search(offered: () => readonly Tool[], query: string): Promise<string> {
  const { content } = await offered()[0]!.execute({ query } as never, {} as ToolContext);
  return (content[0] as { text: string }).text;
}

test('an episode begins with the search, and gets what it finds', async () => {
  const offered = toolSearch(tools, { size: 2 });
  expect(names(offered)).toEqual(['find_tools']);
  expect(await search(offered, 'create an issue')).toBe(
    'createIssue: Opens a new ticket.\nclose_issue: Ends an issue.',
  );
  expect(names(offered)).toEqual(['find_tools', 'createIssue', 'close_issue']);
  expect(await search(offered, 'person')).toBe('send_mail: Sends a message to a person.');
  expect(names(offered)).toEqual(['find_tools', 'createIssue', 'send_mail', 'close_issue']);
  expect(await search(offered, '¿?')).toBe('No tool has these words.');
  // Another episode has found nothing.
  expect(names(toolSearch(tools))).toEqual(['find_tools']);
});

test('tools may change: those that are gone are offered no more, and new ones are found', async () => {
  let present: readonly Tool[] = tools;
  const offered = toolSearch(() => present, { name: 'look' });
  await search(offered, 'mail');
  expect(names(offered)).toEqual(['look', 'send_mail']);
  present = [tool('send_fax', 'Sends a message by telephone.')];
  expect(names(offered)).toEqual(['look']);
  expect(await search(offered, 'telephone')).toContain('send_fax');
  expect(names(offered)).toEqual(['look', 'send_fax']);
});

test('any query finds at most as many tools as it may, each of them with a word of the query', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.integer({ min: 1, max: 4 }), async (query, size) => {
      const offered = toolSearch(tools, { size });
      await search(offered, query);
      expect(offered().length).toBeLessThanOrEqual(1 + size);
    }),
  );
});

test('a word of the name finds a tool before the same word in descriptions of others', async () => {
  const many = Array.from({ length: 50 }, (_, index) =>
    tool(`other_${index}`, 'It may refund, refund and refund.'),
  );
  const offered = toolSearch([...many, tool('refund_order', 'Gives money back.')], { size: 1 });
  expect(await search(offered, 'refund order')).toMatch(/^refund_order/);
});
