/** readDecision: what a hook has returned, as a decision about the turn. A part that would be overlooked is refused. */
import { didYouMean, unknownPart } from '../protocol/did-you-mean.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import { isPlainObject } from '../protocol/plain-object.ts';
import { describe } from '../protocol/violation.ts';
import type { TurnDecision } from './episode.ts';

/** What a hook may decide about a turn. */
export const decisionParts: readonly string[] = [
  'reply',
  'rewrite',
  'rewards',
  'playerRewards',
  'end',
  'info',
];

/**
 * @param env Names the environment in errors, as `hook` names the hook.
 * @param players The players that the environment declares.
 * @throws ToolEnvError `bug.environment` for anything but a text, a decision of known parts or nothing.
 */
export function readDecision(
  result: unknown,
  env: string,
  hook: 'onToolResults' | 'onAnswer',
  players: ReadonlyMap<string, unknown> = new Map(),
): TurnDecision {
  if (result === undefined || result === null) return {};
  if (typeof result === 'string') return { reply: result };
  const wrong = (problem: string) => new ToolEnvError('bug.environment', `${env}: ${hook} ${problem}.`);
  if (!isPlainObject(result)) {
    const remedy = 'return a text, an object such as { reply, rewards, end }, or nothing';
    throw wrong(`returned ${describe(result)}: ${remedy}`);
  }
  const unknown = unknownPart(result, decisionParts);
  if (unknown) throw new ToolEnvError('bug.environment', `${env}: ${hook} returned ${unknown}`);
  const { reply, rewrite, rewards, playerRewards } = result;
  if (reply !== undefined && typeof reply !== 'string' && !Array.isArray(reply))
    throw wrong(`returned a reply that is ${describe(reply)}: give a text or messages`);
  if (rewrite !== undefined && !Array.isArray(rewrite))
    throw wrong(`returned a rewrite that is ${describe(rewrite)}: give messages`);
  if (rewards !== undefined) checkRewards(rewards, wrong);
  if (playerRewards === undefined) return result;
  if (!isPlainObject(playerRewards))
    throw wrong(
      `returned playerRewards that are ${describe(playerRewards)}: give an object of rewards by player`,
    );
  const stranger = Object.keys(playerRewards).find((name) => !players.has(name));
  if (stranger !== undefined) {
    const problem = `rewards a player "${stranger}", whom the environment does not declare`;
    const hint = didYouMean(stranger, [...players.keys()], 'Players');
    throw new ToolEnvError('bug.environment', `${env}: ${hook} ${problem}. ${hint}`);
  }
  for (const ofPlayer of Object.values(playerRewards)) checkRewards(ofPlayer, wrong);
  return result;
}

function checkRewards(rewards: unknown, wrong: (problem: string) => ToolEnvError): void {
  if (!isPlainObject(rewards))
    throw wrong(`returned rewards that are ${describe(rewards)}: give an object of numbers by name`);
  for (const name of Object.keys(rewards)) {
    if (rewards[name] instanceof Promise)
      throw wrong(`returned a reward "${name}" that is ${describe(rewards[name])}`);
    if (rewards[name] !== undefined) continue;
    throw wrong(
      `returned a reward "${name}" of undefined: give a number, give null for "not scored", or leave it out`,
    );
  }
}
