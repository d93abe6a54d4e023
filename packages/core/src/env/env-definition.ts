/** EnvDefinition: what a package publishes for an environment. `open` loads expensive resources once per run. */
import type { Env, EnvLimits } from '../protocol/env.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import type { Policy } from '../protocol/policy.ts';
import type { Prompts } from '../protocol/prompts.ts';
import type { RewardSpec } from '../protocol/reward.ts';
import type { Tool } from '../protocol/tool.ts';
import { type RewardDeclaration, soundRewards } from './reward-declaration.ts';
import type { Script, Scripted } from './scripted-policy.ts';
import type { TaskDraw } from './task-draw.ts';
import type { ToolTap } from './tool-tap.ts';

/** The splits of the tasks. */
export type Split = 'train' | 'validation' | 'test';

/** Tasks by index, so that a million tasks need no memory. Both may have to be read first, so await both. */
export interface TaskSet<Task> {
  readonly length: number | Promise<number>;
  get(index: number): Task | Promise<Task>;
}

/** What an environment receives when it opens. */
export interface OpenOptions<Options> {
  options: Options;
  /** Seeds everything that the environment generates when it opens. */
  seed: number;
  /** Makes the tools of the roles that the environment names. */
  tools: Record<string, ToolFactory>;
  /** Records or replays tools that the environment opens itself. The tools of roles need no care: `openEnv` wraps them. */
  tap?: ToolTap;
  /** Opens a policy by name, for a player. Absent where the environment is opened without plugins. */
  policy?(name: string): Promise<Policy>;
}

/** Makes the tool for a role from the material that the environment supplies (for `search`: the documents to index). */
export type ToolFactory<Material = unknown> = (material: Material) => Promise<Tool>;

/** How an environment differs from the default. Rollouts and checks adapt to it (ENV-36). */
export interface EnvCapabilities {
  /** Whether equal tasks, seeds and actions give equal episodes. Default true. */
  seedable?: boolean;
  /**
   * Whether any number of its Envs may run at once, or how many may: each may need a process. Default true. If false, a rollout plays
   * one episode at a time.
   */
  concurrent?: boolean | number;
  /** Whether it connects to servers, on this machine or others. Default false. */
  networked?: boolean;
  /**
   * Whether its rules run elsewhere, because it is the client of a served environment. Default false. If true, a rule that it
   * breaks aborts the episode, instead of stopping the run as a bug.
   */
  remote?: boolean;
}

/** The largest number of its Envs that may run at once; Infinity for any number. */
export function maxConcurrency({ concurrent = true }: EnvCapabilities = {}): number {
  if (typeof concurrent === 'number') return concurrent;
  return concurrent ? Number.POSITIVE_INFINITY : 1;
}

/** An open environment. */
export interface EnvHandle<Task> {
  tasks: Record<Split, TaskSet<Task>>;
  /** The splits that its author names. The others are empty on purpose. Absent if that is not known. */
  readonly splits?: readonly Split[];
  /** Draws the training tasks of a step. Default: every task once before any comes again. */
  readonly draw?: TaskDraw | undefined;
  /** A fresh Env. As many may live at once as `concurrent` says. */
  episode(): Env<Task>;
  close(): Promise<void>;
  /** `<package>/<name>-v<N>`, set when it was opened as a plugin. */
  readonly ref?: string;
  /** Version of the plugin's package, set when it was opened as a plugin. */
  readonly packageVersion?: string;
  /** What else a resumed run must have in common with the earlier run, such as the code of an agent. Values are JSON. */
  readonly identity?: Readonly<Record<string, unknown>>;
  /** The capabilities of its definition, set by `openEnv`. */
  readonly capabilities?: EnvCapabilities;
  /** Its open texts as its episodes have them; absent if it declares none. `withPrompts` of `@toolenv/core/wrappers` replaces them. */
  readonly prompts?: Prompts;
}

/** A file that the authors of a dataset publish. */
export interface PublishedFile {
  /** Name that it gets in the folder of the dataset. */
  readonly name: string;
  /** Address from which a program can fetch it. */
  readonly url: string;
  /** SHA-256 in hexadecimal digits, if its authors publish it. */
  readonly sha256?: string;
  /** Page on which a person finds the file, if the address is not enough. */
  readonly page?: string;
}

/** The dataset of an environment, which `toolenv data` fetches. */
export interface PublishedData {
  readonly files: readonly PublishedFile[];
  /** Options of the environment that use the files: paths in the folder. */
  readonly options: Readonly<Record<string, string>>;
  /** Licence of the data, and where it says so. */
  readonly license: string;
}

/** Rewards by name, of any environment. */
// biome-ignore lint/suspicious/noExplicitAny: what a score receives is known to its environment.
export type RewardDeclarations = Readonly<Record<string, RewardDeclaration<any>>>;

/** What a package publishes for an environment, and how to open it. */
export interface EnvDefinition<Task = unknown, Options = Record<string, unknown>> {
  /** `<name>-v<N>`. Another task distribution, reward or action format needs another number. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of `options`, with defaults: CLI flags and validation come from it. */
  readonly options: JsonSchema;
  readonly rewards: RewardSpec;
  readonly limits: EnvLimits;
  readonly capabilities?: EnvCapabilities;
  /** Open texts: texts of the environment by name that a run may replace, such as its instructions. */
  readonly prompts?: Prompts;
  /** The players besides the first, and the names of their scripts. Who plays each is the option of its name. */
  readonly players?: Readonly<Record<string, readonly string[]>>;
  /** Role → reference of the plugin that fills it unless another is given. */
  readonly roles: Record<string, string>;
  /** The files that its options need, if others publish them. */
  readonly data?: PublishedData;
  open(options: OpenOptions<Options>): Promise<EnvHandle<Task>>;
  /**
   * The same environment with other rewards, to score recorded episodes again. Absent where its rules do not say how it scores.
   * @param change Makes them from the declared rewards. A reward that a hook gives must stay.
   * @throws ToolEnvError `bug.environment` as `defineToolEnv` does.
   */
  withRewards?(change: (declared: RewardDeclarations) => RewardDeclarations): EnvDefinition<Task, Options>;
  /**
   * Wins the task because it knows the answer: the turns in order, or a function of the observation. Checks and baselines use it
   * to show that the task can be won. `undefined` for a task whose answer is not known. Turns in order are those of the first player; a
   * function also plays players whom `self` plays, and `observation.conversation` has the name of such a player.
   */
  oracle?(task: Task): Script | readonly Scripted[] | undefined;
  /**
   * The largest weighted reward that the task allows, where its components conflict: in a negotiation, no deal is best for both sides.
   * The oracle must then earn it (ENV-32). `undefined` if every outcome component can have its best value.
   */
  best?(task: Task): number | undefined;
  /**
   * The answer as a text that no observation may contain before a tool has returned a result. `undefined` if the question
   * itself may name the answer, as "which of A and B" does.
   */
  label?(task: Task): string | undefined;
}

/**
 * Declares an environment that is made in another way than by {@link defineToolEnv}, as wrappers and clients are.
 * @throws ToolEnvError `bug.environment` for rewards whose kind, range or weight cannot be (ENV-4).
 */
export function defineEnv<Task, Options>(
  definition: EnvDefinition<Task, Options>,
): EnvDefinition<Task, Options> {
  soundRewards(definition.name, definition.rewards);
  return definition;
}
