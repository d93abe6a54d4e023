/** @toolenv/sandbox: where the commands of an episode run. */

export { default as bubblewrap } from './bubblewrap/bubblewrap-v1.ts';
export { default as container } from './container/container-v1.ts';
export { workFolder } from './limits.ts';
export { default as virtual } from './virtual/virtual-v1.ts';
