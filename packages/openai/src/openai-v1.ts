/** The policy `openai-v1`: a model on an OpenAI-compatible server as a plugin, `openai:<url>#<model>` on the command line. */
import { ToolEnvError } from '@toolenv/core';
import {
  definePolicy,
  type OpeningRun,
  type PolicyDefinition,
  type PolicyHandle,
} from '@toolenv/core/plugins';
import { parseModelAddress, readKey } from '@toolenv/core/remote';
import type { OptionsOf } from '@toolenv/core/schemas';
import { type OpenAiPolicyOptions, openAiPolicy } from './open-policy.ts';

const schema = {
  type: 'object',
  required: ['address'],
  additionalProperties: false,
  properties: {
    address: {
      type: 'string',
      minLength: 1,
      description: '<url>#<model>, such as http://127.0.0.1:8000/v1#qwen3',
    },
    apiKey: {
      type: 'string',
      mayChange: true,
      description:
        'name of the environment variable that has the key (default: OPENAI_API_KEY for api.openai.com, else none)',
    },
    tokenizer: {
      type: 'string',
      description:
        "Hugging Face folder with the model's tokenizer, or a model of the Hugging Face Hub: actions have exact tokens, which training needs",
    },
    toolCalls: {
      enum: ['auto', 'native', 'text'],
      default: 'auto',
      description:
        "native are the server's own, text puts tools into the system message; auto asks the server",
    },
    sendImages: {
      type: 'boolean',
      default: false,
      description: 'send the images of observations; the model must read images',
    },
    contextLength: {
      type: 'integer',
      minimum: 1,
      description:
        'largest number of tokens in a prompt and its action together (default: limit of the server)',
    },
    requests: {
      type: 'integer',
      minimum: 1,
      default: 64,
      mayChange: true,
      description: 'requests at a time',
    },
    requestRetries: {
      type: 'integer',
      minimum: 0,
      default: 5,
      mayChange: true,
      description: 'retries of a failed request',
    },
    requestTimeout: {
      type: 'integer',
      minimum: 1,
      default: 600_000,
      milliseconds: true,
      mayChange: true,
      description: 'time that a reply may take',
    },
    cache: {
      type: 'string',
      minLength: 1,
      mayChange: true,
      description:
        'folder that keeps replies by request (by request and sample above temperature 0), so that an evaluation that is run again asks for nothing',
    },
    prices: {
      type: 'string',
      minLength: 1,
      mayChange: true,
      description:
        'JSON file with the prices of models: {"gpt-5-mini": {"input": 0.25, "cached": 0.025, "output": 2}}, in dollars for a million tokens',
    },
    inputPrice: {
      type: 'number',
      minimum: 0,
      mayChange: true,
      description: 'dollars for a million input tokens',
    },
    cachedPrice: {
      type: 'number',
      minimum: 0,
      mayChange: true,
      description: "dollars for a million input tokens from the server's cache (default: inputPrice)",
    },
    outputPrice: {
      type: 'number',
      minimum: 0,
      mayChange: true,
      description: 'dollars for a million output tokens',
    },
  },
} as const;

export type OpenAiOptions = OptionsOf<typeof schema>;

const openai: PolicyDefinition<OpenAiOptions> = definePolicy({
  name: 'openai-v1',
  description: 'A model on vLLM, SGLang, llama.cpp or a hosted service, over the API of OpenAI.',
  options: schema,
  open,
});

export default openai;

/** @throws ToolEnvError `usage.model_*`, `infrastructure.model_*`, `usage.checkpoint_*`. */
async function open(options: OpenAiOptions, { signal, deadline }: OpeningRun): Promise<PolicyHandle> {
  const { address, apiKey, tokenizer, requests, requestRetries, requestTimeout, ...same } = options;
  const { url, model } = parseModelAddress(address, {
    code: 'usage.model_address',
    example: 'openai:http://127.0.0.1:8000/v1#Qwen/Qwen3-0.6B',
  });
  return openAiPolicy({
    ...same,
    url,
    model,
    apiKey: keyOf(url, apiKey),
    tokens: tokenizer === undefined ? undefined : await openTokenizer(tokenizer),
    concurrency: requests,
    retries: requestRetries,
    timeout: requestTimeout,
    signal,
    deadline,
  });
}

/** OpenAI's key goes to OpenAI alone. */
function keyOf(url: string, variable: string | undefined): string | undefined {
  if (variable !== undefined) return readKey(variable, 'usage.model_key');
  return new URL(url).hostname === 'api.openai.com' ? process.env.OPENAI_API_KEY : undefined;
}

async function openTokenizer(folder: string): Promise<OpenAiPolicyOptions['tokens']> {
  const { openChat } = await import('@toolenv/policy/chat').catch((cause: unknown) => {
    const message = 'Exact tokens need a tokenizer: npm install @toolenv/policy.';
    throw new ToolEnvError('usage.missing_package', message, { cause });
  });
  return openChat(folder);
}
