/** What a package publishes for an environment: one definition; heavy things are opened once per run. */
import type { Env, EnvLimits } from '../protocol/env.ts';
import type { RewardSpec } from '../protocol/reward.ts';
import type { Tool } from '../protocol/tool.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import type { Script } from './scripted-policy.ts';

export type Split = 'train' | 'validation' | 'test';

/** Tasks by number, so that a million of them need no memory. */
export interface TaskSet<Task> {
  readonly length: number;
  at(index: number): Task;
}

export interface OpenOptions<Options> {
  options: Options;
  /** Seeds whatever the environment generates when it opens. */
  seed: number;
  /** Tools for the roles that the environment names, in place of the defaults. */
  tools?: Record<string, ToolFactory>;
}

/** Makes a tool of a role, given what the environment has for it (for `search`: the documents to index). */
export type ToolFactory<Material = unknown> = (material: Material) => Promise<Tool>;

/** What differs from the usual in an environment; loops and checks go by it (ENV-36). */
export interface EnvCapabilities {
  /** Equal task, seed and actions give equal episodes. Default true. */
  seedable?: boolean;
  /** Any number of its Envs may play at once. Default true; else a rollout plays one episode after the other. */
  concurrent?: boolean;
  /** It talks to other machines, or to servers of this one. Default false. */
  networked?: boolean;
}

/** An environment that is open for a run. */
export interface EnvHandle<Task> {
  tasks: Record<Split, TaskSet<Task>>;
  /** A fresh Env; any number may live at once, unless it is not `concurrent`. */
  episode(): Env<Task>;
  close(): Promise<void>;
  /** `<package>/<name>-v<N>`, set when it was opened as a plugin. */
  readonly ref?: string;
  /** Version of the plugin's package, set likewise. */
  readonly packageVersion?: string;
  /** Those of its definition, set by `openEnv`. */
  readonly capabilities?: EnvCapabilities;
}

export interface EnvDefinition<Task = unknown, Options = Record<string, unknown>> {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of `options`, with defaults: CLI flags and validation come from it. */
  readonly options: JsonSchema;
  readonly rewards: RewardSpec;
  readonly limits: EnvLimits;
  readonly capabilities?: EnvCapabilities;
  /** Role → reference of the plugin that fills it unless another is given. */
  readonly roles: Record<string, string>;
  open(options: OpenOptions<Options> & { tools: Record<string, ToolFactory> }): Promise<EnvHandle<Task>>;
  /** A player that knows the task and wins it: shows that the task can be won. For checks and baselines. */
  oracle?(task: Task): Script;
  /**
   * The answer, as a text that no observation may hold before a tool has said anything. `undefined` where the question
   * itself may name it, as "which of A and B" does.
   */
  label?(task: Task): string | undefined;
}

export function defineEnv<Task, Options>(
  definition: EnvDefinition<Task, Options>,
): EnvDefinition<Task, Options> {
  return definition;
}
