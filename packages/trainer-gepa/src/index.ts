export { default, gepa, gepaWith, paretoFront } from './gepa.ts';
export type { GepaOptions } from './gepa-options.ts';
