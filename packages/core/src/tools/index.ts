/** @toolenv/core/tools: runs and parses tool calls without an environment, for policies and for clients and servers of other protocols. */
export { boundCall } from '../boundary/bound-call.ts';
export { Deadline, type DeadlineOptions, untilAborted, withinDeadline } from '../boundary/deadline.ts';
export { boundText } from './bound-text.ts';
export { callMistake, mistakeText } from './call-mistake.ts';
export { type DispatchOptions, dispatch, inToolTime } from './dispatch.ts';
export {
  formatOf,
  hermesFormat,
  llamaFormat,
  mistralFormat,
  type ParsedTurn,
  type ToolCallFormat,
} from './tool-call-formats.ts';
