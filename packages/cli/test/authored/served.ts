/** A model of the AI SDK on a server. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { definePolicy } from '@toolenv/core/plugins';
import { languageModelPolicy, readPrices } from '@toolenv/openai';

interface ServedOptions {
  url: string;
  model: string;
  cache?: string;
  prices?: string;
}

export default definePolicy<ServedOptions>({
  name: 'served',
  description: 'A model behind the AI SDK.',
  options: {
    type: 'object',
    required: ['url'],
    properties: {
      url: { type: 'string' },
      model: { type: 'string', default: 'tiny' },
      cache: { type: 'string', mayChange: true },
      prices: { type: 'string', mayChange: true },
    },
  },
  async open({ url, model, cache, prices }) {
    const provider = createOpenAICompatible({ name: 'wire', baseURL: url });
    return languageModelPolicy(provider(model), {
      cache,
      toolCalls: 'text',
      ...(await readPrices(prices, model)),
    });
  },
});
