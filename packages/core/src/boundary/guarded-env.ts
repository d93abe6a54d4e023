/**
 * GuardedEnv: the boundary to an environment. What it answers is checked and copied once, wherever its Env is used: in rollouts, on
 * servers, in wrappers and by hand.
 */
import type { Action } from '../protocol/action.ts';
import type { Env, EnvSpec, ResetOptions, StepOptions, Transition } from '../protocol/env.ts';
import { isInfrastructure, messageOf, ToolEnvError } from '../protocol/errors.ts';
import type { Observation } from '../protocol/message.ts';
import { checkRewardSpec, type RewardSpec, type Rewards, weigh } from '../protocol/reward.ts';
import type { Tool } from '../protocol/tool.ts';
import { recordBounds } from '../schemas/json-bounds.ts';
import { cloneCall } from './bound-call.ts';
import { BrokenRule, broken } from './broken-rule.ts';
import { readObservation } from './read-observation.ts';
import { readTransition } from './read-transition.ts';

/**
 * The Env behind its guard.
 * @param isRemote Whether the environment's rules run elsewhere. Its faults are then faults of the infrastructure, and not of this
 *   program.
 */
export function guardEnv<Task>(env: Env<Task>, isRemote = false): Env<Task> {
  return env instanceof GuardedEnv ? env : new GuardedEnv(env, isRemote);
}

/**
 * What it returns belongs to the caller: an Env that changes its objects later changes no record (ENV-13).
 * @throws ToolEnvError for a broken rule, naming it: `bug.environment`, or `infrastructure.environment` from a remote environment.
 */
class GuardedEnv<Task> implements Env<Task> {
  readonly #env: Env<Task>;
  readonly #isRemote: boolean;
  #seen: Observation | undefined;
  /** Sums of the process rewards of the episode. */
  #sums: Rewards = {};
  readonly tools?: () => readonly Tool[];

  constructor(env: Env<Task>, isRemote: boolean) {
    this.#env = env;
    this.#isRemote = isRemote;
    if (env.tools) this.tools = () => env.tools!();
  }

  get spec(): EnvSpec {
    return this.#env.spec;
  }

  async reset(options: ResetOptions<Task>): Promise<Observation> {
    try {
      checkSpec(this.spec.rewards);
      this.#seen = readObservation(await this.#env.reset(options), undefined);
      this.#sums = {};
      return this.#seen;
    } catch (error) {
      throw this.#toThrow(error, options.signal);
    }
  }

  async step(action: Action, options?: StepOptions): Promise<Transition> {
    try {
      // Longer arguments than the model may write are its mistake, which the environment answers.
      const toolCalls = action.toolCalls.map((call) => cloneCall(call, recordBounds));
      const given = await this.#env.step({ ...action, toolCalls }, options);
      const transition = readTransition(given, this.spec, this.#seen);
      if (transition.rewards) this.#add(transition.rewards);
      this.#seen = transition.observation;
      return transition;
    } catch (error) {
      throw this.#toThrow(error, options?.signal);
    }
  }

  close(): Promise<void> {
    return this.#env.close();
  }

  /** Values in their ranges may still add up to more than a number can hold. */
  #add(rewards: Rewards): void {
    let isChanged = false;
    for (const [name, value] of Object.entries(rewards)) {
      if (value === null) continue;
      this.#sums[name] = (this.#sums[name] ?? 0) + value;
      isChanged = true;
    }
    if (!isChanged) return;
    const total = weigh(this.spec.rewards, this.#sums);
    if (total !== null && !Number.isFinite(total))
      throw new BrokenRule('ENV-21', `the weighted rewards of the episode add up to ${total}`);
  }

  #toThrow(error: unknown, signal: AbortSignal | undefined): unknown {
    const known = error instanceof BrokenRule ? broken('bug.environment', this.spec.name, error) : error;
    if (!this.#isRemote || signal?.aborted || isInfrastructure(known)) return known;
    return new ToolEnvError('infrastructure.environment', messageOf(known), { cause: known });
  }
}

const sound = new WeakSet<RewardSpec>();

/** Once for each spec, which many Envs share. */
function checkSpec(spec: RewardSpec): void {
  if (sound.has(spec)) return;
  const wrong = checkRewardSpec(spec);
  if (wrong) throw new BrokenRule(wrong.rule, wrong.problem);
  sound.add(spec);
}
