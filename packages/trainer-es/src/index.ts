/** @toolenv/trainer-es: learning from rewards without gradients. */
export { es } from './es.ts';
export type { EsOptions } from './es-options.ts';
