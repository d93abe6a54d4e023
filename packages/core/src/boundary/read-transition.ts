/** readTransition: what an environment's step has returned, copied, in the form that scores and trajectories rely on. */
import type { EnvSpec, ToolCallRecord, Transition } from '../protocol/env.ts';
import { isInfrastructure } from '../protocol/errors.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import type { Observation } from '../protocol/message.ts';
import { aborted, type Outcome, running } from '../protocol/outcome.ts';
import { isPlainObject } from '../protocol/plain-object.ts';
import { checkReward, type RewardSpec, type Rewards } from '../protocol/reward.ts';
import { describe } from '../protocol/violation.ts';
import { callsBounds } from '../schemas/json-bounds.ts';
import { validate } from '../schemas/json-schema.ts';
import { wireSchemas } from '../schemas/wire-schemas.ts';
import { BrokenRule, enforceRule } from './broken-rule.ts';
import { isSnapshot, snapshot } from './json-copies.ts';
import { readObservation } from './read-observation.ts';

/**
 * @param before The observation before, as {@link readObservation} returned it.
 * @throws BrokenRule that names the rule.
 */
export function readTransition(
  given: unknown,
  { rewards: spec, players }: Pick<EnvSpec, 'rewards' | 'players'>,
  before: Observation | undefined,
): Transition {
  const of = Object(given) as Record<keyof Transition, unknown>;
  const outcome = readOutcome(of.outcome);
  const rewards = readRewards(of.rewards, spec, outcome.kind);
  const playerRewards = readPlayerRewards(of.playerRewards, spec, outcome.kind, players);
  const calls = readCalls(of.calls, 'calls');
  const environmentCalls =
    of.environmentCalls === undefined ? undefined : readCalls(of.environmentCalls, 'environmentCalls');
  const info = readInfo(of.info);
  if (of.learn !== undefined && typeof of.learn !== 'boolean')
    throw new BrokenRule('ENV-38', `learn is ${describe(of.learn)}`);
  // The cause of an abort says more than the observation that it left.
  const observation = outcome.kind === 'aborted' && before ? before : readObservation(of.observation, before);
  if (outcome.kind === 'running') checkReply(observation);
  // Not by spreads, which cost more than the checks.
  const transition = { observation, outcome, calls, info } as Partial<Transition>;
  if (rewards) transition.rewards = rewards;
  if (playerRewards) transition.playerRewards = playerRewards;
  if (environmentCalls) transition.environmentCalls = environmentCalls;
  if (of.learn === false) transition.learn = false;
  return transition as Transition;
}

const truncations = new Set<unknown>(['max_turns', 'max_tokens', 'deadline', 'context']);

function readOutcome(outcome: unknown): Outcome {
  const { kind, reason, cause, retryable } = Object(outcome);
  if (kind === 'running') return running;
  const isScored =
    (kind === 'terminated' && typeof reason === 'string' && reason !== '') ||
    (kind === 'truncated' && truncations.has(reason));
  if (isScored) return { kind, reason };
  if (kind === 'aborted' && isInfrastructure(cause)) return aborted(cause, retryable !== false);
  const why = reason === undefined ? '' : ` with the reason ${describe(reason)}`;
  throw new BrokenRule('ENV-17', `the outcome is ${describe(kind)}${why}`);
}

function readRewards(given: unknown, spec: RewardSpec, end: Outcome['kind']): Rewards | undefined {
  if (end === 'aborted') {
    if (given === undefined) return undefined;
    throw new BrokenRule('ENV-18', 'an aborted step has rewards');
  }
  if (!isPlainObject(given)) throw new BrokenRule('ENV-18', `the rewards are ${describe(given)}`);
  const rewards: Rewards = {};
  for (const name of Object.keys(given)) {
    const value = given[name];
    const wrong = checkReward(spec, name, value);
    if (wrong) throw new BrokenRule(wrong.rule, wrong.problem);
    if (end === 'running' && value !== null && spec[name]!.kind === 'outcome') {
      const problem = `outcome reward "${name}" is ${value} before the end: score it once, at the end`;
      throw new BrokenRule('ENV-19', problem);
    }
    rewards[name] = value as number | null;
  }
  return rewards;
}

function readPlayerRewards(
  given: unknown,
  spec: RewardSpec,
  end: Outcome['kind'],
  players: readonly string[] = [],
): Record<string, Rewards> | undefined {
  if (given === undefined) return undefined;
  if (end === 'aborted') throw new BrokenRule('ENV-18', 'an aborted step has rewards of players');
  if (!isPlainObject(given)) throw new BrokenRule('ENV-39', `playerRewards is ${describe(given)}`);
  const stranger = Object.keys(given).find((name) => !players.includes(name));
  if (stranger !== undefined)
    throw new BrokenRule('ENV-39', `playerRewards has "${stranger}", whom the spec does not name in players`);
  return Object.fromEntries(
    Object.entries(given).map(([name, rewards]) => [name, readRewards(rewards, spec, end)!]),
  );
}

const records = (wireSchemas.transition.properties as Record<string, JsonSchema>).calls!;

function readCalls(given: unknown, what: string): ToolCallRecord[] {
  if (!Array.isArray(given)) throw new BrokenRule('ENV-26', `the ${what} are ${describe(given)}`);
  if (given.length === 0) return [];
  // Those of a ToolEnv are, whose own tools and calls have been read already.
  if (isSnapshot(given)) return given;
  const calls = enforceRule('ENV-16', `the ${what} of the step`, () => snapshot(given, callsBounds));
  const [wrong] = validate(records, calls);
  if (wrong)
    throw new BrokenRule(
      'ENV-26',
      `${what}${wrong.path}: expected ${wrong.expected}; received ${wrong.received}`,
    );
  return calls as ToolCallRecord[];
}

function readInfo(given: unknown): Record<string, unknown> {
  if (Object(given) !== given) throw new BrokenRule('ENV-16', `the info is ${describe(given)}`);
  const info = enforceRule('ENV-16', 'the info of the step', () => snapshot(given as object));
  if (isPlainObject(info)) return info;
  throw new BrokenRule('ENV-16', `the info is ${describe(info)}`);
}

/** The observation has been checked already. */
function checkReply({ messages }: Observation): void {
  if (messages.at(-1)!.role !== 'assistant') return;
  throw new BrokenRule('ENV-37', 'nothing replies to the policy, but the episode continues');
}
