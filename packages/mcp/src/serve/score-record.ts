/** ScoreRecord: the score of an episode, for whoever serves it. Agents never see it. */
import { appendFile } from 'node:fs/promises';
import type { Rewards } from '@toolenv/core';
import { withDiskErrors } from '@toolenv/core/files';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import pLimit from 'p-limit';

/** `cancelled`: the agent left, or cancelled a turn. */
export type RecordedOutcome =
  | { kind: 'running' | 'cancelled' }
  | { kind: 'terminated' | 'truncated'; reason: string }
  | { kind: 'aborted'; code: string; message: string };

export interface ScoreRecord {
  /** The handle of the episode. */
  episode: string;
  /** Reference of the environment. */
  env: string;
  version: string | undefined;
  /** Index of the task in the split that is served. */
  task: number;
  seed: number;
  outcome: RecordedOutcome;
  /** Components, summed over the turns. Absent if the episode was aborted. */
  rewards?: Rewards;
  /** Weighted sum of the components; `null` if nothing was scored. */
  reward?: number | null;
  turns: number;
  /** Time of the first observation, ISO 8601. */
  begun: string;
}

/** Appends records to a JSONL file, one at a time. */
export function scoreWriter(file: string): (record: ScoreRecord) => Promise<void> {
  const oneAtATime = pLimit(1);
  return (record) =>
    oneAtATime(() => withDiskErrors(file, () => appendFile(file, `${jsonWithoutSecrets(record)}\n`)));
}
