/** @toolenv/core/tools: runs tool calls without an environment, for clients and servers of other protocols. */
export { Deadline, type DeadlineOptions } from './deadline.ts';
export { type DispatchOptions, dispatch } from './dispatch.ts';
