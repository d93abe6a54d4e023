// ai-sdk.ts
import { createOpenAICompatible } from '@ai-sdk/openai-compatible-for-7';
import { isStepCount, ToolLoopAgent, tool } from 'ai7';
import { z } from 'zod';
import { instructions, search } from './search.ts';

export async function answer(question: string, baseURL: string, apiKey: string, abortSignal: AbortSignal) {
  const agent = new ToolLoopAgent({
    model: createOpenAICompatible({ name: 'policy', baseURL, apiKey })('policy'),
    instructions,
    tools: {
      search: tool({
        description: 'Find the article with a title.',
        inputSchema: z.object({ query: z.string() }),
        execute: ({ query }) => search(query),
      }),
    },
    stopWhen: isStepCount(8),
  });
  return (await agent.generate({ prompt: question, abortSignal })).text;
}
