/** The name of a metric outside of metrics.jsonl, where the events of a step share one space of names. */
import type { TrainEvent } from '@toolenv/core/plugins';

export type ReportedType = Exclude<TrainEvent['type'], 'checkpoint'>;

/** A name without a group gets the event's type. An evaluation has names of its own, because it has the rewards of rollouts. */
export function reportedName(type: ReportedType, name: string): string {
  return name.includes('/') && type !== 'evaluation' ? name : `${type}/${name}`;
}
