/** @toolenv/openai: language models on other machines as policies. */
export type { TokenChat } from '@toolenv/core/remote';
export {
  type LanguageModel,
  type LanguageModelCall,
  type LanguageModelMessage,
  type LanguageModelPolicyOptions,
  type LanguageModelReply,
  languageModelPolicy,
} from './language-model-policy.ts';
export { type OpenAiPolicyOptions, openAiPolicy } from './open-policy.ts';
export type { QueueOptions } from './request-queue.ts';
export type { ServerOptions } from './server.ts';
export { type Prices, readPrices } from './usage-count.ts';
