/** Demonstrations of household-v1: look into one receptacle after another, then treat and place what was found. */
import type { Rng, Script } from '@toolenv/core';
import { describeGoal, type Goal } from '../../../packages/envs-classic/src/household/goal.ts';
import { type House, kindOf, treatments } from '../../../packages/envs-classic/src/household/house.ts';
import type { LibraryPlayer } from './player.ts';

interface HouseholdTask {
  goal: Goal;
  house: House;
}

export const household: LibraryPlayer<HouseholdTask> = {
  ref: '@toolenv/envs-classic/household-v1',
  // The whole episode is one row of tokens.
  options: { keptTurns: 30 },
  maxTokens: 24,
  success: 'done',
  goal: ({ goal }) => describeGoal(goal),
  /** A hasty player places objects without cleaning, heating or cooling them. */
  play({ goal, house }, rng, isHasty = false): Script {
    const commands = agent(goal, tourOf(goal, house, rng), () => isHasty && rng.float() < 0.6);
    return ({ messages }) => commands.next(messages.at(-1)!.content).value ?? 'look';
  },
};

/**
 * The receptacles in their order, from a random start. Three tours of four begin at most two visits before the first object: in
 * a long tour nearly every decision is to go on, and a policy did not learn to take the object.
 */
function tourOf({ object, target }: Goal, { receptacles, objects }: House, rng: Rng): string[] {
  const holds = (place: string) =>
    Object.entries(objects).some(([name, at]) => kindOf(name) === object && at === place);
  const places = receptacles.filter((name) => kindOf(name) !== target);
  const first = places.findIndex(holds);
  const before = rng.float() < 0.75 ? rng.int(3) : rng.int(places.length);
  const start = (first - before + places.length) % places.length;
  const goal = receptacles.find((name) => kindOf(name) === target)!;
  return [...places.slice(start), ...places.slice(0, start), goal];
}

/**
 * The turns of an agent that reads each reply. The tour ends where the objects must go. Before each command, the agent writes what is left
 * to do, and the number that stands behind the object's name in the reply: a model copies a word from the last place where it stands.
 */
function* agent({ object, count, treatment, target }: Goal, tour: readonly string[], isHasty: () => boolean) {
  const places = tour.slice(0, -1);
  const goal = tour.at(-1)!;
  const { appliance, state } = treatment ? treatments[treatment] : {};
  let left = count;
  let reply = '';
  /** Goes to a receptacle and opens it if it is closed. */
  function* visit(place: string, plan: string): Generator<string, void, string> {
    reply = yield `${plan}\ngo to ${place}`;
    if (reply.endsWith('It is closed.')) reply = yield `${plan}\nopen ${place}`;
  }
  const untreated = state ? `${state} ${target}` : target;
  for (const place of places) {
    yield* visit(place, `${untreated} ${object} none`);
    for (;;) {
      const found = new RegExp(`\\b${object} \\d+`).exec(reply)?.[0];
      if (!found) break;
      const rest = reply.replace(found, '');
      yield `${untreated} ${found}\ntake ${found} from ${place}`;
      if (treatment && !isHasty()) {
        yield `${untreated} ${found}\ngo to ${appliance} 1`;
        yield `${untreated} ${found}\n${treatment} ${found} with ${appliance} 1`;
      }
      yield* visit(goal, `${target} ${found}`);
      yield `${target} ${found}\nput ${found} in/on ${goal}`;
      left -= 1;
      if (left === 0) return;
      if (!new RegExp(`\\b${object} \\d+`).test(rest)) break;
      yield* visit(place, `${untreated} ${object} none`);
    }
  }
}
