import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createRng, type Tool } from '@toolenv/core';
import { validate } from '@toolenv/core/schemas';
import { createSearchTool } from '@toolenv/tools-search';
import { afterAll, beforeAll, expect, test } from 'vitest';

const documents = [
  { title: 'Alder Point', text: 'Alder Point is a city.\nIt lies on a river.' },
  { title: 'Mara Velden', text: 'Mara Velden was born in Alder Point.' },
];
const context = { signal: new AbortController().signal, rng: createRng(1), episodeId: 'e', callIndex: 0 };

let tool: Tool;
beforeAll(async () => {
  tool = await createSearchTool({ documents, topK: 2 });
});
afterAll(() => tool.close!());

test('returns one line per document, and the documents as structured content', async () => {
  const result = await tool.execute({ query: 'Alder Point' }, context);
  expect(result.content).toEqual([
    {
      type: 'text',
      text: 'Alder Point: Alder Point is a city. It lies on a river.\nMara Velden: Mara Velden was born in Alder Point.',
    },
  ]);
  const data = result.structuredContent as { documents: { title: string; score: number }[] };
  expect(data.documents.map(({ title }) => title)).toEqual(['Alder Point', 'Mara Velden']);
  expect(data.documents[0]!.score).toBeGreaterThan(data.documents[1]!.score);
});

test('says if it finds nothing', async () => {
  const result = await tool.execute({ query: '?!' }, context);
  expect(result.content).toEqual([{ type: 'text', text: 'No document found.' }]);
});

test('accepts only a query', () => {
  expect(validate(tool.inputSchema, { query: 'x' })).toEqual([]);
  expect(validate(tool.inputSchema, { query: '' })[0]!.path).toBe('/query');
  expect(validate(tool.inputSchema, {})[0]!.path).toBe('/query');
  expect(validate(tool.inputSchema, { query: 'x', k: 9 })[0]!.path).toBe('/k');
});

test('stops when the call is aborted', async () => {
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(tool.execute({ query: 'Alder' }, { ...context, signal })).rejects.toThrow('enough');
});

test('refuses a topK below 1', async () => {
  await expect(createSearchTool({ documents, topK: 0 })).rejects.toMatchObject({ code: 'usage.top_k' });
});

test('loads LanceDB at the first search, so that looking at an environment stays fast', async () => {
  const program = `
import { createSearchTool } from '@toolenv/tools-search/search-v1';
const isLoaded = () => process.report.getReport().sharedObjects.some((file) => /lancedb/.test(file));
const tool = await createSearchTool({ documents: ${JSON.stringify(documents)}, topK: 1 });
const before = isLoaded();
const { content } = await tool.execute({ query: 'Velden' }, { signal: new AbortController().signal });
await tool.close();
console.log(before, isLoaded(), content[0].text);
`;
  const args = ['--input-type=module', '-e', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  expect(stdout).toBe('false true Mara Velden: Mara Velden was born in Alder Point.\n');
});

test('refuses to be made without documents', async () => {
  const none = createSearchTool({ documents: [], topK: 1 });
  await expect(none).rejects.toMatchObject({ code: 'usage.no_documents' });
});
