// openai.ts
import OpenAI from 'openai7';
import { instructions, search } from './search.ts';

export async function answer(question: string, baseURL: string, apiKey: string, signal: AbortSignal) {
  const client = new OpenAI({ baseURL, apiKey });
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
          description: 'Find the article with a title.',
          parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
          parse: JSON.parse,
          function: ({ query }: { query: string }) => search(query),
        },
      },
    ],
  };
  return await client.chat.completions.runTools(body, { signal }).finalContent();
}
