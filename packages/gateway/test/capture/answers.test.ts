/** The answers of a model server, as its bytes have them. */
import { expect, test } from 'vitest';
import { readAnswers } from '../../src/capture/answers.ts';
import { anthropicMessages } from '../../src/wire/anthropic-messages.ts';
import { chatCompletions } from '../../src/wire/chat-completions.ts';

const id = '2512292042121000001';

test.each([false, true])(
  'the input of a call keeps the digits of its integers (streamed: %s)',
  (isStream) => {
    const use = `"type":"tool_use","id":"a","name":"find","input"`;
    const text = isStream
      ? [
          `data: {"type":"content_block_start","index":0,"content_block":{${use}:{}}}`,
          `data: {"type":"content_block_delta","index":0,"delta":{"partial_json":"{\\"id\\":25122920421"}}`,
          `data: {"type":"content_block_delta","index":0,"delta":{"partial_json":"21000001}"}}`,
          'data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
          'data: {"type":"message_stop"}',
        ].join('\n\n')
      : `{"stop_reason":"tool_use","content":[{${use}:{"id":${id}}}]}`;
    const { answers } = readAnswers(anthropicMessages, text, isStream);
    expect(answers).toMatchObject([{ calls: [{ name: 'find', arguments: `{"id":${id}}` }] }]);
  },
);

test.each([false, true])('a content of parts is the text of its parts (streamed: %s)', (isStream) => {
  const parts = [
    { type: 'text', text: 'By the ' },
    { type: 'text', text: 'sea.' },
  ];
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const text = isStream
    ? chunk({ content: [parts[0]] }) + chunk({ content: 'deep ' }) + chunk({ content: [parts[1]] }, 'stop')
    : JSON.stringify({ choices: [{ index: 0, message: { content: parts }, finish_reason: 'stop' }] });
  const { answers } = readAnswers(chatCompletions, text, isStream);
  expect(answers).toMatchObject([{ text: isStream ? 'By the deep sea.' : 'By the sea.' }]);
});
