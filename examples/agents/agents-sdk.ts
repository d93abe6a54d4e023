/** The OpenAI Agents SDK. Its tracing, which sends spans to api.openai.com, is off. */
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { bridgeAgent } from './bridge-agent.ts';

export default bridgeAgent(
  'agents-sdk-v1',
  import.meta.url,
  async ({ question, instructions, search, baseURL, apiKey, signal }) => {
    const agent = new Agent({
      name: 'Questions',
      model: 'policy',
      instructions,
      tools: [
        tool({
          name: 'search',
          description: search.description,
          // The type wants `additionalProperties: true`, the code sends any schema.
          parameters: search.inputSchema as never,
          strict: false,
          execute: (input) => search.run((input as { query: string }).query),
        }),
      ],
    });
    const modelProvider = new OpenAIProvider({ baseURL, apiKey, useResponses: true });
    const runner = new Runner({ modelProvider, tracingDisabled: true });
    return (await runner.run(agent, question, { signal })).finalOutput ?? '';
  },
);
