/** RunTap: stands between a run and its tools, and between a run and its policy, to record both or to replay both. */
import type { ToolTap } from '../env/tool-tap.ts';
import type { PolicyHandle } from '../plugins/policy-definition.ts';

/** The policy of a run: the name of its definition, and the options that decide what it says. */
export interface PolicyIdentity {
  name: string;
  options: Readonly<Record<string, unknown>>;
}

/** Stands between a run and its tools and its policy. */
export interface RunTap extends ToolTap {
  /**
   * The policy of the run, to be called before the first episode. The turns of a policy that asks a server are recorded, and answered
   * from the recording without `open`. A policy that computes on this machine, or that learns, is opened and computes again.
   * @throws ToolEnvError `usage.other_recording` for a replay of another policy, or of a policy whose turns were not recorded.
   */
  policy(identity: PolicyIdentity, open: () => Promise<PolicyHandle>): Promise<PolicyHandle>;
}

/** Whether the turns of a policy are on record: those of a model on a server, which the run does not train. */
export function asksServer({ usage, learner }: PolicyHandle): boolean {
  return usage !== undefined && learner === undefined;
}
