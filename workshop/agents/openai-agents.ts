/** The OpenAI Agents SDK. Its tracing, which sends spans to api.openai.com, is off. */
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import type { QuestionAgent } from './question-agent.ts';

export const chat = agentWith({ useResponses: false });
export const responses = agentWith({ useResponses: true });

function agentWith({ useResponses }: { useResponses: boolean }): QuestionAgent {
  return async ({ question, instructions, search, baseURL, apiKey, signal }, { stream, maxTurns }) => {
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
    const runner = new Runner({
      modelProvider: new OpenAIProvider({ baseURL, apiKey, useResponses }),
      tracingDisabled: true,
    });
    if (!stream) return (await runner.run(agent, question, { maxTurns, signal })).finalOutput ?? '';
    const result = await runner.run(agent, question, { maxTurns, signal, stream: true });
    await result.completed;
    return result.finalOutput ?? '';
  };
}
