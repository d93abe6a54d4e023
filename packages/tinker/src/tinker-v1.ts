/** The policy `tinker-v1`: a model on a Tinker server as a plugin, `tinker:<url>#<base model>` on the command line. */
import { existsSync } from 'node:fs';
import { ToolEnvError } from '@toolenv/core';
import {
  definePolicy,
  type OpeningRun,
  type PolicyDefinition,
  type PolicyHandle,
} from '@toolenv/core/plugins';
import { parseModelAddress, readKey } from '@toolenv/core/remote';
import type { OptionsOf } from '@toolenv/core/schemas';
import { type TinkerPolicyOptions, tinkerPolicy } from './open-policy.ts';

const schema = {
  type: 'object',
  required: ['address'],
  additionalProperties: false,
  properties: {
    address: {
      type: 'string',
      minLength: 1,
      description: '<url>#<base model>, such as http://127.0.0.1:8000#Qwen/Qwen3-0.6B',
    },
    tokenizer: {
      type: 'string',
      description:
        "Hugging Face folder with the model's tokenizer, or a model of the Hugging Face Hub (default: the base model)",
    },
    loraRank: {
      type: 'integer',
      minimum: 0,
      default: 32,
      description:
        'rank of the adapter that is trained; 0 trains every weight, which SkyRL does on FSDP and Megatron',
    },
    checkpoint: {
      type: 'string',
      description: "folder of a checkpoint to begin with, as a run's policy/",
    },
    contextLength: {
      type: 'integer',
      minimum: 1,
      description: "tokens of a prompt and its action together (default: the tokenizer's model's)",
    },
    serverMaxGradNorm: {
      type: 'number',
      minimum: 0,
      description:
        'gradient norm to which the server clips, 0 for none (default: none on JAX, 1 on FSDP and Megatron)',
    },
    apiKey: {
      type: 'string',
      mayChange: true,
      description: 'name of the environment variable that has the key (default: none is sent)',
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
      default: 1_800_000,
      milliseconds: true,
      mayChange: true,
      description: 'time that a result may take',
    },
  },
} as const;

export type TinkerOptions = OptionsOf<typeof schema>;

const tinker: PolicyDefinition<TinkerOptions> = definePolicy({
  name: 'tinker-v1',
  description:
    'A model that samples and trains on a server of the Tinker API: SkyRL over JAX, FSDP or Megatron.',
  options: schema,
  open,
});

export default tinker;

/** @throws ToolEnvError `usage.tinker_*`, `usage.checkpoint_*`, `infrastructure.tinker_*`. */
async function open(options: TinkerOptions, { seed, signal, deadline }: OpeningRun): Promise<PolicyHandle> {
  const { url, model: baseModel } = parseModelAddress(options.address, {
    code: 'usage.tinker_address',
    example: 'tinker:http://127.0.0.1:8000#Qwen/Qwen3-0.6B',
  });
  return tinkerPolicy({
    url,
    baseModel,
    tokens: await openTokenizer(options.tokenizer ?? baseModel),
    rank: options.loraRank,
    seed,
    ...{ signal, deadline },
    checkpoint: options.checkpoint,
    contextLength: options.contextLength,
    clipsAt: options.serverMaxGradNorm,
    apiKey: options.apiKey === undefined ? undefined : readKey(options.apiKey, 'usage.tinker_key'),
    retries: options.requestRetries,
    timeout: options.requestTimeout,
  });
}

async function openTokenizer(name: string | undefined): Promise<TinkerPolicyOptions['tokens']> {
  const isOfHub = name !== undefined && /^[^./][^/]*\/[^/]+$/.test(name);
  if (name === undefined || !(existsSync(name) || isOfHub)) {
    const message = `The tokenizer ${name === undefined ? 'is not known' : `${name} is not a folder here`}: name a Hugging Face folder, or a model of the Hugging Face Hub, with --tokenizer.`;
    throw new ToolEnvError('usage.tinker_tokenizer', message);
  }
  const { openChat } = await import('@toolenv/policy/chat').catch((cause: unknown) => {
    const message = 'A Tinker server takes token ids, which need a tokenizer: npm install @toolenv/policy.';
    throw new ToolEnvError('usage.missing_package', message, { cause });
  });
  return openChat(name);
}
