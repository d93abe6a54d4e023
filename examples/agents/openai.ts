/** The OpenAI SDK, with its own runner of tools. */
import OpenAI from 'openai';
import { bridgeAgent } from './bridge-agent.ts';

export default bridgeAgent(
  'openai-v1',
  import.meta.url,
  async ({ question, instructions, search, baseURL, apiKey, signal }) => {
    const body = {
      model: 'policy',
      messages: [
        { role: 'system' as const, content: instructions },
        { role: 'user' as const, content: question },
      ],
      tools: [
        {
          type: 'function' as const,
          function: {
            name: 'search',
            description: search.description,
            parameters: search.inputSchema,
            parse: JSON.parse,
            function: ({ query }: { query: string }) => search.run(query),
          },
        },
      ],
    };
    const { completions } = new OpenAI({ baseURL, apiKey }).chat;
    return (await completions.runTools(body, { signal }).finalContent()) ?? '';
  },
);
