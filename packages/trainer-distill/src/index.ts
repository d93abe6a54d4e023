export { default, distill, distillFrom } from './distill.ts';
export type { DistillOptions } from './distill-options.ts';
