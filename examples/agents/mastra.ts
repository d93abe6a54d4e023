/** Mastra. */
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { bridgeAgent } from './bridge-agent.ts';

export default bridgeAgent(
  'mastra-v1',
  import.meta.url,
  async ({ question, instructions, search, baseURL, apiKey, signal }) => {
    const agent = new Agent({
      id: 'questions',
      name: 'Questions',
      instructions,
      model: { id: 'policy/policy', url: baseURL, apiKey },
      tools: {
        search: createTool({
          id: 'search',
          description: search.description,
          inputSchema: standardSchema(search.inputSchema),
          execute: (input) => search.run((input as { query: string }).query),
        }),
      },
    });
    const { steps } = await agent.generate(question, { abortSignal: signal });
    // `text` would be that of all steps.
    return steps.at(-1)?.text ?? '';
  },
);

/** A JSON Schema as Standard Schema. Mastra adds `$schema` and `additionalProperties` to a plain JSON Schema. */
function standardSchema(schema: Record<string, unknown>) {
  const copy = () => structuredClone(schema);
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
