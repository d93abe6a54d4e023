/** @toolenv/core/tools: runs tool calls without an environment, for clients and servers of other protocols. */
export { boundCall } from '../boundary/bound-call.ts';
export { Deadline, type DeadlineOptions } from './deadline.ts';
export { type DispatchOptions, dispatch } from './dispatch.ts';
