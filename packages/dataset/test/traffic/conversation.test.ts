import { expect, test } from 'vitest';
import { readConversation } from '../../src/traffic/conversation.ts';

const read = (line: object) => readConversation(JSON.stringify(line), 'line 1');

test('contents may be lists of parts, and fields may be filled with null', () => {
  const call = { id: 'a', type: null, function: { name: 'find', arguments: '{"a": null}' } };
  const line = {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Where is ' },
          { type: 'text', text: 'it?' },
        ],
        tool_calls: null,
      },
      { role: 'assistant', content: null, tool_calls: [call], name: null },
      { role: 'tool', content: [{ type: 'text', text: 'Here.' }], tool_call_id: 'a' },
      { role: 'assistant', content: 'Here.', tool_calls: null },
    ],
    ...{ tools: null, user: null, time: null },
  };
  expect(read(line)).toEqual({
    messages: [
      { role: 'user', content: 'Where is it?' },
      { role: 'assistant', content: '', calls: [{ name: 'find', arguments: '{"a": null}' }] },
      { role: 'tool', content: 'Here.' },
      { role: 'assistant', content: 'Here.' },
    ],
    tools: [],
  });
  const image = { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] };
  expect(() => read(image)).toThrow('messages[0].content must be a text, or a list of parts of text');
});
