/** @toolenv/sandbox: where the commands of an episode run. */
export { workFolder } from './limits.ts';
