/** @toolenv/core/remote: what clients of model servers share. */
export {
  type AddressForm,
  type ModelAddress,
  parseAddress,
  parseModelAddress,
  readKey,
} from './model-address.ts';
export { findTurnEnd, type TokenChat, type TokenTurn, type TurnEnd } from './token-chat.ts';
export { type SampledTokens, type TokenRequest, TokenTurns, tokensMistake } from './token-turns.ts';
