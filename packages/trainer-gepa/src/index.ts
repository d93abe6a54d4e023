export { default, gepa, gepaWith } from './gepa.ts';
export type { GepaOptions } from './gepa-options.ts';
