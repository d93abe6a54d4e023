/** The answers of a server of models, as its bytes have them. */
import { expect, test } from 'vitest';
import { readAnswers } from '../../src/capture/answers.ts';
import { anthropicMessages } from '../../src/wire/anthropic-messages.ts';

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
