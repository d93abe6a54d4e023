/** The OpenAI Agents SDK. Its tracing, which sends spans to api.openai.com, is off. */
import type { QuestionAgent } from './question-agent.ts';

type AgentsSdk = Pick<typeof import('@openai/agents'), 'Agent' | 'OpenAIProvider' | 'Runner' | 'tool'>;

export function openaiAgentsSdk({ Agent, OpenAIProvider, Runner, tool }: AgentsSdk): {
  chat: QuestionAgent;
  responses: QuestionAgent;
} {
  const agentWith =
    ({ useResponses }: { useResponses: boolean }): QuestionAgent =>
    async ({ question, instructions, search, baseURL, apiKey, signal }, { stream, maxTurns }) => {
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
  return { chat: agentWith({ useResponses: false }), responses: agentWith({ useResponses: true }) };
}
