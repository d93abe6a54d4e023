/** The tools of an OpenEnv server. */
import { expect, test } from 'vitest';
import { listedTools } from '../src/server-tools.ts';

test('models call tools by names that model servers accept, and the server hears its own', async () => {
  const called: unknown[] = [];
  const turn = { call: async (action: { tool_name: string }) => void called.push(action.tool_name) };
  const listed = ['look up', 'look_up', '🐍'].map((name) => ({ name, input_schema: { type: 'object' } }));
  const tools = listedTools({ observation: { tools: listed } } as never, turn as never);
  expect(tools.map(({ name }) => name)).toEqual(['look_up_2', 'look_up', 'tool']);
  const signal = new AbortController().signal;
  for (const tool of tools) await tool.execute({}, { signal } as never);
  expect(called).toEqual(['look up', 'look_up', '🐍']);
});
