/** @toolenv/core/remote: what clients of model servers share. */
export { AnswerTooLarge, bounded, boundedFetch, maxAnswerSize } from './bounded-fetch.ts';
export {
  type AddressForm,
  type ModelAddress,
  parseAddress,
  parseModelAddress,
  readKey,
} from './model-address.ts';
export { backoff, isTransient } from './retries.ts';
export { retryAfter } from './retry-after.ts';
export { findTurnEnd, type TokenChat, type TokenTurn, type TurnEnd } from './token-chat.ts';
export { type SampledTokens, type TokenRequest, TokenTurns, tokensMistake } from './token-turns.ts';
