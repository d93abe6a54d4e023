/** @toolenv/core/tools: running tool calls without an environment, as clients and servers of other protocols do. */
export { Deadline, type DeadlineOptions } from './deadline.ts';
export { type DispatchOptions, dispatch } from './dispatch.ts';
