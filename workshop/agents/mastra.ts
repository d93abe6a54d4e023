/** Mastra, over an address and over a model of the AI SDK. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible-for-7';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import type { JsonSchema, QuestionAgent, QuestionAgentContext } from './question-agent.ts';

export const url = agentWith(({ baseURL, apiKey }) => ({ id: 'policy/policy', url: baseURL, apiKey }));
// Mastra's type of a model of the AI SDK 7 lacks what its documentation has.
export const aiSdkModel = agentWith(
  ({ baseURL, apiKey }) =>
    createOpenAICompatible({ name: 'policy', baseURL, apiKey })('policy') as unknown as Model,
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
          inputSchema: standardSchema(search.inputSchema),
          execute: (input) => search.run((input as { query: string }).query),
        }),
      },
    });
    const options = { maxSteps: maxTurns, abortSignal: signal };
    // The text of `generate` is that of all steps, the text of `stream` that of the last.
    if (!stream) return (await agent.generate(question, options)).steps.at(-1)?.text ?? '';
    return await (await agent.stream(question, options)).text;
  };
}

/** A JSON Schema as Standard Schema. Mastra adds `$schema` and `additionalProperties` to a plain JSON Schema. */
function standardSchema(schema: JsonSchema) {
  const copy = () => structuredClone(schema) as Record<string, unknown>;
  const validate = (value: unknown) => ({ value });
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'json-schema',
      validate,
      jsonSchema: { input: copy, output: copy },
    },
  };
}
