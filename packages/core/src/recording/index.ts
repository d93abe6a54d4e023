/** @toolenv/core/recording: episodes and tool calls on disk, and replaying them. */

export type { ToolLease, ToolSource, ToolTap } from '../env/tool-tap.ts';
export { append } from './append.ts';
export { cutMiddle } from './cut-middle.ts';
export { diskError, withDiskErrors } from './disk-errors.ts';
export { ensureDir } from './ensure-dir.ts';
export { episodeText, startText } from './episode-text.ts';
export {
  type FolderLock,
  hasClaim,
  isClaim,
  isFolderLost,
  lockFolder,
  processLiveness,
  processStart,
  refuseLockedFolder,
  refuseLostFolder,
} from './folder-lock.ts';
export { isGzip } from './gzip.ts';
export { type JsonLine, type ReadOptions, readJsonLines, wholeLines } from './jsonl.ts';
export { readPrompts } from './read-prompts.ts';
export { type RecordOptions, recordEnv, recordTools } from './record-tools.ts';
export { createRedactor, type RedactionRules } from './redact.ts';
export { openRegular, readRegular } from './regular-file.ts';
export { type Replay, replayEnv, replayTools } from './replay-tools.ts';
export type { PolicyIdentity, RecordablePolicy, RunTap } from './run-tap.ts';
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
