/** @toolenv/core/recording: episodes and tool calls on disk, and replaying them. */
export { type JsonLine, readJsonLines } from './jsonl.ts';
export { type RecordOptions, recordTools } from './record-tools.ts';
export type { RedactionRules } from './redact.ts';
export { type Replay, replayTools } from './replay-tools.ts';
export {
  appendTrajectory,
  decodeTrajectory,
  encodeTrajectory,
  readTrajectories,
} from './trajectory-jsonl.ts';
