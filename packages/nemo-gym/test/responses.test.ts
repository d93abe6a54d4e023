/** Items of the Responses API and messages, there and back. */
import type { Message } from '@toolenv/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { messagesOf, responseOf } from '../src/responses.ts';

const said = fc.string();
const turn = fc.record({
  content: said,
  reasoning: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
  calls: fc.array(
    fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), arguments: fc.dictionary(said, fc.jsonValue()) }),
    {
      maxLength: 3,
    },
  ),
  result: said,
});

test('messages that become items are the same messages again, but for what the model thought', () => {
  fc.assert(
    fc.property(fc.array(turn), turn, (calling, last) => {
      // A turn without calls ends an episode.
      const turns = [...calling.filter(({ calls }) => calls.length > 0), last];
      const messages = turns.flatMap(({ content, reasoning, calls, result }, number): Message[] => {
        const toolCalls = calls.map((call, index) => ({
          id: `c${number}-${index}`,
          ...JSON.parse(JSON.stringify(call)),
        }));
        const results = toolCalls.map(
          ({ id, name }): Message => ({ role: 'tool', content: result, toolCallId: id, name }),
        );
        return [
          {
            role: 'assistant',
            content,
            ...(reasoning && { reasoning }),
            ...(calls.length > 0 && { toolCalls }),
          },
          ...results,
        ];
      });
      const { output } = responseOf(messages, {}, { id: 'e', isCut: false, nameOf: (name) => name });
      const again = messagesOf({ input: [{ role: 'user', content: 'q' }, ...(output as object[])] }).slice(1);
      const expected = messages.map((message) =>
        message.role === 'assistant' ? { ...message, reasoning: undefined } : message,
      );
      expect(again).toEqual(expected);
    }),
  );
});

test('a response that was cut off says so', () => {
  const cut = responseOf([], { tools: null }, { id: 'e', isCut: true, nameOf: (name) => name });
  expect(cut).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    tools: [],
  });
});
