// langgraph.ts
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
import { z } from 'zod';
import { instructions, search } from './search.ts';

const searchTool = tool(({ query }) => search(query), {
  name: 'search',
  description: 'Find the article with a title.',
  schema: z.object({ query: z.string() }),
});

export async function answer(question: string, baseURL: string, apiKey: string, signal: AbortSignal) {
  const model = new ChatOpenAI({ model: 'policy', apiKey, configuration: { baseURL } });
  const agent = createAgent({ model, tools: [searchTool], systemPrompt: instructions });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: question }] }, { signal });
  return messages.at(-1)?.text;
}
