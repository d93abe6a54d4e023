/** An environment for command lines. */
export { units as default } from './missing-rules.ts';
