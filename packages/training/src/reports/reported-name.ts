/** The name of a metric outside of metrics.jsonl, where the events of a step share one space of names. */
import type { TrainEvent } from '@toolenv/core/plugins';

export type ReportedType = Exclude<TrainEvent['type'], 'checkpoint'>;

/** A name without a group gets the event's type. Names of evaluations always get the prefix, because evaluations and rollouts share the names of rewards. */
export function reportedName(type: ReportedType, name: string): string {
  return name.includes('/') && type !== 'evaluation' ? name : `${type}/${name}`;
}
