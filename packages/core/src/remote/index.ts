/** @toolenv/core/remote: what clients of model servers share. */
export {
  type ModelAddress,
  parseAddress,
  parseModelAddress,
  readKey,
} from './model-address.ts';
export type { TokenChat, TokenTurn } from './token-chat.ts';
export { type SampledTokens, type TokenRequest, TokenTurns, tokensMistake } from './token-turns.ts';
