/** Mastra, over an address and over a model of the AI SDK. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible-for-7';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import type { QuestionAgent, QuestionAgentContext } from './question-agent.ts';

export const url = agentWith(({ baseURL, apiKey }) => ({ id: 'policy/policy', url: baseURL, apiKey }));
export const aiSdkModel = agentWith(({ baseURL, apiKey }) =>
  createOpenAICompatible({ name: 'policy', baseURL, apiKey })('policy'),
);

type Model = ConstructorParameters<typeof Agent>[0]['model'];

function agentWith(model: (context: QuestionAgentContext) => Model): QuestionAgent {
  return async (context, { stream, maxTurns }) => {
    const { question, instructions, search, signal } = context;
    const agent = new Agent({
      id: 'questions',
      name: 'Questions',
      instructions,
      model: model(context),
      tools: {
        search: createTool({
          id: 'search',
          description: search.description,
          inputSchema: search.inputSchema,
          execute: (input) => search.run((input as { query: string }).query),
        }),
      },
    });
    const options = { maxSteps: maxTurns, abortSignal: signal };
    if (!stream) return (await agent.generate(question, options)).text;
    return await (await agent.stream(question, options)).text;
  };
}
