/** LangChain's createAgent, a graph of LangGraph. */
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
import { bridgeAgent } from './bridge-agent.ts';

export default bridgeAgent(
  'langgraph-v1',
  import.meta.url,
  async ({ question, instructions, search, baseURL, apiKey, signal }) => {
    const model = new ChatOpenAI({ model: 'policy', apiKey, configuration: { baseURL } });
    const { description, inputSchema: schema } = search;
    const searchTool = tool((input) => search.run((input as { query: string }).query), {
      name: 'search',
      description,
      schema,
    });
    const agent = createAgent({ model, tools: [searchTool], systemPrompt: instructions });
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: question }] }, { signal });
    return messages.at(-1)?.text ?? '';
  },
);
