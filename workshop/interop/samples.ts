/** Samples for both sides: texts that are difficult for tokenizers, and conversations with tool calls. */
import type { Observation } from '@toolenv/core';

export const texts: readonly string[] = [
  'Where does the river rise?',
  ' leading and  double   spaces ',
  'lines\nand\n\nmore\tlines\r\n',
  "it's 1,234.5 km² — naïve café, 東京, 🙂👩‍👩‍👧",
  '<|im_start|>user hello<|im_end|> and <tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>',
  '<|im_start|<tool_call</answer>',
  '\u0000\u007f\u00a0\u00ad\ufeff',
  '',
];

const search = {
  name: 'search',
  description: 'Searches the documents, "quoted" & <escaped>.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};

export const conversations: readonly Observation[] = [
  { messages: [{ role: 'user', content: 'Where does the river rise?' }], tools: [] },
  {
    messages: [
      { role: 'system', content: 'Answer briefly.' },
      { role: 'user', content: 'Where does the river rise?' },
      {
        role: 'assistant',
        content: 'I look it up.',
        toolCalls: [
          {
            id: 'call-0',
            name: 'search',
            arguments: { query: 'river "source"', limit: 3, deep: [1.5, null, true] },
          },
        ],
      },
      {
        role: 'tool',
        toolCallId: 'call-0',
        name: 'search',
        content: 'Doc 1: in the hills.\nDoc 2: naïve 東京 <b>',
      },
    ],
    tools: [search],
  },
  {
    messages: [
      { role: 'user', content: "It's both?\n" },
      {
        role: 'assistant',
        content: '',
        toolCalls: [
          { id: 'call-0', name: 'search', arguments: { query: 'é <tag> & \\ 🙂' } },
          { id: 'call-1', name: 'search', arguments: {} },
        ],
      },
      { role: 'tool', toolCallId: 'call-0', name: 'search', content: '' },
      { role: 'tool', toolCallId: 'call-1', name: 'search', content: '{"error": "invalid"}' },
      { role: 'assistant', content: '<answer>the hills</answer>' },
      { role: 'user', content: 'Sure?' },
    ],
    tools: [search, { ...search, name: 'lookup' }],
  },
];

/** A conversation in the form of OpenAI's messages, which Hugging Face templates read. */
export function toOpenAi({ messages, tools }: Observation): object {
  return {
    messages: messages.map((message) => {
      if (message.role === 'tool') return { role: 'tool', name: message.name, content: message.content };
      if (message.role !== 'assistant') return message;
      const calls = message.toolCalls?.map(({ name, arguments: args }) => ({
        type: 'function',
        function: { name, arguments: args },
      }));
      return { role: 'assistant', content: message.content, ...(calls && { tool_calls: calls }) };
    }),
    tools: tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    })),
  };
}
