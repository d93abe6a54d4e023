/** RunTap: stands between a run and its tools, and between a run and its policy, to record both or to replay both. */
import type { ToolTap } from '../env/tool-tap.ts';
import type { Learner } from '../protocol/learner.ts';
import type { Policy } from '../protocol/policy.ts';
import type { PolicyUsage } from '../protocol/turn-usage.ts';

/** The policy of a run: the name of its definition, and the options that decide what it says. */
export interface PolicyIdentity {
  name: string;
  options: Readonly<Record<string, unknown>>;
}

/** A policy that is open for a run, as far as a recording knows it. */
export interface RecordablePolicy extends Policy {
  /** Absent if the policy computes on this machine. */
  readonly usage?: PolicyUsage;
  /** Absent if its weights cannot be trained here. */
  readonly learner?: Learner;
}

/** Stands between a run and its tools and its policy. */
export interface RunTap extends ToolTap {
  /**
   * The policy of the run, to be called before the first episode. The turns of a policy that asks a server are recorded, and answered
   * from the recording without `open`. A policy that computes on this machine, or that learns, is opened and computes again.
   * @throws ToolEnvError `usage.other_recording` for a replay of another policy, or of a policy whose turns were not recorded.
   */
  policy(identity: PolicyIdentity, open: () => Promise<RecordablePolicy>): Promise<RecordablePolicy>;
}

/** Whether the turns of a policy are on record: those of a model on a server, which the run does not train. */
export function asksServer({ usage, learner }: RecordablePolicy): boolean {
  return usage !== undefined && learner === undefined;
}
