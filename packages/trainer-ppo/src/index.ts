export { default, ppo } from './ppo.ts';
export type { PpoOptions } from './ppo-options.ts';
