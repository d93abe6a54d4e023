/** checkTransition: whether what an environment's step has returned keeps the rules that scores and trajectories rely on. */
import { isInfrastructure } from '../protocol/errors.ts';
import type { Outcome } from '../protocol/outcome.ts';
import { checkReward, type RewardSpec } from '../protocol/reward.ts';
import { inWords, type Violation } from '../protocol/violation.ts';
import { callsBounds, jsonMistake, recordBounds } from '../schemas/json-bounds.ts';
import { checkObservation } from './check-observation.ts';

/** The final observation is not checked: no policy sees it, and no trajectory has it. */
export function checkTransition(given: unknown, spec: RewardSpec): Violation | undefined {
  const { observation, rewards, outcome, calls, environmentCalls, info } = Object(given);
  const isRunning = outcome?.kind === 'running';
  return (
    checkOutcome(outcome) ??
    checkRewards(rewards, spec, outcome.kind) ??
    checkRecords(calls, environmentCalls, info) ??
    (isRunning ? (checkObservation(observation) ?? checkReply(observation)) : undefined)
  );
}

const truncations = new Set<unknown>(['max_turns', 'max_tokens', 'deadline', 'context']);

function checkOutcome(outcome: unknown): Violation | undefined {
  const { kind, reason, cause } = Object(outcome);
  const isValid =
    kind === 'running' ||
    (kind === 'terminated' && typeof reason === 'string' && reason !== '') ||
    (kind === 'truncated' && truncations.has(reason)) ||
    (kind === 'aborted' && isInfrastructure(cause));
  if (isValid) return undefined;
  const why = reason === undefined ? '' : ` with the reason ${inWords(reason)}`;
  return { rule: 'ENV-17', problem: `the outcome is ${inWords(kind)}${why}` };
}

function checkRewards(rewards: unknown, spec: RewardSpec, end: Outcome['kind']): Violation | undefined {
  if (end === 'aborted') {
    return rewards === undefined ? undefined : { rule: 'ENV-18', problem: 'an aborted step has rewards' };
  }
  if (Object(rewards) !== rewards) return { rule: 'ENV-18', problem: `the rewards are ${inWords(rewards)}` };
  for (const [name, value] of Object.entries(rewards as object)) {
    const wrong = checkReward(spec, name, value);
    if (wrong) return wrong;
    if (end === 'running' && value !== null && spec[name]!.kind === 'outcome') {
      const problem = `outcome reward "${name}" is ${value} before the end: score it once, at the end`;
      return { rule: 'ENV-19', problem };
    }
  }
  return undefined;
}

/** What the step adds to the trajectory. */
function checkRecords(calls: unknown, environmentCalls: unknown, info: unknown): Violation | undefined {
  if (!Array.isArray(calls)) return { rule: 'ENV-26', problem: `the calls are ${inWords(calls)}` };
  if (Object(info) !== info) return { rule: 'ENV-16', problem: `the info is ${inWords(info)}` };
  const wrong =
    jsonMistake(calls, callsBounds) ??
    jsonMistake(environmentCalls, callsBounds) ??
    jsonMistake(info, recordBounds);
  return wrong && { rule: 'ENV-16', problem: `the calls or the info of the step are ${wrong.received}` };
}

/** The observation has been checked already. */
function checkReply({ messages }: { messages: { role: string }[] }): Violation | undefined {
  if (messages.at(-1)!.role !== 'assistant') return undefined;
  return { rule: 'ENV-37', problem: 'nothing replies to the policy, but the episode continues' };
}
