/** The AI SDK. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { isStepCount, jsonSchema, ToolLoopAgent, tool } from 'ai';
import { bridgeAgent } from './bridge-agent.ts';

export default bridgeAgent(
  'ai-sdk-v1',
  import.meta.url,
  async ({ question, instructions, search, baseURL, apiKey, signal }) => {
    const agent = new ToolLoopAgent({
      model: createOpenAICompatible({ name: 'policy', baseURL, apiKey })('policy'),
      instructions,
      tools: {
        search: tool({
          description: search.description,
          inputSchema: jsonSchema<{ query: string }>(search.inputSchema),
          execute: ({ query }) => search.run(query),
        }),
      },
      stopWhen: isStepCount(8),
    });
    return (await agent.generate({ prompt: question, abortSignal: signal })).text;
  },
);
