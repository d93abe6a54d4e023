export { default, ppo } from './ppo.ts';
export { type PpoOptions, ppoOptions } from './ppo-options.ts';
