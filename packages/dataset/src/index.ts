/** @toolenv/dataset: tasks from the rows of a file, read as they are needed. */
export { type DatasetOptions, dataset } from './dataset.ts';
export { jsonObjects } from './json-rows.ts';
export type { Row } from './row.ts';
export type { DroppedConversations } from './traffic/read-traffic.ts';
export { type Redaction, redactSecrets } from './traffic/redaction.ts';
export {
  type ConversationScore,
  type TrafficOptions,
  type TrafficProgress,
  trafficSchema,
} from './traffic/traffic-options.ts';
export {
  type SplitSummary,
  type TrafficSummary,
  type TrafficTask,
  writeTrafficTasks,
} from './traffic/write-traffic-tasks.ts';
