/** @toolenv/core/tools: runs and parses tool calls without an environment, for policies and for clients and servers of other protocols. */
export { boundCall } from '../boundary/bound-call.ts';
export { Deadline, type DeadlineOptions, untilAborted, withinDeadline } from '../boundary/deadline.ts';
export {
  type ParsedTurn,
  type ReadingOptions,
  type ThoughtMarks,
  type ToolCallFormat,
  thinkTags,
} from '../call-formats/call-format.ts';
export { callFormats, hermesFormat } from '../call-formats/formats.ts';
export { boundText } from './bound-text.ts';
export { callMistake, mistakeText } from './call-mistake.ts';
export { type DispatchOptions, dispatch, withToolTimeout } from './dispatch.ts';
export { type Screen, screenTool } from './screen-tool.ts';
export { functionTools, withTextTools } from './text-tools.ts';
export { ToolNames, usableToolName } from './tool-names.ts';
export { type ToolSearchOptions, toolSearch } from './tool-search.ts';
export { WordIndex } from './word-index.ts';
