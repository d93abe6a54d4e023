/** @toolenv/core/recording: episodes and tool calls on disk, and replaying them. */

export type { ToolLease, ToolSource, ToolTap } from '../env/tool-tap.ts';
export { cutMiddle } from './cut-middle.ts';
export { episodeText, startText } from './episode-text.ts';
export { type Difference, describeDifferences, differences } from './json-difference.ts';
export { readPrompts } from './read-prompts.ts';
export { type RecordOptions, recordEnv, recordTools } from './record-tools.ts';
export { createRedactor, type RedactionRules } from './redact.ts';
export { type Replay, replayEnv, replayTools } from './replay-tools.ts';
export { canonical } from './tool-recording.ts';
export {
  appendTrajectory,
  decodeTrajectory,
  encodeTrajectory,
  readTrajectories,
} from './trajectory-jsonl.ts';
export {
  type TrajectoryViolation,
  trajectoryMistake,
  trajectoryViolations,
} from './trajectory-violations.ts';
