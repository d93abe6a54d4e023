export { default, distill, distillFrom } from './distill.ts';
export { type DistillOptions, distillOptions } from './distill-options.ts';
