/** HarborTask: a task folder, as it is played. All times are in milliseconds, sizes in MiB, and paths of the machine absolute. */

export interface HarborTask {
  /** The name of the folder. */
  readonly name: string;
  readonly folder: string;
  /** Where the agent works, in all steps. */
  readonly box: BoxSpec;
  /** The steps in order. A task without `[[steps]]` has one. */
  readonly steps: readonly HarborStep[];
  /** Which steps the reward is made of. */
  readonly strategy: 'mean' | 'final';
  /** Whether a container asks for a network that it does not get. */
  readonly isOffline: boolean;
  /** Variables of the reference solution. */
  readonly solutionEnv: Readonly<Record<string, string>>;
}

export interface HarborStep {
  /** The folder below steps/; empty for the only step of a task without `[[steps]]`. */
  readonly name: string;
  readonly instruction: string;
  /** Folder of solve.sh; absent if the task has no reference solution. */
  readonly solution?: string;
  readonly agent: {
    readonly user: string;
    /** Time for all commands of the step together; absent: no limit. */
    readonly timeout?: number;
  };
  /** Folder whose files are put into the working folder before the step; its setup.sh is run. */
  readonly workdir?: string;
  /** What must succeed before the agent works on the step. */
  readonly health?: HealthCheck;
  readonly verifier: VerifierSpec;
  /** The later steps are left out if a reward is less. */
  readonly minReward: Readonly<Record<string, number>>;
}

/** A container as a task asks for it. */
export interface BoxSpec {
  readonly image: ImageSource;
  readonly env: Readonly<Record<string, string>>;
  /** Working folder; absent: that of the image. */
  readonly workdir?: string;
  readonly cpus?: number;
  readonly memory?: number;
  readonly storage?: number;
  readonly network: boolean;
  /** What must succeed before the container is used. */
  readonly health?: HealthCheck;
}

/** A command that is repeated until it succeeds. */
export interface HealthCheck {
  readonly command: string;
  /** Of one attempt. */
  readonly timeout: number;
  /** Failures in a row after which the container counts as broken. */
  readonly retries: number;
  /** Between attempts. */
  readonly interval: number;
  /** Failures in this time do not count. */
  readonly startPeriod: number;
  /** Between attempts in that time. */
  readonly startInterval: number;
}

/** An image that is there, or the folder of a Dockerfile. */
export type ImageSource = { readonly name: string } | { readonly context: string; readonly timeout: number };

export interface VerifierSpec {
  /** `fresh`: a container of its own. `shared`: the agent's. */
  readonly kind: 'fresh' | 'shared';
  readonly box: BoxSpec;
  /** Whether it asks for a network that it does not get. */
  readonly isOffline: boolean;
  /** Folders that are put into /tests, one over the other. Empty if the verifier's image has its tests. */
  readonly tests: readonly string[];
  readonly timeout: number;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  /** Whether a fresh verifier gets whatever the agent has changed, minus what the tests would execute. */
  readonly carriesChanges: boolean;
  /** What a fresh verifier gets of the agent's files, wherever they are. */
  readonly artifacts: readonly Artifact[];
  /** Commands that run in the agent's container before artifacts are taken from it. */
  readonly collect: readonly { readonly command: string; readonly timeout: number; readonly user: string }[];
}

export interface Artifact {
  /** Absolute path in the agent's container, and in the verifier's. */
  readonly source: string;
  /** Patterns of names and paths that are left out. */
  readonly exclude: readonly string[];
}

/** What the user allows tasks. */
export interface TaskPolicy {
  /** Who gets a network that a task asks for: nobody, its verifier, or its agent too. */
  readonly network: 'none' | 'verifier' | 'declared';
  /** `shared`: tasks that declare no verifier of their own are judged in the agent's container. */
  readonly verifier: 'fresh' | 'shared';
  /** Variables of this process that tasks may read. */
  readonly hostVariables: readonly string[];
}
