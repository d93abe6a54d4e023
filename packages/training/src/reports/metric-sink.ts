/** MetricSink: receives the metrics of a run, for example for an experiment tracker. */
import type { Metrics, TrainEvent } from '@toolenv/core/plugins';

/** What a sink gets to know about a run. */
export interface ReportedRun {
  /** `grpo on @toolenv/envs-qa/bridge-v1, seed 1` */
  readonly name: string;
  /** The folder of the run. */
  readonly folder: string;
  /** The content of config.json. Values are JSON. */
  readonly config: Readonly<Record<string, unknown>>;
  /** What `open` returned in an earlier part of the run, which is then resumed. */
  readonly id?: string;
}

/** The metrics of one event. */
export interface ReportedMetrics {
  readonly step: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  /**
   * Finite numbers. A name without a group has the event's type as its group: `rollout/reward`, `update/loss`. All names of
   * evaluations begin with `evaluation/`.
   */
  readonly metrics: Metrics;
}

/** `killed`: interrupted, and perhaps resumed later. */
export type RunEnd = 'finished' | 'failed' | 'killed';

/**
 * Passed to `train({ reportTo: [sink] })`. Training waits for no method, and no error of a sink ends a run: a call that rejects, or
 * takes longer than 30 seconds, is repeated after a while. Calls never overlap. Abort what is in progress when `signal` aborts.
 *
 * Throw a ToolEnvError with a `usage.*` code if no repetition can help, for example without credentials; the sink is then left out.
 */
export interface MetricSink {
  /** Unique in a run. */
  readonly name: string;
  /** Milliseconds that the end of the run waits for this sink at most. Default 10,000. */
  readonly endTime?: number;
  /** Called first. Returns what identifies the remote run, so that a resumed run continues it. */
  open(run: ReportedRun, signal: AbortSignal): Promise<string | undefined>;
  /** Takes events in their order. */
  write(events: readonly ReportedMetrics[], signal: AbortSignal): Promise<void>;
  /** Called last, if `open` was called. Releases everything. */
  close(end: RunEnd, signal: AbortSignal): Promise<void>;
}

export type ReportedType = Exclude<TrainEvent['type'], 'checkpoint'>;

/**
 * The name of a metric outside of metrics.jsonl, where the events of a step share one space of names. A name without a group gets
 * the event's type. Names of evaluations always get the prefix, because evaluations and rollouts share the names of rewards.
 */
export function reportedName(type: ReportedType, name: string): string {
  return name.includes('/') && type !== 'evaluation' ? name : `${type}/${name}`;
}
