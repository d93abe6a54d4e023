// mastra.ts
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { instructions, search } from './search.ts';

const searchTool = createTool({
  id: 'search',
  description: 'Find the article with a title.',
  inputSchema: z.object({ query: z.string() }),
  execute: async ({ query }) => search(query),
});

export async function answer(question: string, url: string, apiKey: string, abortSignal: AbortSignal) {
  const agent = new Agent({
    id: 'questions',
    name: 'Questions',
    instructions,
    model: { id: 'policy/policy', url, apiKey },
    tools: { search: searchTool },
  });
  const { steps } = await agent.generate(question, { abortSignal });
  // `text` would be that of all steps.
  return steps.at(-1)?.text;
}
