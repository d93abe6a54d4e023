// agents-sdk.ts
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { z } from 'zod';
import { instructions, search } from './search.ts';

const agent = new Agent({
  name: 'Questions',
  model: 'policy',
  instructions,
  tools: [
    tool({
      name: 'search',
      description: 'Find the article with a title.',
      parameters: z.object({ query: z.string() }),
      execute: async ({ query }) => search(query),
    }),
  ],
});

export async function answer(question: string, baseURL: string, apiKey: string, signal: AbortSignal) {
  // Tracing would send what the agent does to api.openai.com.
  const runner = new Runner({
    modelProvider: new OpenAIProvider({ baseURL, apiKey }),
    tracingDisabled: true,
  });
  return (await runner.run(agent, question, { signal })).finalOutput;
}
