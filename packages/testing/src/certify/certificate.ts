/** The certificate of an environment: what its panel, its tasks and a policy that learned in it have shown. */
import type { Report } from '../report.ts';
import type { PanelScores } from './panel-scores.ts';

/** What a certificate is about, beside the report of its rules. */
export interface Certificate {
  env: string;
  /** Version of the environment's package, if it has one. */
  version?: string;
  /** The environment's own options that were given. */
  options: Readonly<Record<string, unknown>>;
  seed: number;
  /** Tasks that were played. */
  tasks: number;
  panel: PanelScores;
  /** Tried tasks with a twin, and test tasks that are near a training task. */
  twins: number;
  duplicates: { found: number; of: number };
  /** Absent if no policy has trained. */
  learned?: Learned;
}

/** A policy before and after it has imitated the oracle in training tasks. */
export interface Learned {
  policy: string;
  /** Of training. */
  minutes: number;
  updates: number;
  /** Episodes of the oracle that it has imitated. */
  demonstrations: number;
  /** The split of the tasks that tested it, and their number. */
  split: string;
  tasks: number;
  /** Mean rewards of these tasks. */
  before: number | null;
  after: number | null;
  /** 95 % interval of `after` − `before`, over tasks. */
  interval: readonly [low: number, high: number] | null;
  /** Mean rewards by minutes of training. */
  curve: readonly { minutes: number; reward: number | null }[];
}

export interface CertificateReport extends Report {
  /** Absent if there is nothing to measure: no oracle, or no task that it wins. */
  certificate?: Certificate;
}
