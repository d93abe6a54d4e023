/** The AI SDK 7: one agent for each provider package. */
import { createAnthropic } from '@ai-sdk/anthropic-for-7';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible-for-7';
import { createOpenAI } from '@ai-sdk/openai-for-7';
import { isStepCount, jsonSchema, type LanguageModel, ToolLoopAgent, tool } from 'ai7';
import type { QuestionAgent, QuestionAgentContext } from './question-agent.ts';

export const compatible = agentWith(({ baseURL, apiKey }) =>
  createOpenAICompatible({ name: 'policy', baseURL, apiKey })('policy'),
);
export const chat = agentWith(({ baseURL, apiKey }) => createOpenAI({ baseURL, apiKey }).chat('policy'));
export const responses = agentWith(({ baseURL, apiKey }) => createOpenAI({ baseURL, apiKey })('policy'));
export const anthropic = agentWith(({ baseURL, apiKey }) => createAnthropic({ baseURL, apiKey })('policy'));

function agentWith(model: (context: QuestionAgentContext) => LanguageModel): QuestionAgent {
  return async (context, { stream, maxTurns }) => {
    const { question, instructions, search, signal } = context;
    const agent = new ToolLoopAgent({
      model: model(context),
      instructions,
      tools: {
        search: tool({
          description: search.description,
          inputSchema: jsonSchema<{ query: string }>(search.inputSchema),
          execute: ({ query }) => search.run(query),
        }),
      },
      stopWhen: isStepCount(maxTurns),
    });
    const prompt = { prompt: question, abortSignal: signal };
    if (!stream) return (await agent.generate(prompt)).text;
    const result = await agent.stream(prompt);
    await result.consumeStream();
    return await result.text;
  };
}
