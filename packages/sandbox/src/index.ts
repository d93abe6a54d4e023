/** @toolenv/sandbox: where the commands of an episode run. */

export { default as bubblewrap } from './bubblewrap/bubblewrap-v1.ts';
export { default as container } from './container/container-v1.ts';
export { workFolder } from './limits.ts';
export { default as daytona } from './remote/daytona-v1.ts';
export { default as e2b } from './remote/e2b-v1.ts';
export { default as virtual } from './virtual/virtual-v1.ts';
