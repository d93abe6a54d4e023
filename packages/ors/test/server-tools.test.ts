/** The tools of an ORS server. */
import { expect, test } from 'vitest';
import { readTools, type ServerTurn } from '../src/server-tools.ts';

test('models call tools by names that model servers accept, and the server hears its own', async () => {
  const called: string[] = [];
  const turn = {
    async call(name: string) {
      called.push(name);
      return { content: [] };
    },
  } as unknown as ServerTurn;
  const schema = { properties: { text: { type: 'string' } }, required: ['text'] };
  const { tools, answer } = readTools(
    { tools: [{ name: 'look up' }, { name: 'look_up' }, { name: 'hand in', input_schema: schema }] },
    turn,
    'hand in',
  );
  expect(tools.map(({ name }) => name)).toEqual(['look_up_2', 'look_up', 'hand_in']);
  expect(answer).toEqual({ name: 'hand in', argument: 'text' });
  const signal = new AbortController().signal;
  for (const tool of tools) await tool.execute({}, { signal } as never);
  expect(called).toEqual(['look up', 'look_up', 'hand in']);
});
