/** What a package publishes for a policy: one definition. The model is loaded once per run. */

import type { JsonSchema } from '../protocol/json-schema.ts';
import type { Learner, Rows, TokenBatch } from '../protocol/learner.ts';
import type { Policy } from '../protocol/policy.ts';
import type { PolicyUsage } from '../protocol/turn-usage.ts';

/** Estimated memory of training a policy, before it begins. Sizes are in bytes. */
export interface MemoryEstimate {
  /** The weights, and the copies that a reference policy or merged adapters need. */
  weights: number;
  /** The accumulated gradients, and the gradients of the last backward pass. */
  gradients: number;
  optimizer: number;
  /** For one batch. */
  activations: number;
  total: number;
  /** The sampler's cache per token. Not in `total`, because the number of cached tokens depends on the run. */
  cachePerToken: number;
  /** Options of the policy that need less memory, with values to try. */
  savers?: Record<string, unknown>;
}

/** Something that a model can do here, or cannot. */
export interface Ability {
  name: string;
  does: boolean;
  /** How it does so, or why not. */
  how: string;
}

/** A policy that is open for a run. */
export interface PolicyHandle extends Policy {
  /** Trains the policy's weights; absent if they cannot be trained here. */
  readonly learner?: Learner;
  /**
   * Log-probabilities in nats, [B][T] at mask = 1, else 0, of tokens that another policy sampled, as the learner's `forward` computes them. A
   * policy that teaches without a learner has it.
   * @throws ToolEnvError `usage.*` or `infrastructure.*`, naming the remedy; the reason of the signal.
   */
  score?(batch: TokenBatch, options?: { signal?: AbortSignal | undefined }): Promise<Rows>;
  /** Absent if the policy does not know. */
  readonly memory?: MemoryEstimate;
  /** What its model can do here, by its chat template and tokenizer. Absent if the policy does not know. */
  readonly abilities?: readonly Ability[];
  /** Absent if the policy computes on this machine. */
  readonly usage?: PolicyUsage;
  /** Commit of the model in the repository that it was fetched from; absent for a local folder. */
  readonly revision?: string;
}

/** Whether a device computes on this machine. */
export type DeviceReport = { device: string; installed: boolean } & (
  | {
      runs: true;
      /** 10⁹ floating-point operations per second in matrix products. */
      gflops: number;
      /** Number of CPU threads that compute, where it is known. */
      threads?: number;
    }
  | { runs: false; why: string }
);

/** A library on a device, which a policy may compute with. */
export interface EngineReport {
  /** Such as `libtorch cpu`. */
  engine: string;
  /** The options that choose it, as flags. Empty if none can. */
  flags: string;
  available: boolean;
  /** What it gives here, or why it is not available. */
  about: string;
  /** A command or a setting that makes it available. Absent if there is nothing to do. */
  remedy?: string;
}

/** What a policy can compute with on this machine. */
export interface ComputeReport {
  /** Libraries that compute. `version` is `null` if the library is not installed, `why` says why it does not load. */
  libraries: { name: string; version: string | null; why?: string }[];
  devices: DeviceReport[];
  /** Every library on every device. Absent if the policy does not know them all. */
  engines?: EngineReport[];
  /** The device that the policy takes unless an option names another. */
  default: string;
  /** The device that its option `device: 'auto'` takes; `null` if no device works. */
  auto: string | null;
}

/** The run that a policy is opened for. */
export interface OpeningRun {
  /** Seeds whatever is drawn at random as the policy opens. */
  seed: number;
  /** Aborts when the run is stopped. */
  signal?: AbortSignal | undefined;
  /** Milliseconds of an episode of the run. A server that cannot say what it can do in this time is of no use to it. */
  deadline?: number | undefined;
  /** `PolicyHandle.revision` of the run before it was resumed: the policy opens the same model, whatever its name now stands for. */
  revision?: string | undefined;
}

/** A policy that a package publishes, and how to open it. */
export interface PolicyDefinition<Options = Record<string, unknown>> {
  readonly name: string;
  readonly description: string;
  /**
   * JSON Schema of `options`, with defaults: CLI flags and validation come from it. Two annotations may stand in a
   * property. `trainingOnly: true`: the option has no effect on a policy that is not trained. `mayChange: true`: the
   * option says where or how to compute, so that a resumed run may have another value.
   */
  readonly options: JsonSchema;
  /**
   * Options that a new run adds to those that are given, and records, such as the day that the prompts name, or takes in place of a given
   * `auto`. A resumed run takes what is recorded.
   * @param recorded The options that the resumed run has recorded. Absent for a new run.
   */
  begin?(options: Options, recorded?: Readonly<Record<string, unknown>>): Promise<Partial<Options>>;
  open(options: Options, run: OpeningRun): Promise<PolicyHandle>;
  /**
   * Reads what gives each of the policy's tokens its text, without opening the model. The texts of a sequence, one after
   * another, are the text of the sequence. Absent if the policy has no such texts.
   * @throws ToolEnvError `usage.*` if files are not there.
   */
  tokenTexts?(options: Options): Promise<(ids: Int32Array) => string[]>;
  /** Tries what this machine computes with. It may take seconds; it ends early with the signal's reason. */
  compute?(signal: AbortSignal): Promise<ComputeReport>;
}

/** Types the options of a policy plugin. Returns its argument. */
export function definePolicy<Options>(definition: PolicyDefinition<Options>): PolicyDefinition<Options> {
  return definition;
}
